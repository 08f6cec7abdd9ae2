/**
 * What every start of the service makes sure of: a project `default` that can be used at once, with a key
 * and a signing secret in each mode.
 *
 * The operator may bring the keys and the secret. What is brought is added beside what is there, at the
 * first start or a later one; what is not brought is made where there is none, and told to the caller, to
 * be printed once. Each step looks at what is stored and adds what is missing, so a start that died
 * between two steps is completed by the next one.
 *
 * What an operator took away stays away: a revoked key is not put back in force, and a mode whose keys
 * were all revoked gets no new one. A brought secret that was rotated away does not come back.
 */
import { hashKey } from '#src/domain/api-key.ts';
import { MODES, type Mode } from '#src/domain/partition.ts';
import type { Project } from '#src/ports/control-store.ts';
import { addKey, makeKey } from './keys.ts';
import { addProject } from './projects.ts';
import { ControlRefusal } from './refusal.ts';
import { addSecret, ensureSecret, wasSecret } from './secrets.ts';
import type { SealingWorld } from './world.ts';

export const DEFAULT_PROJECT = 'default';

/** What the operator brings, if anything. Their form is the settings' to check. */
export interface Brought {
  readonly keys: Readonly<Record<Mode, string | null>>;
  /** Serves both modes. */
  readonly signingSecret: string | null;
}

/** Something that was made here and is shown once. */
export interface Made {
  readonly what: 'key' | 'signing secret';
  readonly mode: Mode;
  readonly text: string;
}

export interface BootstrapReport {
  readonly made: readonly Made[];
  /** The modes whose brought key has been revoked, and so opens nothing. */
  readonly revoked: readonly Mode[];
  /** The modes in which the brought secret took the place of another one. */
  readonly superseded: readonly Mode[];
}

export async function bootstrap(world: SealingWorld, brought: Brought): Promise<BootstrapReport> {
  const project = (await world.store.findProject(DEFAULT_PROJECT)) ?? (await addDefault(world));
  const made: Made[] = [];
  const revoked: Mode[] = [];
  const superseded: Mode[] = [];
  for (const mode of MODES) {
    const key = await bootstrapKey(world, project, mode, brought.keys[mode]);
    if (key === 'revoked') revoked.push(mode);
    else if (key !== 'present') made.push({ what: 'key', mode, text: key.text });
  }
  for (const mode of MODES) {
    const secret = await bootstrapSecret(world, project, mode, brought.signingSecret);
    if (secret === 'superseded') superseded.push(mode);
    else if (secret !== 'present') made.push({ what: 'signing secret', mode, text: secret.text });
  }
  await completeProjects(world);
  return { made, revoked, superseded };
}

/** The command line may be adding it at the same moment. */
async function addDefault(world: SealingWorld): Promise<Project> {
  try {
    return await addProject(world, DEFAULT_PROJECT);
  } catch (error) {
    const found = await world.store.findProject(DEFAULT_PROJECT);
    if (found === null) throw error;
    return found;
  }
}

async function bootstrapKey(
  world: SealingWorld,
  project: Project,
  mode: Mode,
  brought: string | null,
): Promise<'present' | 'revoked' | { readonly text: string }> {
  const keys = await world.store.listKeys(project.partitions[mode]);
  if (brought === null) return keys.length > 0 ? 'present' : makeKey(world, project, mode);
  const hash = hashKey(brought);
  const stored = keys.find((key) => key.hash === hash);
  if (stored !== undefined) return stored.revokedAt === null ? 'present' : 'revoked';
  const added = await addKey(world, project, mode, brought);
  if (added === 'taken') throw new ControlRefusal('key_elsewhere', mode);
  return 'present';
}

async function bootstrapSecret(
  world: SealingWorld,
  project: Project,
  mode: Mode,
  brought: string | null,
): Promise<'present' | 'superseded' | { readonly text: string }> {
  if (brought === null) return (await ensureSecret(world, project, mode)) ?? 'present';
  const partition = project.partitions[mode];
  if (await wasSecret(world, partition, brought)) return 'present';
  const signing = await world.store.listSecrets(partition, world.clock.now());
  await addSecret(world, partition, brought);
  return signing.length > 0 ? 'superseded' : 'present';
}

/** Secrets for projects whose creation died halfway. They are not told: `sched secret show` shows them. */
async function completeProjects(world: SealingWorld): Promise<void> {
  for (const project of await world.store.listProjects()) {
    for (const mode of MODES) await ensureSecret(world, project, mode);
  }
}

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
import { MODES, type Mode } from '#src/domain/project.ts';
import type { Project } from '#src/ports/control-store.ts';
import type { SealingDependencies } from './dependencies.ts';
import { addKey, makeKey } from './keys.ts';
import { addProject } from './projects.ts';
import { ControlRefusal } from './refusal.ts';
import { addSecret, ensureSecret, wasSecret } from './secrets.ts';

export const DEFAULT_PROJECT = 'default';

/** What the operator brings, if anything. Their form is the settings' to check. */
export interface ProvidedCredentials {
  readonly keys: Readonly<Record<Mode, string | null>>;
  /** Serves both modes. */
  readonly signingSecret: string | null;
}

/** Something that was made here and is shown once. */
export interface GeneratedCredential {
  readonly kind: 'key' | 'signing secret';
  readonly mode: Mode;
  readonly text: string;
}

export interface BootstrapReport {
  readonly generated: readonly GeneratedCredential[];
  /** The modes whose brought key has been revoked, and so opens nothing. */
  readonly revoked: readonly Mode[];
  /** The modes in which the brought secret took the place of another one. */
  readonly superseded: readonly Mode[];
}

export async function bootstrap(
  dependencies: SealingDependencies,
  brought: ProvidedCredentials,
): Promise<BootstrapReport> {
  const project = (await dependencies.store.findProject(DEFAULT_PROJECT)) ?? (await addDefault(dependencies));
  const made: GeneratedCredential[] = [];
  const revoked: Mode[] = [];
  const superseded: Mode[] = [];
  for (const mode of MODES) {
    const key = await bootstrapKey(dependencies, project, mode, brought.keys[mode]);
    if (key === 'revoked') revoked.push(mode);
    else if (key !== 'present') made.push({ kind: 'key', mode, text: key.text });
  }
  for (const mode of MODES) {
    const secret = await bootstrapSecret(dependencies, project, mode, brought.signingSecret);
    if (secret === 'superseded') superseded.push(mode);
    else if (secret !== 'present') made.push({ kind: 'signing secret', mode, text: secret.text });
  }
  await completeProjects(dependencies);
  return { generated: made, revoked, superseded };
}

/** The command line may be adding it at the same moment. */
async function addDefault(dependencies: SealingDependencies): Promise<Project> {
  try {
    return await addProject(dependencies, DEFAULT_PROJECT);
  } catch (error) {
    const found = await dependencies.store.findProject(DEFAULT_PROJECT);
    if (found === null) throw error;
    return found;
  }
}

async function bootstrapKey(
  dependencies: SealingDependencies,
  project: Project,
  mode: Mode,
  brought: string | null,
): Promise<'present' | 'revoked' | { readonly text: string }> {
  const keys = await dependencies.store.listKeys(project.partitions[mode]);
  if (brought === null) return keys.length > 0 ? 'present' : makeKey(dependencies, project, mode);
  const hash = hashKey(brought);
  const stored = keys.find((key) => key.hash === hash);
  if (stored !== undefined) return stored.revokedAt === null ? 'present' : 'revoked';
  const added = await addKey(dependencies, project, mode, brought);
  if (added === 'taken') throw new ControlRefusal('key_elsewhere', mode);
  return 'present';
}

async function bootstrapSecret(
  dependencies: SealingDependencies,
  project: Project,
  mode: Mode,
  brought: string | null,
): Promise<'present' | 'superseded' | { readonly text: string }> {
  if (brought === null) return (await ensureSecret(dependencies, project, mode)) ?? 'present';
  const partition = project.partitions[mode];
  if (await wasSecret(dependencies, partition, brought)) return 'present';
  const signing = await dependencies.store.listSecrets(partition, dependencies.clock.now());
  await addSecret(dependencies, partition, brought);
  return signing.length > 0 ? 'superseded' : 'present';
}

/** Completes projects whose creation was interrupted. Their secrets are not printed: `sched secret show` shows them. */
async function completeProjects(dependencies: SealingDependencies): Promise<void> {
  for (const project of await dependencies.store.listProjects())
    await addMissingSecrets(dependencies, project);
}

/** Creates a project that can sign in both modes. The next start completes one whose creation was interrupted. */
export async function createProject(dependencies: SealingDependencies, name: string): Promise<Project> {
  const project = await addProject(dependencies, name);
  await addMissingSecrets(dependencies, project);
  return project;
}

async function addMissingSecrets(dependencies: SealingDependencies, project: Project): Promise<void> {
  for (const mode of MODES) await ensureSecret(dependencies, project, mode);
}

/**
 * Sets up projects. Every start makes sure that a project `default` exists and can be used at once, with a key and a
 * signing secret in each mode.
 *
 * The operator may provide the keys and the secret. Provided credentials are added beside the existing ones, at the
 * first start or a later one. Missing credentials are generated and returned to the caller, to be printed once. Each
 * step reads what is stored and adds what is missing, so the next start completes one that was interrupted.
 *
 * Credentials that an operator removed stay removed. A revoked key is not put back in force, and a mode whose keys
 * were all revoked gets no new one. A provided secret that was rotated away does not return.
 */
import { hashKey } from '#src/domain/api-key.ts';
import { DEFAULT_PROJECT, MODES, type Mode } from '#src/domain/project.ts';
import type { Project } from '#src/ports/control-store.ts';
import type { SealingDependencies } from './dependencies.ts';
import { addKey, makeKey } from './keys.ts';
import { addProject } from './projects.ts';
import { ControlRefusal } from './refusal.ts';
import { addNewSecret, addSecret, ensureSecret, requireUsable, wasSecret } from './secrets.ts';

/** Credentials that the operator provides. The settings have checked their form. */
export interface ProvidedCredentials {
  readonly keys: Readonly<Record<Mode, string | null>>;
  /** The secret is used in both modes. */
  readonly signingSecret: string | null;
}

/** A credential that was generated here. It is shown once. */
export interface GeneratedCredential {
  readonly kind: 'key' | 'signing secret';
  readonly mode: Mode;
  readonly text: string;
}

export interface BootstrapReport {
  readonly generated: readonly GeneratedCredential[];
  /** The modes whose provided key has been revoked and is not accepted. */
  readonly revoked: readonly Mode[];
  /** The modes in which the provided secret replaced another one. */
  readonly superseded: readonly Mode[];
}

export async function bootstrap(
  dependencies: SealingDependencies,
  provided: ProvidedCredentials,
): Promise<BootstrapReport> {
  const project = (await dependencies.store.findProject(DEFAULT_PROJECT)) ?? (await addDefault(dependencies));
  const generated: GeneratedCredential[] = [];
  const revoked: Mode[] = [];
  const superseded: Mode[] = [];
  if (provided.signingSecret !== null) await requireUsableIn(dependencies, project, provided.signingSecret);
  for (const mode of MODES) {
    const key = await bootstrapKey(dependencies, project, mode, provided.keys[mode]);
    if (key === 'revoked') revoked.push(mode);
    else if (key !== 'present') generated.push({ kind: 'key', mode, text: key.text });
  }
  for (const mode of MODES) {
    const secret = await bootstrapSecret(dependencies, project, mode, provided.signingSecret);
    if (secret === 'superseded') superseded.push(mode);
    else if (secret !== 'present') generated.push({ kind: 'signing secret', mode, text: secret.text });
  }
  await completeProjects(dependencies);
  return { generated, revoked, superseded };
}

/** Adds the default project, or returns the one that the command line added at the same moment. */
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
  provided: string | null,
): Promise<'present' | 'revoked' | { readonly text: string }> {
  const keys = await dependencies.store.listKeys(project.partitions[mode]);
  if (provided === null) return keys.length > 0 ? 'present' : makeKey(dependencies, project, mode);
  const hash = hashKey(provided);
  const stored = keys.find((key) => key.hash === hash);
  if (stored !== undefined) return stored.revokedAt === null ? 'present' : 'revoked';
  const added = await addKey(dependencies, project, mode, provided);
  if (added === 'taken') throw new ControlRefusal('key_elsewhere', mode);
  return 'present';
}

/** Refuses a new secret for both modes, before it is added to one of them. */
async function requireUsableIn(
  dependencies: SealingDependencies,
  { partitions }: Project,
  secret: string,
): Promise<void> {
  for (const mode of MODES) {
    const isNew = !(await wasSecret(dependencies, partitions[mode], secret));
    if (isNew) await requireUsable(dependencies, partitions[mode], secret);
  }
}

async function bootstrapSecret(
  dependencies: SealingDependencies,
  project: Project,
  mode: Mode,
  provided: string | null,
): Promise<'present' | 'superseded' | { readonly text: string }> {
  if (provided === null) return (await ensureSecret(dependencies, project, mode)) ?? 'present';
  const partition = project.partitions[mode];
  if (await wasSecret(dependencies, partition, provided)) return 'present';
  const signing = await dependencies.store.listSecrets(partition, dependencies.clock.now());
  await addSecret(dependencies, partition, provided);
  return signing.length > 0 ? 'superseded' : 'present';
}

/** Completes projects whose creation was interrupted. Their secrets are not printed: `sched secret show` shows them. */
async function completeProjects(dependencies: SealingDependencies): Promise<void> {
  const partitions = await dependencies.store.listPartitionsWithoutSecret(dependencies.clock.now());
  for (const partition of partitions) await addNewSecret(dependencies, partition);
}

/** Creates a project that can sign in both modes. The next start completes one whose creation was interrupted. */
export async function createProject(dependencies: SealingDependencies, name: string): Promise<Project> {
  const project = await addProject(dependencies, name);
  for (const mode of MODES) await ensureSecret(dependencies, project, mode);
  return project;
}

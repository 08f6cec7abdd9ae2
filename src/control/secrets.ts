/**
 * Signing secrets. Each project and mode has one in force. Rotation adds a new one. Older ones sign beside it for the
 * overlap, so that receivers can change over without refusing a delivery.
 */
import { durationMsCeil } from '#src/domain/duration.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Mode, Partition } from '#src/domain/project.ts';
import { signingSecretContext } from '#src/domain/sealing-contexts.ts';
import { signingSecretText, standardWebhooksKey } from '#src/domain/signing-secret.ts';
import type { Project, SigningSecret } from '#src/ports/control-store.ts';
import type { Random } from '#src/ports/system.ts';
import type { Vault } from '#src/ports/vault.ts';
import type { SealingDependencies } from './dependencies.ts';
import { requireProject } from './projects.ts';
import { ControlRefusal } from './refusal.ts';

const SECRET_BYTES = 32;
export const OVERLAP_DEFAULT = '24h';

export interface OpenSecret {
  readonly id: SigningSecret['id'];
  /** The whole text, `whsec_` included, is the key of `Sched-Signature`. */
  readonly text: string;
  readonly createdAt: Instant;
  readonly expiresAt: Instant | null;
}

export function newSecretText(random: Random): string {
  return signingSecretText(random.bytes(SECRET_BYTES));
}

export function openSecret(vault: Vault, secret: SigningSecret): OpenSecret {
  const text = Buffer.from(
    vault.open(signingSecretContext(secret.partition, secret.id), secret.sealed),
  ).toString('utf8');
  return { id: secret.id, text, createdAt: secret.createdAt, expiresAt: secret.expiresAt };
}

/** Opens the secrets that sign now, newest first. */
export async function openSecrets(
  dependencies: SealingDependencies,
  partition: Partition,
): Promise<readonly OpenSecret[]> {
  const secrets = await dependencies.store.listSecrets(partition, dependencies.clock.now());
  return secrets.map((secret) => openSecret(dependencies.vault, secret));
}

/** Returns true if this text is or was a secret here. */
export async function wasSecret(
  dependencies: SealingDependencies,
  partition: Partition,
  text: string,
): Promise<boolean> {
  const secrets = await dependencies.store.listSecrets(partition, instant(0));
  return secrets.some((secret) => openSecret(dependencies.vault, secret).text === text);
}

/** Makes a new secret the one in force. */
export function addNewSecret(
  dependencies: SealingDependencies,
  partition: Partition,
  overlap: string = OVERLAP_DEFAULT,
): Promise<OpenSecret> {
  return addSecret(dependencies, partition, newSecretText(dependencies.random), overlap);
}

/** Refuses a secret that cannot sign for Standard Webhooks, while an endpoint profile uses them. */
export async function requireUsable(
  { store }: SealingDependencies,
  partition: Partition,
  text: string,
): Promise<void> {
  if (standardWebhooksKey(text) !== null) return;
  const id = await store.findStandardProfile(partition);
  if (id !== null) throw new ControlRefusal('secret_not_standard', id);
}

/** Makes `text` the secret in force. Older secrets stop signing after the overlap, which is a duration. */
export async function addSecret(
  dependencies: SealingDependencies,
  partition: Partition,
  text: string,
  overlap: string = OVERLAP_DEFAULT,
): Promise<OpenSecret> {
  const now = dependencies.clock.now();
  const overlapEnd = afterOverlap(overlap, now);
  await requireUsable(dependencies, partition, text);
  const id = dependencies.ids.mint('sec', now);
  const sealed = dependencies.vault.seal(signingSecretContext(partition, id), Buffer.from(text, 'utf8'));
  const secret = { id, partition, sealed, createdAt: now, expiresAt: null };
  await dependencies.store.addSecret(secret, overlapEnd);
  return { id, text, createdAt: now, expiresAt: null };
}

/** Returns the end of an overlap that begins now. */
export function afterOverlap(overlap: string, now: Instant): Instant {
  const overlapMs = durationMsCeil(overlap);
  if (overlapMs === null || overlap.startsWith('-')) throw new ControlRefusal('invalid_overlap', overlap);
  return instant(now + overlapMs);
}

/** Adds a first secret to this project and mode. Returns null if there is one already. */
export async function ensureSecret(
  dependencies: SealingDependencies,
  project: Project,
  mode: Mode,
): Promise<OpenSecret | null> {
  const partition = project.partitions[mode];
  const present = await dependencies.store.listSecrets(partition, dependencies.clock.now());
  return present.length > 0 ? null : addNewSecret(dependencies, partition);
}

export async function showSecrets(
  dependencies: SealingDependencies,
  projectName: string,
  mode: Mode,
): Promise<readonly OpenSecret[]> {
  const project = await requireProject(dependencies.store, projectName);
  return openSecrets(dependencies, project.partitions[mode]);
}

/** Returns every secret that signs from now on, newest first. With an overlap of 0, only the new one signs. */
export async function rotateSecret(
  dependencies: SealingDependencies,
  projectName: string,
  mode: Mode,
  overlap: string = OVERLAP_DEFAULT,
): Promise<readonly OpenSecret[]> {
  const partition = (await requireProject(dependencies.store, projectName)).partitions[mode];
  await addNewSecret(dependencies, partition, overlap);
  return openSecrets(dependencies, partition);
}

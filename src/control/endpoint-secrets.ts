/**
 * Signing secrets of an endpoint profile. With its own secret, a receiver cannot forge requests to another receiver.
 * `domain/endpoint-secrets.ts` decides which of them sign, and whether the project's secrets sign beside them.
 */
import {
  creation,
  removal,
  rotation,
  type SecretsChange,
  type SecretsRefusal,
  signersAt,
} from '#src/domain/endpoint-secrets.ts';
import { type EndpointId, parseId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { MODES, type Mode, type Partition } from '#src/domain/project.ts';
import { endpointSecretContext } from '#src/domain/sealing-contexts.ts';
import { standardWebhooksKey } from '#src/domain/signing-secret.ts';
import type { EndpointSecret } from '#src/ports/control-store.ts';
import type { Vault } from '#src/ports/vault.ts';
import type { SealingDependencies } from './dependencies.ts';
import { requireProject } from './projects.ts';
import { type ControlCode, ControlRefusal } from './refusal.ts';
import { afterOverlap, newSecretText, type OpenSecret, OVERLAP_DEFAULT, openSecrets } from './secrets.ts';

/** A change is decided again at most this often after a conflicting write. */
const CONFLICTS_MAX = 5;

export interface OpenEndpointSecret extends OpenSecret {
  readonly aloneFrom: Instant | null;
}

/** Identifies an endpoint profile that exists. */
export interface EndpointProfileRef {
  readonly partition: Partition;
  readonly endpointId: EndpointId;
}

type Decision = (
  own: readonly EndpointSecret[],
  end: Instant,
  now: Instant,
) => SecretsChange<EndpointSecret> | SecretsRefusal;

const REFUSALS: Readonly<Record<SecretsRefusal, ControlCode>> = {
  in_force: 'endpoint_secret_exists',
  none_in_force: 'no_endpoint_secret',
  too_many: 'too_many_secrets',
};

/** Finds the endpoint profile by its id, archived or not. */
export async function requireEndpoint(
  dependencies: SealingDependencies,
  partition: Partition,
  id: string,
): Promise<EndpointProfileRef> {
  const endpointId = parseId('ep', id);
  const profile = endpointId === null ? null : await dependencies.store.findProfile(partition, endpointId);
  if (profile === null) throw new ControlRefusal('unknown_endpoint', id);
  return { partition, endpointId: profile.id };
}

/** Finds the endpoint profile by the name of its project and its id. */
export async function requireEndpointOf(
  dependencies: SealingDependencies,
  projectName: string,
  mode: Mode,
  id: string,
): Promise<EndpointProfileRef> {
  const project = await requireProject(dependencies.store, projectName);
  return requireEndpoint(dependencies, project.partitions[mode], id);
}

/** Returns the mode in which the project has this endpoint profile, or null if it has none with that id. */
export async function findEndpointMode(
  { store }: SealingDependencies,
  projectName: string,
  id: string,
): Promise<Mode | null> {
  const { partitions } = await requireProject(store, projectName);
  const endpointId = parseId('ep', id);
  if (endpointId === null) return null;
  for (const mode of MODES) {
    if ((await store.findProfile(partitions[mode], endpointId)) !== null) return mode;
  }
  return null;
}

/** Lists the secrets that sign now, newest first. */
export function listEndpointSecrets(
  { store, clock }: SealingDependencies,
  { partition, endpointId }: EndpointProfileRef,
): Promise<readonly EndpointSecret[]> {
  return store.listEndpointSecrets(partition, endpointId, clock.now());
}

/** Lists the secrets that sign now, with their texts. */
export async function showEndpointSecrets(
  dependencies: SealingDependencies,
  profile: EndpointProfileRef,
): Promise<readonly OpenEndpointSecret[]> {
  const secrets = await listEndpointSecrets(dependencies, profile);
  return secrets.map((secret) => openEndpointSecret(dependencies.vault, secret));
}

/** Opens the secrets that sign a delivery to this endpoint profile. A null id stands for an inline destination. */
export async function signingSecrets(
  dependencies: SealingDependencies,
  partition: Partition,
  endpointId: EndpointId | null,
): Promise<readonly OpenSecret[]> {
  const ofProject = await openSecrets(dependencies, partition);
  const own = endpointId === null ? [] : await showEndpointSecrets(dependencies, { partition, endpointId });
  return signersAt(ofProject, own, dependencies.clock.now());
}

export function openEndpointSecret(vault: Vault, secret: EndpointSecret): OpenEndpointSecret {
  const { id, partition, endpointId, createdAt, expiresAt, aloneFrom } = secret;
  const text = Buffer.from(vault.open(endpointSecretContext(partition, endpointId, id), secret.sealed));
  return { id, text: text.toString('utf8'), createdAt, expiresAt, aloneFrom };
}

/** Refuses to let the project's secrets sign again for a profile whose signatures they cannot make. */
async function requireStandardProject(
  dependencies: SealingDependencies,
  { partition, endpointId }: EndpointProfileRef,
): Promise<void> {
  const profile = await dependencies.store.findProfile(partition, endpointId);
  if (profile === null || profile.archived || !profile.standardWebhooks) return;
  const secrets = await openSecrets(dependencies, partition);
  if (secrets.every(({ text }) => standardWebhooksKey(text) !== null)) return;
  throw new ControlRefusal('project_secret_not_standard', endpointId);
}

/**
 * Makes a change of the secrets of an endpoint profile. It returns every secret that signs. `check` throws to refuse the
 * change.
 */
function changing(decide: Decision, check: typeof requireStandardProject = async () => {}) {
  return async (
    dependencies: SealingDependencies,
    profile: EndpointProfileRef,
    overlap: string = OVERLAP_DEFAULT,
  ): Promise<readonly OpenEndpointSecret[]> => {
    for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
      const now = dependencies.clock.now();
      const end = afterOverlap(overlap, now);
      const before = await dependencies.store.listEndpointSecrets(profile.partition, profile.endpointId, now);
      const decided = decide(before, end, now);
      if (typeof decided === 'string') throw new ControlRefusal(REFUSALS[decided], profile.endpointId);
      await check(dependencies, profile);
      const { ended } = decided;
      const added = decided.added && newSecret(dependencies, profile, now, decided.added.aloneFrom);
      const answer = await dependencies.store.changeEndpointSecrets({ ...profile, before, ended, added });
      if (answer === 'done') return showEndpointSecrets(dependencies, profile);
      if (answer === 'missing') throw new ControlRefusal('unknown_endpoint', profile.endpointId);
    }
    throw new ControlRefusal('changed_meanwhile', profile.endpointId);
  };
}

/** The project's secrets sign beside the new one for the overlap. */
export const createEndpointSecret = changing(creation);

/** Older secrets sign beside the new one for the overlap. */
export const rotateEndpointSecret = changing(rotation);

/** The project's secrets sign at once. Those of the endpoint profile sign beside them for the overlap. */
export const removeEndpointSecrets = changing(removal, requireStandardProject);

function newSecret(
  dependencies: SealingDependencies,
  { partition, endpointId }: EndpointProfileRef,
  now: Instant,
  aloneFrom: Instant | null,
): EndpointSecret {
  const id = dependencies.ids.mint('sec', now);
  const text = Buffer.from(newSecretText(dependencies.random), 'utf8');
  const sealed = dependencies.vault.seal(endpointSecretContext(partition, endpointId, id), text);
  return { id, partition, endpointId, sealed, createdAt: now, expiresAt: null, aloneFrom };
}

/**
 * Decrypts the secrets that sign for a delivery. They are kept for a second, so a rotation takes effect within a second.
 * The profile's secrets sign first, and the project's beside them until the profile's sign alone
 * (`domain/endpoint-secrets.ts`).
 *
 * The project's secrets are read by partition. The secrets of an endpoint profile are read by profile, and only if any
 * profile of the partition has one. A project without such secrets pays one small read a second.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Target } from '#src/domain/delivery.ts';
import { type EndpointSecretTerm, type SecretTerm, signersAt } from '#src/domain/endpoint-secrets.ts';
import type { EndpointId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { endpointSecretContext, signingSecretContext } from '#src/domain/sealing-contexts.ts';
import { standardWebhooksKey } from '#src/domain/signing-secret.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { ShortLivedCache } from './short-lived-cache.ts';

const PARTITIONS_MAX = 1_000;
const PROFILES_MAX = 4_000;

interface OpenKey {
  readonly key: KeyObject;
  /** The key for Standard Webhooks; null where the secret has another form. */
  readonly standardKey: KeyObject | null;
}

type ProjectKey = SecretTerm & OpenKey;

interface ProjectKeys {
  readonly all: readonly ProjectKey[];
  /** The keys that sign a delivery without a profile; null where one of them ends. */
  readonly lasting: Keys | null;
}

type ProfileKey = EndpointSecretTerm & OpenKey;

/** The profile's keys come first, and newer ones before older ones of the same kind. */
export interface Keys {
  readonly all: readonly KeyObject[];
  /** The keys for Standard Webhooks. A secret of another form has none. */
  readonly standard: readonly KeyObject[];
}

/** The part of a delivery on which its signing secrets depend. */
export interface Signed {
  readonly partition: Partition;
  readonly target: Pick<Target, 'endpointId'>;
}

type Dependencies = Pick<EngineDependencies, 'store' | 'vault' | 'clock'>;

const NO_KEYS: readonly ProfileKey[] = [];

export class SigningKeys {
  readonly #dependencies: Dependencies;
  readonly #projects = new ShortLivedCache<Partition, ProjectKeys>(PARTITIONS_MAX);
  /** True where any profile of the partition has its own secret. */
  readonly #anyProfile = new ShortLivedCache<Partition, boolean>(PARTITIONS_MAX);
  readonly #profiles = new ShortLivedCache<string, readonly ProfileKey[]>(PROFILES_MAX);

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  async of({ partition, target }: Signed): Promise<Keys> {
    const now = this.#dependencies.clock.now();
    const [projects, own] = await Promise.all([
      this.#projects.get(partition, now, () => this.#openProjects(partition, now)),
      this.#ownOf(partition, target.endpointId, now),
    ]);
    return keysAt(projects, own, now);
  }

  /** Null where the keys have to be read first. */
  fresh({ partition, target }: Signed): Keys | null {
    const now = this.#dependencies.clock.now();
    const projects = this.#projects.peek(partition, now);
    const own = this.#freshOwn(partition, target.endpointId, now);
    return projects === null || own === null ? null : keysAt(projects.value, own, now);
  }

  #freshOwn(partition: Partition, endpointId: EndpointId | null, now: Instant): readonly ProfileKey[] | null {
    if (endpointId === null) return NO_KEYS;
    const any = this.#anyProfile.peek(partition, now);
    if (any === null) return null;
    return any.value ? (this.#profiles.peek(keyOf(partition, endpointId), now)?.value ?? null) : NO_KEYS;
  }

  async #ownOf(
    partition: Partition,
    endpointId: EndpointId | null,
    now: Instant,
  ): Promise<readonly ProfileKey[]> {
    if (endpointId === null) return NO_KEYS;
    const any = await this.#anyProfile.get(partition, now, () =>
      this.#dependencies.store.hasEndpointSecrets(partition, now),
    );
    if (!any) return NO_KEYS;
    return this.#profiles.get(keyOf(partition, endpointId), now, () =>
      this.#openOwn(partition, endpointId, now),
    );
  }

  async #openProjects(partition: Partition, now: Instant): Promise<ProjectKeys> {
    const { store, vault } = this.#dependencies;
    const secrets = await store.listSecrets(partition, now);
    const all = secrets.map(({ id, sealed, expiresAt }) => ({
      ...openKey(vault.open(signingSecretContext(partition, id), sealed)),
      expiresAt,
    }));
    const isLasting = all.every(({ expiresAt }) => expiresAt === null);
    return { all, lasting: isLasting ? keysOf(all) : null };
  }

  async #openOwn(partition: Partition, endpointId: EndpointId, now: Instant): Promise<readonly ProfileKey[]> {
    const { store, vault } = this.#dependencies;
    const secrets = await store.listEndpointSecrets(partition, endpointId, now);
    return secrets.map(({ id, sealed, expiresAt, aloneFrom }) => ({
      ...openKey(vault.open(endpointSecretContext(partition, endpointId, id), sealed)),
      expiresAt,
      aloneFrom,
    }));
  }
}

function keyOf(partition: Partition, endpointId: EndpointId): string {
  return `${partition} ${endpointId}`;
}

function keysAt({ all, lasting }: ProjectKeys, own: readonly ProfileKey[], now: Instant): Keys {
  if (own.length === 0 && lasting !== null) return lasting;
  return keysOf(signersAt(all, own, now));
}

function openKey(secret: Uint8Array): OpenKey {
  const standard = standardWebhooksKey(Buffer.from(secret).toString('utf8'));
  return { key: createSecretKey(secret), standardKey: standard && createSecretKey(standard) };
}

function keysOf(signers: readonly OpenKey[]): Keys {
  return {
    all: signers.map(({ key }) => key),
    standard: signers.flatMap(({ standardKey }) => standardKey ?? []),
  };
}

/** Stores projects, their API keys and their signing secrets. */
import type { EndpointId, KeyId, ProjectId, SecretId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Mode, Partition } from '#src/domain/project.ts';

export interface Project {
  readonly id: ProjectId;
  readonly name: string;
  /** The version for requests without a `Sched-Version` header. */
  readonly pinnedVersion: string;
  readonly partitions: Readonly<Record<Mode, Partition>>;
  readonly createdAt: Instant;
}

export interface ApiKey {
  readonly id: KeyId;
  readonly partition: Partition;
  readonly mode: Mode;
  /** SHA-256 of the whole key, in hex. The key itself is never stored. */
  readonly hash: string;
  /** The last characters of the key, by which people recognise it. */
  readonly hint: string;
  readonly createdAt: Instant;
  readonly revokedAt: Instant | null;
  /** It may be about a minute late; null: the key was never used. */
  readonly lastUsedAt: Instant | null;
}

export interface KeyUse {
  readonly hash: string;
  readonly at: Instant;
}

/** The project and mode of a key. */
export interface Tenant {
  readonly projectId: ProjectId;
  readonly partition: Partition;
  readonly mode: Mode;
  readonly keyHash: string;
  readonly pinnedVersion: string;
}

export interface SigningSecret {
  readonly id: SecretId;
  readonly partition: Partition;
  readonly sealed: Uint8Array;
  readonly createdAt: Instant;
  /** The end of the secret; null for the current one. */
  readonly expiresAt: Instant | null;
}

/** A signing secret of one endpoint profile, beside those of its project (`domain/endpoint-secrets.ts`). */
export interface EndpointSecret extends SigningSecret {
  readonly endpointId: EndpointId;
  /** The project's secrets stop signing beside it at this instant; null if they never stop. */
  readonly aloneFrom: Instant | null;
}

/** A change of a profile's secrets, which was decided on the secrets that were read. */
export interface EndpointSecretsChange {
  readonly partition: Partition;
  readonly endpointId: EndpointId;
  /** The live secrets on which the change was decided. */
  readonly before: readonly EndpointSecret[];
  /** The changed secrets with their new ends. */
  readonly ended: readonly EndpointSecret[];
  readonly added: EndpointSecret | null;
}

export interface ControlStore {
  /** Adds a project and numbers its partitions. `taken`: a project with that name exists. */
  addProject(project: Omit<Project, 'partitions'>): Promise<Project | 'taken'>;
  findProject(name: string): Promise<Project | null>;
  listProjects(): Promise<readonly Project[]>;

  /** `taken`: the same key exists. */
  addKey(key: ApiKey): Promise<'done' | 'taken'>;
  listKeys(partition: Partition): Promise<readonly ApiKey[]>;
  /** Returns false when no live key has this id. */
  revokeKey(id: KeyId, now: Instant): Promise<boolean>;
  /** Records the last use of keys. An earlier time than the recorded one is ignored. */
  touchKeys(uses: readonly KeyUse[]): Promise<void>;
  /** Finds the tenant of a key that is not revoked. */
  findTenant(keyHash: string): Promise<Tenant | null>;
  findMode(partition: Partition): Promise<Mode | null>;

  /** Lists the secrets that sign at `now`, newest first. */
  listSecrets(partition: Partition, now: Instant): Promise<readonly SigningSecret[]>;
  /** Lists one of the secrets that sign at `now` for each master key that sealed them. */
  listSecretOfEachMasterKey(now: Instant): Promise<readonly SigningSecret[]>;
  /** Lists the partitions without a secret that signs at `now`. */
  listPartitionsWithoutSecret(now: Instant): Promise<readonly Partition[]>;
  /** Adds a secret. Secrets without an end now end at `othersExpireAt`. */
  addSecret(secret: SigningSecret, othersExpireAt: Instant): Promise<void>;

  /** Finds an endpoint profile of the partition that is not archived and uses Standard Webhooks. */
  findStandardProfile(partition: Partition): Promise<EndpointId | null>;
  /** Returns true when an endpoint profile of the partition has a secret that signs at `now`. */
  hasEndpointSecrets(partition: Partition, now: Instant): Promise<boolean>;
  /** Lists the profile's secrets that sign at `now`, newest first. */
  listEndpointSecrets(
    partition: Partition,
    endpointId: EndpointId,
    now: Instant,
  ): Promise<readonly EndpointSecret[]>;
  /** `stale`: the secrets were changed since they were read. `missing`: there is no such profile. */
  changeEndpointSecrets(change: EndpointSecretsChange): Promise<'done' | 'stale' | 'missing'>;
}

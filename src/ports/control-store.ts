/** What the control plane keeps: projects, their API keys and their signing secrets. */
import type { EndpointId, KeyId, ProjectId, SecretId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Mode, Partition } from '#src/domain/project.ts';

export interface Project {
  readonly id: ProjectId;
  readonly name: string;
  /** The version requests without a `Sched-Version` header are served by. */
  readonly pinnedVersion: string;
  readonly partitions: Readonly<Record<Mode, Partition>>;
  readonly createdAt: Instant;
}

export interface ApiKey {
  readonly id: KeyId;
  readonly partition: Partition;
  readonly mode: Mode;
  /** SHA-256 of the whole key, in hex. The key itself is stored nowhere. */
  readonly hash: string;
  /** The last characters of the key, to tell keys apart. */
  readonly hint: string;
  readonly createdAt: Instant;
  readonly revokedAt: Instant | null;
  /** Up to a minute or so behind; null: never. */
  readonly lastUsedAt: Instant | null;
}

export interface KeyUse {
  readonly hash: string;
  readonly at: Instant;
}

/** Who a key speaks for. */
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
  /** When it stops signing; null for the current one. */
  readonly expiresAt: Instant | null;
}

/** A signing secret of one endpoint profile, beside those of its project (`domain/endpoint-secrets.ts`). */
export interface EndpointSecret extends SigningSecret {
  readonly endpointId: EndpointId;
  /** From then on the project's secrets do not sign beside it; null: they always do. */
  readonly aloneFrom: Instant | null;
}

/** A change of a profile's secrets, decided on those that were read. */
export interface EndpointSecretsChange {
  readonly partition: Partition;
  readonly endpointId: EndpointId;
  /** The live secrets that the decision was made on. */
  readonly before: readonly EndpointSecret[];
  /** The changed secrets, with their new ends. */
  readonly ended: readonly EndpointSecret[];
  readonly added: EndpointSecret | null;
}

export interface ControlStore {
  /** `taken`: a project of that name exists. The store numbers the partitions. */
  addProject(project: Omit<Project, 'partitions'>): Promise<Project | 'taken'>;
  findProject(name: string): Promise<Project | null>;
  listProjects(): Promise<readonly Project[]>;

  /** `taken`: the same key exists already. */
  addKey(key: ApiKey): Promise<'done' | 'taken'>;
  listKeys(partition: Partition): Promise<readonly ApiKey[]>;
  /** False when no live key has this id. */
  revokeKey(id: KeyId, now: Instant): Promise<boolean>;
  /** Notes when keys were used last; never earlier than is known. */
  touchKeys(uses: readonly KeyUse[]): Promise<void>;
  /** The tenant of a key that is not revoked. */
  findTenant(keyHash: string): Promise<Tenant | null>;

  /** Newest first, those that still sign at `now`. */
  listSecrets(partition: Partition, now: Instant): Promise<readonly SigningSecret[]>;
  /** Adds a secret; those that still signed without an end stop at `othersExpireAt`. */
  addSecret(secret: SigningSecret, othersExpireAt: Instant): Promise<void>;

  /** Whether any endpoint profile of the partition has a secret of its own that still signs at `now`. */
  hasEndpointSecrets(partition: Partition, now: Instant): Promise<boolean>;
  /** Lists the profile's secrets that still sign at `now`, newest first. */
  listEndpointSecrets(
    partition: Partition,
    endpointId: EndpointId,
    now: Instant,
  ): Promise<readonly EndpointSecret[]>;
  /** `stale`: somebody else changed them since they were read. `missing`: there is no such profile. */
  changeEndpointSecrets(change: EndpointSecretsChange): Promise<'done' | 'stale' | 'missing'>;
}

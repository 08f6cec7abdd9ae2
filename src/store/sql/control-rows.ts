/** Rows of the control plane's tables, and their conversion to domain objects. */
import type { EndpointId, KeyId, ProjectId, SecretId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Mode, Partition } from '#src/domain/project.ts';
import type { ApiKey, EndpointSecret, Project, SigningSecret } from '#src/ports/control-store.ts';

export interface ProjectRow {
  readonly id: ProjectId;
  readonly name: string;
  readonly pinned_version: string;
  readonly created_at: Instant;
  readonly test: Partition;
  readonly live: Partition;
}

export function toProject(row: ProjectRow): Project {
  return {
    id: row.id,
    name: row.name,
    pinnedVersion: row.pinned_version,
    partitions: { test: row.test, live: row.live },
    createdAt: row.created_at,
  };
}

export interface KeyRow {
  readonly id: KeyId;
  readonly partition: Partition;
  readonly mode: Mode;
  readonly hash: string;
  readonly hint: string;
  readonly created_at: Instant;
  readonly revoked_at: Instant | null;
  readonly last_used_at: Instant | null;
}

export interface SecretRow {
  readonly id: SecretId;
  readonly partition: Partition;
  readonly sealed: Uint8Array;
  readonly created_at: Instant;
  readonly expires_at: Instant | null;
}

export interface EndpointSecretRow extends SecretRow {
  readonly endpoint_id: EndpointId;
  readonly alone_from: Instant | null;
}

export function toKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    partition: row.partition,
    mode: row.mode,
    hash: row.hash,
    hint: row.hint,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}

export function toSecret(row: SecretRow): SigningSecret {
  return {
    id: row.id,
    partition: row.partition,
    sealed: row.sealed,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

export function toEndpointSecret(row: EndpointSecretRow): EndpointSecret {
  return { ...toSecret(row), endpointId: row.endpoint_id, aloneFrom: row.alone_from };
}

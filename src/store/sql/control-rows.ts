/** The tables of projects, API keys and signing secrets, and the table of leases. */
import type { Partition } from '#src/domain/project.ts';
import type { NodeLease } from '#src/ports/cluster-store.ts';
import type { ApiKey, EndpointSecret, Project, SigningSecret } from '#src/ports/control-store.ts';
import { column, flag, mapping, plain, type Row } from './mapping.ts';

export const PROJECT = mapping<Omit<Project, 'partitions'>>({
  id: plain,
  name: plain,
  pinnedVersion: plain,
  createdAt: plain,
});

export const JOINED_PROJECT = PROJECT.joined('p');

/** The partitions of a project are joined to it as `test` and `live`. */
export function toProject(row: Row): Project {
  return {
    ...JOINED_PROJECT.from(row),
    partitions: { test: row.test as Partition, live: row.live as Partition },
  };
}

/** The mode of a key is that of its partition. */
export const KEY = mapping<Omit<ApiKey, 'mode'>>({
  id: plain,
  partition: plain,
  hash: plain,
  hint: plain,
  createdAt: plain,
  revokedAt: plain,
  lastUsedAt: plain,
});

export const JOINED_KEY = KEY.joined('k');

export function toKey(row: Row): ApiKey {
  return { ...JOINED_KEY.from(row), mode: row.mode as ApiKey['mode'] };
}

export const SECRET = mapping<SigningSecret>({
  id: plain,
  partition: plain,
  sealed: plain,
  createdAt: plain,
  expiresAt: plain,
});

export const ENDPOINT_SECRET = mapping<EndpointSecret>({
  partition: plain,
  endpointId: plain,
  id: plain,
  sealed: plain,
  createdAt: plain,
  expiresAt: plain,
  aloneFrom: plain,
});

export const LEASE = mapping<NodeLease>({
  node: plain,
  leaseUntil: plain,
  isStopping: flag,
  version: column('program_version', plain),
});

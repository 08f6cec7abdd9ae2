/** Projects, API keys and signing secrets. */
import type { ControlStore, EndpointSecretsChange, KeyUse } from '#src/ports/control-store.ts';
import type { Dialect } from './dialect.ts';
import { controlReads } from './reads.ts';
import type { Step } from './steps.ts';

export function control({ readers, writers: { api } }: Pick<Dialect, 'readers' | 'writers'>): ControlStore {
  const reads = controlReads(readers.api);
  return {
    ...reads,
    addProject: async ({ id, name, pinnedVersion, createdAt }) => {
      const answer = await api.run<'taken'>([
        ['insertProject', 'taken', id, name, pinnedVersion, createdAt],
        ['insertPartition', null, id, 'test'],
        ['insertPartition', null, id, 'live'],
      ]);
      return answer === 'taken' ? 'taken' : ((await reads.findProject(name)) ?? 'taken');
    },
    addKey: ({ id, partition, hash, hint, createdAt, revokedAt }) =>
      api.run([['insertKey', 'taken', id, partition, hash, hint, createdAt, revokedAt]]),
    revokeKey: async (id, now) => (await api.run([['revokeKey', 'missing', now, id]])) === 'done',
    touchKeys: async (uses) => {
      await api.run(uses.toSorted(byHash).map(({ hash, at }) => ['touchKey', null, at, hash, at]));
    },
    addSecret: async ({ id, partition, sealed, createdAt, expiresAt }, othersExpireAt) => {
      await api.run([
        ['retireSecrets', null, othersExpireAt, partition],
        ['insertSecret', null, id, partition, sealed, createdAt, expiresAt],
      ]);
    },
    // The profile is locked first. Of two changes at a time, the second sees the result of the first.
    changeEndpointSecrets: (change) =>
      api.run([
        ['lockProfile', 'missing', change.partition, change.endpointId],
        ...guardEndpointSecrets(change),
        ...endEndpointSecrets(change),
        ...insertEndpointSecret(change),
      ]),
  };
}

/** Nodes that save the same uses lock the keys in the same order. */
function byHash({ hash: one }: KeyUse, { hash: other }: KeyUse): number {
  return one < other ? -1 : Number(one > other);
}

/** Every change ends the secret in force, and checks that it is unchanged. If none was read, none may exist. */
function guardEndpointSecrets({ partition, endpointId, before }: EndpointSecretsChange): readonly Step[] {
  const hasInForce = before.some(({ expiresAt }) => expiresAt === null);
  return hasInForce ? [] : [['noEndpointSecretInForce', 'stale', partition, endpointId]];
}

/** A secret without an end is compared as this. */
const NO_END = -1;

/** Ends each secret only if it is still the one that was read. */
function endEndpointSecrets({ before, ended }: EndpointSecretsChange): readonly Step[] {
  const ends = new Map(before.map(({ id, expiresAt }) => [id, expiresAt]));
  return ended.map(({ id, partition, endpointId, expiresAt, aloneFrom }): Step => {
    const was = ends.get(id) ?? NO_END;
    return ['endEndpointSecret', 'stale', expiresAt, aloneFrom, partition, endpointId, id, was];
  });
}

function insertEndpointSecret({ added }: EndpointSecretsChange): readonly Step[] {
  if (added === null) return [];
  const { partition, endpointId, id, sealed, createdAt, expiresAt, aloneFrom } = added;
  const values = [partition, endpointId, id, sealed, createdAt, expiresAt, aloneFrom];
  return [['insertEndpointSecret', null, ...values]];
}

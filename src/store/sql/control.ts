/** Projects, API keys and signing secrets. */
import type { ControlStore, EndpointSecretsChange, KeyUse } from '#src/ports/control-store.ts';
import { ENDPOINT_SECRET, KEY, PROJECT, SECRET } from './control-rows.ts';
import type { Dialect } from './dialect.ts';
import { controlReads } from './reads.ts';
import type { Step } from './steps.ts';

export function control({
  readers,
  writers: { api, maintenance },
}: Pick<Dialect, 'readers' | 'writers'>): ControlStore {
  const reads = controlReads(readers.api);
  return {
    ...reads,
    addProject: async (project) => {
      const answer = await api.run<'taken'>([
        ['insertProject', 'taken', ...PROJECT.values(project)],
        ['insertPartition', null, project.id, 'test'],
        ['insertPartition', null, project.id, 'live'],
      ]);
      return answer === 'taken' ? 'taken' : ((await reads.findProject(project.name)) ?? 'taken');
    },
    addKey: (key) => api.run([['insertKey', 'taken', ...KEY.values(key)]]),
    revokeKey: async (id, now) => (await api.run([['revokeKey', 'missing', now, id]])) === 'done',
    // Nobody waits for hundreds of uses, so API writes must not either.
    touchKeys: async (uses) => {
      await maintenance.run(uses.toSorted(byHash).map(({ hash, at }) => ['touchKey', null, at, hash, at]));
    },
    addSecret: async (secret, othersExpireAt) => {
      await api.run([
        ['retireSecrets', null, othersExpireAt, secret.partition],
        ['insertSecret', null, ...SECRET.values(secret)],
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
  return added === null ? [] : [['insertEndpointSecret', null, ...ENDPOINT_SECRET.values(added)]];
}

/**
 * BullMQ: delayed jobs and job schedulers. Its worker waits for the next one in a call to Redis that ends after
 * so long; when that is over Redis notices at its next tick, of which there are ten a second unless `hz` says
 * otherwise. So there are three: on Redis as it comes, with as many ticks as Redis advises at most, and on one
 * that keeps every job.
 */
import type { Contender, ContenderId } from '../contender.ts';
import { CONNECTIONS_MAX } from '../post.ts';
import { peer, peerVersion } from './peer.ts';
import { type RedisOptions, startRedis } from './redis.ts';

export type RedisSetting = 'default' | 'hz 100' | 'fsync always';

interface Variant extends RedisOptions {
  readonly id: ContenderId;
  readonly name: string;
}

const VARIANTS: Readonly<Record<RedisSetting, Variant>> = {
  default: { id: 'bullmq', name: 'BullMQ', isKept: false, hz: 10 },
  'hz 100': { id: 'bullmq-hz', name: 'BullMQ, Redis hz 100', isKept: false, hz: 100 },
  'fsync always': { id: 'bullmq-fsync', name: 'BullMQ, fsync always', isKept: true, hz: 10 },
};

export function bullmq(setting: RedisSetting): Contender {
  const { id, name, isKept, hz } = VARIANTS[setting];
  return peer({
    id,
    name,
    version: peerVersion('bullmq'),
    settings: `delayed jobs, one worker with concurrency ${CONNECTIONS_MAX}, done jobs removed; Redis on a unix socket, hz ${hz}`,
    durability: isKept ? 'on disk (fsync) before the answer' : 'in memory only: lost with Redis',
    can: ['jobs', 'creates', 'recurring'],
    file: 'bullmq-process.ts',
    prepare: async () => {
      const redis = await startRedis({ isKept, hz });
      return { args: [redis.socket], [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose]() };
    },
  });
}

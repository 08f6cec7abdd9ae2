/**
 * BullMQ with delayed jobs and job schedulers. Its worker waits for the next job in a blocking call to Redis. Redis
 * notices the end of that call at its next tick, and there are `hz` ticks a second. There are three contenders: Redis
 * with default settings (10 ticks), with the most ticks that Redis advises, and with every job on disk.
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
      return {
        args: [redis.socket],
        databaseCpuMs: redis.cpuMs,
        [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
      };
    },
  });
}

/** Graphile Worker, one process: plain, and with what it calls batching. */
import type { Contender } from '../contender.ts';
import { CONNECTIONS_MAX } from '../post.ts';
import { versionOf } from '../versions.ts';
import { databaseGround, peer } from './peer.ts';

/** One job at a time, or many fetched and completed together. */
export type Fetching = 'one by one' | 'in batches';

export function graphile(fetching: Fetching): Contender {
  const isBatched = fetching === 'in batches';
  const plain = `concurrentJobs ${CONNECTIONS_MAX}, pollInterval 100 ms`;
  return peer({
    id: isBatched ? 'graphile-batches' : 'graphile',
    name: isBatched ? 'graphile-worker, batches' : 'graphile-worker',
    version: versionOf('graphile-worker'),
    settings: isBatched ? `${plain}, localQueue of 500, completeJobBatchDelay 0` : plain,
    durability: 'on disk (fsync) before the answer',
    can: ['orders', 'creates'],
    file: 'graphile-process.ts',
    ground: (ground) => databaseGround(ground, fetching),
  });
}

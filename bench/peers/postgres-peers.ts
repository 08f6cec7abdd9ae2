/** The peers that store their jobs in PostgreSQL: agenda, Graphile Worker and pg-boss, one process each. */
import type { Contender } from '../contender.ts';
import { CONNECTIONS_MAX } from '../post.ts';
import { peer, peerVersion, prepareDatabase } from './peer.ts';

/** At this interval agenda locks the jobs that are due before the next time, and sets timers for them. */
export const AGENDA_PROCESS_EVERY_MS = 100;
/** Without a limit agenda locks a whole burst before it begins, and is slower. */
export const AGENDA_LOCK_LIMIT = 256;

export const agenda = peer({
  id: 'agenda',
  name: 'agenda on PostgreSQL',
  version: `${peerVersion('agenda')} (@agendajs/postgres-backend ${peerVersion('@agendajs/postgres-backend')})`,
  settings: `processEvery ${AGENDA_PROCESS_EVERY_MS} ms, concurrency ${CONNECTIONS_MAX}, lock limit ${AGENDA_LOCK_LIMIT}, its LISTEN/NOTIFY channel`,
  durability: 'on disk (fsync) before the answer',
  can: ['jobs', 'creates'],
  file: 'agenda-process.ts',
  prepare: prepareDatabase,
});

/** Graphile Worker fetches one job at a time, or fetches and completes many together. */
export type Fetching = 'one by one' | 'in batches';

export function graphile(fetching: Fetching): Contender {
  const isBatched = fetching === 'in batches';
  const plain = `concurrentJobs ${CONNECTIONS_MAX}, pollInterval 100 ms`;
  return peer({
    id: isBatched ? 'graphile-batches' : 'graphile',
    name: isBatched ? 'graphile-worker, batches' : 'graphile-worker',
    version: peerVersion('graphile-worker'),
    settings: isBatched ? `${plain}, localQueue of 500, completeJobBatchDelay 0` : plain,
    durability: 'on disk (fsync) before the answer',
    can: ['jobs', 'creates'],
    file: 'graphile-process.ts',
    prepare: (resources) => prepareDatabase(resources, fetching),
  });
}

/** pg-boss has this many workers. Each fetches a batch and sends it together. */
export const PG_BOSS_WORKERS = 4;
export const PG_BOSS_BATCH_SIZE = 64;

/** pg-boss polls as often as it allows. After a full batch it fetches the next one at once. */
export const pgBoss = peer({
  id: 'pg-boss',
  name: 'pg-boss',
  version: peerVersion('pg-boss'),
  settings: `pollingIntervalSeconds 0.5 (its least), localConcurrency ${PG_BOSS_WORKERS}, batchSize ${PG_BOSS_BATCH_SIZE}, burstWhenBatchFull`,
  durability: 'on disk (fsync) before the answer',
  can: ['jobs', 'creates'],
  file: 'pg-boss-process.ts',
  prepare: prepareDatabase,
});

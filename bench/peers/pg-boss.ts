/** pg-boss, one process: polls as often as it allows, and goes on at once while what it fetches comes full. */
import { versionOf } from '../versions.ts';
import { databaseGround, peer } from './peer.ts';

/** So many workers, each of which fetches and sends so many together. */
export const WORKERS = 4;
export const FETCHED_TOGETHER = 64;

export const pgBoss = peer({
  id: 'pg-boss',
  name: 'pg-boss',
  version: versionOf('pg-boss'),
  settings: `pollingIntervalSeconds 0.5 (its least), localConcurrency ${WORKERS}, batchSize ${FETCHED_TOGETHER}, burstWhenBatchFull`,
  durability: 'on disk (fsync) before the answer',
  can: ['orders', 'creates'],
  file: 'pg-boss-process.ts',
  ground: databaseGround,
});

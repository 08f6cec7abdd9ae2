/** The contenders, in the order of the report. */
import type { Contender, ContenderId } from './contender.ts';
import { bullmq } from './peers/bullmq.ts';
import { NO_RESOURCES, peer } from './peers/peer.ts';
import { agenda, graphile, pgBoss } from './peers/postgres-peers.ts';
import { bareRoute } from './sched/bare-route.ts';
import { schedOnCitus, schedOnPostgres, schedOnSqlite } from './sched/contenders.ts';

/** A timer for each job and the HTTP client, without a store. No contender can be faster on this machine. */
export const limit = peer({
  id: 'limit',
  name: 'limit: timers and client',
  version: '',
  settings: 'a timer for each request and undici with 64 connections, no store',
  durability: 'nothing is stored',
  can: ['jobs', 'recurring'],
  file: 'limit-process.ts',
  prepare: async () => NO_RESOURCES,
});

export const CONTENDERS: readonly Contender[] = [
  limit,
  bareRoute,
  schedOnSqlite,
  schedOnPostgres(1),
  schedOnPostgres(2),
  schedOnPostgres(3),
  schedOnCitus,
  bullmq('default'),
  bullmq('hz 100'),
  bullmq('fsync always'),
  graphile('one by one'),
  graphile('in batches'),
  pgBoss,
  agenda,
];

/** The contenders of a quick run. */
export const QUICK_CONTENDERS: readonly ContenderId[] = [
  'limit',
  'bare-route',
  'sched-sqlite',
  'sched-postgres',
  'bullmq',
  'graphile',
];

/** The cron of the other contenders is not made for thousands of recurring schedules. */
export const RECURRING_CONTENDERS: readonly ContenderId[] = [
  'limit',
  'sched-sqlite',
  'sched-postgres',
  'bullmq',
];

/** Whoever takes part, in the order of the report: first what the machine can do. */
import type { Contender, ContenderId } from './contender.ts';
import { agenda } from './peers/agenda.ts';
import { bullmq } from './peers/bullmq.ts';
import { graphile } from './peers/graphile.ts';
import { limit } from './peers/limit.ts';
import { pgBoss } from './peers/pg-boss.ts';
import { bareRoute } from './sched/bare-route.ts';
import { schedOnPostgres, schedOnSqlite } from './sched/contenders.ts';

export const CONTENDERS: readonly Contender[] = [
  limit,
  bareRoute,
  schedOnSqlite,
  schedOnPostgres(1),
  schedOnPostgres(2),
  bullmq('default'),
  bullmq('hz 100'),
  bullmq('fsync always'),
  graphile('one by one'),
  graphile('in batches'),
  pgBoss,
  agenda,
];

/** Enough for a first look. */
export const QUICK_CONTENDERS: readonly ContenderId[] = [
  'limit',
  'bare-route',
  'sched-sqlite',
  'sched-postgres',
  'bullmq',
  'graphile',
];

/** Whoever takes part in schedules that recur: the others' cron is not made for thousands of them. */
export const RECURRING_CONTENDERS: readonly ContenderId[] = [
  'limit',
  'sched-sqlite',
  'sched-postgres',
  'bullmq',
];

/**
 * What is measured, whoever does it: jobs are stored ahead of their instant, and posted at it. A contender
 * is one way to do so. Started, it is a process of its own (or several), on a store of its own that is empty.
 */
import type { PostgresServer } from '../test/postgres/server.ts';

export interface Job {
  /** No two that are measured together have the same; they count up from 0. */
  readonly number: number;
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly due: number;
}

export const CONTENDER_IDS = [
  'limit',
  'bare-route',
  'sched-sqlite',
  'sched-postgres',
  'sched-postgres-2',
  'bullmq',
  'bullmq-hz',
  'bullmq-fsync',
  'graphile',
  'graphile-batches',
  'pg-boss',
  'agenda',
] as const;
/** Another version of Sched, whichever checkout was named: it takes part where one was. */
export const BASELINE_IDS = ['baseline-sqlite', 'baseline-postgres', 'baseline-postgres-2'] as const;
export type ContenderId = (typeof CONTENDER_IDS)[number] | (typeof BASELINE_IDS)[number];

export type Ability = 'jobs' | 'creates' | 'recurring';

export interface Contender {
  readonly id: ContenderId;
  /** As the report calls it. */
  readonly name: string;
  readonly version: string;
  /** How it is set up, and why: one line. */
  readonly settings: string;
  /** What survives a crash of the machine: one line. */
  readonly durability: string;
  readonly can: readonly Ability[];
  /** Rejects with `Absent` where the machine lacks something it needs. */
  start(resources: Resources): Promise<RunningContender>;
}

/** What a contender may use. */
export interface Resources {
  /** To make a database of its own in. */
  readonly postgres: PostgresServer;
  /** Processor profiles are written there. */
  readonly profileDir: string | undefined;
}

export interface RunningContender extends AsyncDisposable {
  /** Resolves when all are stored. */
  store(jobs: readonly Job[]): Promise<void>;
  /** As many schedules that recur, of which each posts its order first: all of them are due at one full minute. */
  storeRecurring(jobs: readonly Job[]): Promise<void>;
  /** Adds one after the other in so many hands, all due in a day, through the interface its users have. */
  create(load: CreateLoad): Promise<Created>;
  /** Processor time used so far by its processes, without the database's; null where the system does not tell. */
  cpuMs(): number | null;
  /** Memory in use by its processes, without the database's; null where the system does not tell. */
  memoryMb(): number | null;
}

export interface CreateLoad {
  readonly atOnce: number;
  readonly seconds: number;
}

export interface Created {
  readonly created: number;
  readonly failed: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The contender cannot be run here: the report says why, and goes on. */
export class Unavailable extends Error {}

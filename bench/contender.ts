/**
 * Every contender does the same work: it stores jobs ahead of their instant, and posts each one at its instant. A
 * running contender has one or more processes, and an empty store of its own.
 */
import type { PostgresServer } from '../test/postgres/server.ts';

export interface Job {
  /** Jobs that are measured together have different numbers, counted from 0. */
  readonly number: number;
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly due: number;
  /** Further fields of the create. Only Sched knows them. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export const CONTENDER_IDS = [
  'limit',
  'bare-route',
  'sched-sqlite',
  'sched-postgres',
  'sched-postgres-2',
  'sched-postgres-3',
  'sched-citus',
  'bullmq',
  'bullmq-hz',
  'bullmq-fsync',
  'graphile',
  'graphile-batches',
  'pg-boss',
  'agenda',
] as const;
/** The contenders of another version of Sched. They take part if `--baseline` names a checkout. */
export const BASELINE_IDS = [
  'baseline-sqlite',
  'baseline-postgres',
  'baseline-postgres-2',
  'baseline-postgres-3',
  'baseline-citus',
] as const;
export type ContenderId = (typeof CONTENDER_IDS)[number] | (typeof BASELINE_IDS)[number];

export type Ability = 'jobs' | 'creates' | 'recurring';

export interface Contender {
  readonly id: ContenderId;
  /** The name in the report. */
  readonly name: string;
  readonly version: string;
  /** One line about the settings, and the reason for them. */
  readonly settings: string;
  /** One line about the data that survive a crash of the machine. */
  readonly durability: string;
  readonly can: readonly Ability[];
  /** Rejects with `Unavailable` if this machine cannot run the contender. */
  start(resources: Resources): Promise<RunningContender>;
}

/** The resources that contenders share. */
export interface Resources {
  /** The server in which a contender creates its own database. */
  readonly postgres: PostgresServer;
  /** The processor time of that server so far. Null if it is not known. */
  readonly postgresCpuMs: () => number | null;
  /** The coordinator of a Citus cluster. Null if there is none. */
  readonly citusUrl: string | null;
  /** The folder for processor profiles. */
  readonly profileDir: string | undefined;
}

export interface RunningContender extends AsyncDisposable {
  /** The addresses of the API. Only Sched has one. */
  readonly urls?: readonly string[];
  /** Resolves when all are stored. */
  store(jobs: readonly Job[]): Promise<void>;
  /** Stores one recurring schedule for each job. Its first run posts the job. All are due at one full minute. */
  storeRecurring(jobs: readonly Job[]): Promise<void>;
  /** Concurrent clients create one job after the other through the public interface. The jobs are due in a day. */
  create(load: CreateLoad): Promise<Created>;
  /** Processor time of the contender's processes so far, without the database. Null if it is not known. */
  cpuMs(): number | null;
  /** Processor time of the database's processes so far. It is 0 without a database, and null if it is not known. */
  databaseCpuMs(): number | null;
  /** The part of it that the workers of a Citus cluster took. */
  workersCpuMs?(): number | null;
  /** Memory in use by the contender's processes, without the database. Null if it is not known. */
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

/** This machine cannot run the contender. The report says why, and the run goes on. */
export class Unavailable extends Error {}

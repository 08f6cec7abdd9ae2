/**
 * What a database gives to the store: its connections, and the SQL that must differ. Everything else is said once, in
 * this folder.
 *
 * Shared SQL has the parameters `$1`, `$2` and so on, each used once and in this order.
 */
import type { Instant } from '#src/domain/instant.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { Prunable, Store } from '#src/ports/store.ts';
import type { Parameter, Rejection, Step } from './steps.ts';
import type { makeVerbs } from './verbs.ts';

/** Runs single queries. Everything in one answer is of one moment. */
export interface SqlReader {
  /** The database may plan the query each time, because the best plan may depend on what the tables hold by now. */
  query<Row>(sql: string, ...parameters: readonly Parameter[]): Promise<readonly Row[]>;
  /** A query whose rows are named by their whole key. There is only one good plan, so the database may keep it. */
  lookUp<Row>(sql: string, ...parameters: readonly Parameter[]): Promise<readonly Row[]>;
}

export interface SqlWriter {
  /** Runs a verb. The result is `done` or one of the rejections of its steps. */
  run<A extends Rejection>(steps: readonly Step[]): Promise<'done' | A>;
  /** Runs independent verbs in one batch, and returns the result of each. */
  runAll<A extends Rejection>(verbs: readonly (readonly Step[])[]): Promise<readonly ('done' | A)[]>;
}

/** One writer for each kind of work, so that no kind waits for another. A database with one writer gives it to all. */
export interface SqlWriters {
  readonly api: SqlWriter;
  /** Claims, deferrals and gates. Gates are saved before claims that come later. */
  readonly claiming: SqlWriter;
  /** Settlements, stats and removals. */
  readonly settling: SqlWriter;
  readonly membership: SqlWriter;
  readonly maintenance: SqlWriter;
}

/** Reads that need another form for each planner, or that a database can do in a better way than with plain SQL. */
export type PlannedReads = Pick<
  Store,
  | 'findSchedule'
  | 'listSchedules'
  | 'findSchedules'
  | 'searchSchedules'
  | 'findPayload'
  | 'listDeliveries'
  | 'findProfile'
  | 'listProfiles'
  | 'listDue'
  | 'listWaitingCustomers'
  | 'listDueOfCustomers'
  | 'loadDeliveries'
  | 'loadPayloads'
  | 'listLostClaims'
>;

/** One query for each kind of row. It takes an instant and a number of rows; that for schedules also takes a cursor. */
export type RetentionQueries = Readonly<Record<Prunable, string>>;

export interface Dialect extends Pick<ClusterStore, 'readClock' | 'renewLease'> {
  readonly verbs: ReturnType<typeof makeVerbs>;
  readonly readers: {
    readonly api: SqlReader;
    readonly engine: SqlReader;
  };
  readonly writers: SqlWriters;
  readonly reads: PlannedReads;
  readonly insight: InsightStore;
  readonly retention: RetentionQueries;
  /** How many deliveries of one status a batch of a sweep changes. */
  readonly sweepBatchMax?: number;
  /** Resolves when the database can write durably. */
  check(now: Instant): Promise<void>;
  close(): Promise<void>;
}

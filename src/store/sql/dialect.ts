/**
 * A dialect is the part of the store that a database gives: its connections, and the SQL that must differ. Everything
 * else is said once, in this folder.
 *
 * Shared SQL has the parameters `$1`, `$2` and so on, each used once and in this order.
 */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { DeliveryFilter, ScheduleFilter, Store } from '#src/ports/store.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import type { WantedDestination } from './schedule-search.ts';
import type { Parameter, Rejection, Step } from './steps.ts';
import type { makeVerbs } from './verbs.ts';

/** A list is a parameter of PostgreSQL only. */
export type QueryParameter = Parameter | readonly Parameter[];

export interface Query {
  readonly sql: string;
  readonly parameters: readonly QueryParameter[];
}

/** Runs single queries. Everything in one answer is of one moment. */
export interface SqlReader {
  /** The database may plan the query each time, because the best plan may depend on what the tables hold by now. */
  query<Row>(sql: string, ...parameters: readonly QueryParameter[]): Promise<readonly Row[]>;
  /** A query whose rows are named by their whole key. There is only one good plan, so the database may keep it. */
  lookUp<Row>(sql: string, ...parameters: readonly QueryParameter[]): Promise<readonly Row[]>;
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
  /** Claims, deferrals, gates and settlements. Gates are saved before claims that come later. */
  readonly firing: SqlWriter;
  readonly membership: SqlWriter;
  /** Sweeps, bulk replays, stats, uses of keys, and removals. */
  readonly maintenance: SqlWriter;
}

/** Reads that need another form for each planner, or that a database can do in a better way than with plain SQL. */
export type PlannedReads = Pick<
  Store,
  | 'listSchedules'
  | 'findSchedules'
  | 'findPayload'
  | 'listDeliveries'
  | 'listProfiles'
  | 'listDue'
  | 'listWaitingCustomers'
  | 'listDueOfCustomers'
  | 'loadDeliveries'
  | 'loadPayloads'
  | 'listLostClaims'
>;

/** Queries that read one batch of a search for schedules. Each follows a single index, whatever the filter is. */
export interface ScheduleScans {
  /** Reads the next rows before an id, and tells which of them match. Its rows are `ScannedRow`. */
  scan(
    partition: Partition,
    filter: ScheduleFilter,
    wanted: WantedDestination | null,
    before: ScheduleId | null,
    rows: number,
  ): Query;
  /** Counts the schedules of each label, in the order of the labels. Counting stops at `countMax`. */
  labelCounts(partition: Partition, labels: Labels, countMax: number): Query;
  /** Finds the newest profiles whose URL contains a text. */
  profilesOf(partition: Partition, part: string, hidesQueries: boolean): Query;
}

/** The oldest instant of each partition that has old stats. */
export interface OldestStatsQueries {
  /** Parameters: the span, the instant, and a number of partitions. */
  readonly stats: string;
  /** Parameters: how many rows to skip at that instant, the instant, and a number of partitions. */
  readonly endpointStats: string;
}

/** Queries of the dashboard that need another form for each planner. */
export interface InsightQueries {
  /** Waiting deliveries of one customer that are counted. */
  readonly dueRowsMax: number;
  readonly oldestStats: OldestStatsQueries;
  gate(partition: Partition, endpoint: EndpointKey): Query;
  endpointStats(partition: Partition, digests: readonly string[], from: Instant, rowsMax: number): Query;
  countDeliveries(partition: Partition, filter: DeliveryFilter, countMax: number): Query;
  findSchedules: Store['findSchedules'];
}

export interface Dialect extends Pick<ClusterStore, 'readClock' | 'renewLease'> {
  readonly verbs: ReturnType<typeof makeVerbs>;
  readonly readers: {
    readonly api: SqlReader;
    readonly engine: SqlReader;
    /** Queries of the dashboard, which may read tens of thousands of rows. The engine never waits for them. */
    readonly insight: SqlReader;
    /** Searches by several labels. The engine never waits for them either. */
    readonly search: SqlReader;
  };
  readonly writers: SqlWriters;
  readonly reads: PlannedReads;
  readonly insight: InsightQueries;
  readonly scans: ScheduleScans;
  /** They pause a long search and end it. */
  readonly timers: Timers & Stopwatch;
  /** SQL after the name of a table: the index to use, where the planner can be told. */
  readonly indexedBy: (index: string) => string;
  /** SQL: a text that may be long, as text or as bytes, whichever the driver decodes faster. */
  readonly longText: (column: string) => string;
  /** How many deliveries of one status a batch of a sweep changes. */
  readonly sweepBatchMax?: number;
  /** Resolves when the database can write durably. */
  check(now: Instant): Promise<void>;
  close(): Promise<void>;
}

/**
 * A dialect is the part of the store that a database gives: its connections, and the SQL that must differ. Everything
 * else is said once, in this folder.
 *
 * Shared SQL has the parameters `$1`, `$2` and so on, each used once and in this order: see `query.ts`.
 */
import type { AttemptOutcome, DeliveryStatus } from '#src/domain/delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { DeliveryId, EndpointId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { LabelDigest } from '#src/domain/labels.ts';
import type { ScheduleKind, ScheduleState } from '#src/domain/schedule.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { Store } from '#src/ports/store.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import type { Query, QueryParameter } from './query.ts';
import type { Rejection, Step } from './steps.ts';
import type { makeVerbs } from './verbs.ts';

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
  | 'findPayload'
  | 'listDue'
  | 'listWaitingCustomers'
  | 'listDueOfCustomers'
  | 'worksByCustomer'
  | 'loadDeliveries'
  | 'loadPayloads'
  | 'listLostClaims'
>;

/** SQL that differs: functions with other names, and what each planner needs to follow an index. */
export interface Syntax {
  /** After the name of a table: the index to use, where the planner can be told. */
  readonly indexedBy: (index: string) => string;
  /** A text that may be long, as text or as bytes, whichever the driver decodes faster. */
  readonly longText: (column: string) => string;
  readonly lower: (text: Query) => Query;
  /** The function that finds a text in another. */
  readonly positionOf: string;
  readonly isOneOf: (column: string, values: readonly string[]) => Query;
  readonly isDigestOfOne: (column: string, digests: readonly LabelDigest[]) => Query;
  readonly isGateOf: (endpoint: EndpointKey) => Query;
  /** Schedules of one state and kind, of a profile if there is one, before an id. */
  readonly ofState: (
    state: ScheduleState,
    kind: ScheduleKind,
    before: string,
    endpointId: EndpointId | null,
  ) => IndexRange;
  /** Deliveries of one status, of a profile if there is one, from an id on and before another. */
  readonly ofStatus: (
    status: DeliveryStatus,
    from: string,
    before: string,
    endpointId: EndpointId | null,
  ) => IndexRange;
  /** Replays or notifications of a delivery, from an id on and before another. */
  readonly ofOrigin: (column: OriginColumn, origin: DeliveryId, from: string, before: string) => IndexRange;
  /** SQL: the delivery `notification` tells of the delivery `of`. Both are names of tables in the query. */
  readonly tellsOf: (notification: string, of: string) => string;
  /** Attempts of one outcome, of a profile if there is one. */
  readonly ofOutcome: (outcome: AttemptOutcome, endpointId: EndpointId | null) => Query;
  /** The first rows of several scans, all in the order `order`, which is by default that of the ids, newest first. */
  readonly merge: (scans: readonly Scan[], limit: number, order?: string) => Query;
  /** Whether a scan selects whole rows. Otherwise it selects ids, because the database copies what it sorts. */
  readonly scansCarryRows: boolean;
}

/** The column in which a delivery names the one that it was made from. */
export type OriginColumn = 'replay_of' | 'notification_of';

/** The condition for one range of an index, and the order of the index, newest first. */
export interface IndexRange {
  readonly condition: Query;
  readonly order: string;
}

/** The rows of one range of an index, and their order. Each has an `id`. */
export interface Scan {
  readonly rows: Query;
  readonly order: string;
}

/** The oldest instant of each partition that has old stats. */
export interface OldestStatsQueries {
  /** Parameters: the span, the instant, and a number of partitions. */
  readonly stats: string;
  /** Parameters: how many rows to skip at that instant, the instant, and a number of partitions. */
  readonly endpointStats: string;
}

export interface Dialect extends Pick<ClusterStore, 'readClock' | 'renewLease' | 'refuseOlderPrograms'> {
  readonly verbs: ReturnType<typeof makeVerbs>;
  readonly readers: {
    readonly api: SqlReader;
    readonly engine: SqlReader;
    /** Queries of the dashboard, which may read tens of thousands of rows. The engine never waits for them. */
    readonly insight: SqlReader;
    /** Searches without an index. The engine never waits for them either. */
    readonly search: SqlReader;
  };
  readonly writers: SqlWriters;
  readonly reads: PlannedReads;
  readonly syntax: Syntax;
  /** Waiting deliveries of one customer that the dashboard counts. */
  readonly dueRowsMax: number;
  readonly oldestStats: OldestStatsQueries;
  /** They pause a long search and end it. */
  readonly timers: Timers & Stopwatch;
  /** How many deliveries of one status a batch of a sweep changes. */
  readonly sweepBatchMax?: number;
  /** Resolves when the database can write durably. */
  check(now: Instant): Promise<void>;
  close(): Promise<void>;
}

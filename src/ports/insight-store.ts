/**
 * The queries of the dashboard. Deliveries do not need them, and they must not delay deliveries. They scan a limited
 * number of rows, and they run apart from the thread and the connections that send.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { Gate } from '#src/domain/gate.ts';
import type { AttemptId, DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { FiringSchedule, ScheduleView } from '#src/domain/schedule.ts';
import type { Stats, StatsSpanMs } from '#src/domain/stats.ts';
import type { ClusterState } from './cluster-store.ts';
import type { DeliveryFilter, Page, ScheduleSearch } from './lists.ts';

/** Only the node itself writes its rows. It saves the complete stats so far, so saving twice does no harm. */
export interface SavedStats {
  readonly partition: Partition;
  readonly spanMs: StatsSpanMs;
  readonly at: Instant;
  readonly stats: Stats;
}

/** The stats of an endpoint by the hour, without lateness. */
export interface SavedEndpointStats {
  readonly partition: Partition;
  readonly endpoint: EndpointKey;
  readonly at: Instant;
  readonly stats: Stats;
}

export interface StatsPoint {
  readonly at: Instant;
  readonly stats: Stats;
}

export interface DueCounts {
  /** The number of due deliveries in each step of the window. */
  readonly counts: readonly number[];
  /** False when there was more to scan than allowed. The counts are then lower bounds. */
  readonly isComplete: boolean;
}

/** The position of a waiting delivery in the order of (dueAt, id). An empty id is before all of that instant. */
export interface DuePosition {
  readonly dueAt: Instant;
  readonly id: DeliveryId | '';
}

/** A waiting delivery with its schedule, from which later runs are computed. A notification has none. */
export interface UpcomingDelivery {
  readonly delivery: Delivery;
  readonly schedule: FiringSchedule | null;
}

export interface Found<T, Id> {
  readonly found: readonly T[];
  /** The search continues before this id; null when it has reached the end. */
  readonly next: Id | null;
  readonly scanned: number;
}

export interface EndpointActivity {
  readonly endpoint: EndpointKey;
  readonly stats: Stats;
}

export interface GateSnapshot {
  readonly endpoint: EndpointKey;
  readonly gate: Gate;
  readonly savedAt: Instant;
}

/** A person's request to close a breaker. The owner of the slot carries it out. */
export interface BreakerReset {
  readonly partition: Partition;
  readonly endpoint: EndpointKey;
  readonly at: Instant;
}

/** The limit of counts that a page waits for. Each delivery may be a row that has to be fetched. */
export const DELIVERIES_COUNTED_MAX = 20_000;

export interface InsightStore {
  /** Opens connections and threads that the next query needs. Never throws. */
  warmUp(): void;
  saveStats(
    node: string,
    stats: readonly SavedStats[],
    endpoints: readonly SavedEndpointStats[],
  ): Promise<void>;
  /**
   * Reads the stats of all nodes, added up, in the order of time. Steps without stats are left out. `until` is
   * exclusive.
   */
  readStats(
    partition: Partition,
    spanMs: StatsSpanMs,
    from: Instant,
    until: Instant,
  ): Promise<readonly StatsPoint[]>;
  /** Reads the stats of endpoints since `from`, with all hours and nodes added up. */
  readEndpointStats(
    partition: Partition,
    endpoints: readonly EndpointKey[],
    from: Instant,
  ): Promise<readonly EndpointActivity[]>;
  /** Lists endpoints with attempts since `from`. */
  listActiveEndpoints(partition: Partition, from: Instant, limit: number): Promise<readonly EndpointKey[]>;
  /**
   * Removes some stats of minutes and hours before these instants. Stats of endpoints, which are by the hour, are
   * removed with the minutes. Returns true when there may be more.
   */
  pruneStats(minutesBefore: Instant, hoursBefore: Instant): Promise<boolean>;

  /** Counts the deliveries due from `from` on and before `until`, in steps of `stepMs`. */
  countDue(
    partition: Partition,
    from: Instant,
    until: Instant,
    stepMs: number,
    scanMax: number,
  ): Promise<DueCounts>;
  /** Lists waiting deliveries in the order of (dueAt, id), after a position and due before `until`. */
  listUpcoming(
    partition: Partition,
    after: DuePosition,
    until: Instant,
    limit: number,
  ): Promise<readonly UpcomingDelivery[]>;
  /** Lists matching schedules, newest first. One call scans a limited number of schedules. */
  searchSchedules(
    partition: Partition,
    search: ScheduleSearch,
    page: Page<ScheduleId>,
    scanMax: number,
  ): Promise<Found<ScheduleView, ScheduleId>>;
  /** Stops counting at `countMax`. */
  countDeliveries(partition: Partition, filter: DeliveryFilter, countMax: number): Promise<number>;
  /** Lists deliveries of a schedule by their nominal instant, without replays. */
  listOccurrences(
    partition: Partition,
    id: ScheduleId,
    from: Instant,
    until: Instant,
    limit: number,
  ): Promise<readonly Delivery[]>;
  /**
   * Finds the delivery of an attempt that is in flight, or that ended between these instants. It scans at most
   * `scanMax` attempts of each outcome, so it may miss one that took long.
   */
  findDeliveryOfAttempt(
    partition: Partition,
    id: AttemptId,
    from: Instant,
    until: Instant,
    scanMax: number,
  ): Promise<DeliveryId | null>;
  /** Lists the numbers of the attempts of which an answer was kept. */
  listKeptResponses(partition: Partition, id: DeliveryId, limit: number): Promise<readonly number[]>;
  /** Returns true when a schedule of this profile, ended or not, has its own headers or body. */
  hasPayloads(partition: Partition, id: EndpointId): Promise<boolean>;
  /** Returns the gate as it was last saved, or null. */
  findGate(partition: Partition, endpoint: EndpointKey): Promise<Gate | null>;
  /** Lists gates as they were last saved. Those with an open breaker come first, then the newest. */
  listGates(partition: Partition, limit: number): Promise<readonly GateSnapshot[]>;
  /**
   * Lists endpoints whose breakers were not closed when their gates were last saved, after this instant. Those that were
   * saved last come first.
   */
  listOpenBreakers(partition: Partition, savedAfter: Instant, limit: number): Promise<readonly EndpointKey[]>;
  readCluster(): Promise<ClusterState>;

  addBreakerReset(order: BreakerReset): Promise<void>;
  /** Lists the requests of all partitions. */
  listBreakerResets(limit: number): Promise<readonly BreakerReset[]>;
  /** Removes the request. A newer request for the same endpoint stays. */
  removeBreakerReset(order: BreakerReset): Promise<void>;
}

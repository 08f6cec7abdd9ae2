/**
 * What people look at. Nothing here is needed to fire a delivery, and nothing here may hold one up: questions are
 * bounded in what they look at, and are asked aside from the thread and the connections that fire.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { Gate } from '#src/domain/gate.ts';
import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { FiringSchedule, ScheduleView } from '#src/domain/schedule.ts';
import type { Stats, StatsSpanMs } from '#src/domain/stats.ts';
import type { ClusterState } from './cluster-store.ts';
import type { DeliveryFilter, Page, ScheduleFilter } from './store.ts';

/** A row has one writer, the node: what it saves is the whole stats so far, and saving it twice does no harm. */
export interface SavedStats {
  readonly partition: Partition;
  readonly spanMs: StatsSpanMs;
  readonly at: Instant;
  readonly stats: Stats;
}

/** By the hour. Of lateness nothing is kept here. */
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
  /** How many are due in each step of the window. */
  readonly counts: readonly number[];
  /** False where there was more to look at than allowed: the counts are then at least what is true. */
  readonly isComplete: boolean;
}

/** A waiting delivery with its schedule, from which what comes after it can be worked out. */
export interface UpcomingDelivery {
  readonly delivery: Delivery;
  readonly schedule: FiringSchedule;
}

export interface ScheduleSearch extends ScheduleFilter {
  /** A part of the destination, whatever its case; null for any. */
  readonly destination: string | null;
  /** Whether destinations are compared as viewers are shown them: see `domain/role.ts`. */
  readonly hidesQueries: boolean;
}

export interface Found<T, Id> {
  readonly found: readonly T[];
  /** Where to go on looking, before this id; null when everything was looked at. */
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

/** An order of a person to an endpoint's gate, carried out by whoever holds its slot. */
export interface BreakerReset {
  readonly partition: Partition;
  readonly endpoint: EndpointKey;
  readonly at: Instant;
}

/** As far as deliveries are counted where a page waits for it: each may be a row that has to be fetched. */
export const DELIVERIES_COUNTED_MAX = 20_000;

export interface InsightStore {
  /** Somebody is about to look: what takes a moment to be opened is opened. Never throws. */
  warmUp(): void;
  saveStats(
    node: string,
    stats: readonly SavedStats[],
    endpoints: readonly SavedEndpointStats[],
  ): Promise<void>;
  /** In the order of time, those of all nodes added up; steps without any are left out. `until` is exclusive. */
  readStats(
    partition: Partition,
    spanMs: StatsSpanMs,
    from: Instant,
    until: Instant,
  ): Promise<readonly StatsPoint[]>;
  /** Since then, all hours and nodes added up. */
  readEndpointStats(
    partition: Partition,
    endpoints: readonly EndpointKey[],
    from: Instant,
  ): Promise<readonly EndpointActivity[]>;
  /** Endpoints that were sent to since then, at most so many. */
  listActiveEndpoints(partition: Partition, from: Instant, limit: number): Promise<readonly EndpointKey[]>;
  /**
   * Removes a few of the stats of minutes and of hours that lie before; those of endpoints, which are by the hour,
   * go with the minutes. Answers whether there may be more.
   */
  pruneStats(minutesBefore: Instant, hoursBefore: Instant): Promise<boolean>;

  /** Of one partition, due from `from` on and before `until`, in steps of `stepMs`. */
  countDue(
    partition: Partition,
    from: Instant,
    until: Instant,
    stepMs: number,
    scanMax: number,
  ): Promise<DueCounts>;
  /** The same, in the order they are due, and at most so many. */
  listUpcoming(
    partition: Partition,
    from: Instant,
    until: Instant,
    limit: number,
  ): Promise<readonly UpcomingDelivery[]>;
  /** Newest first; looks at no more than so many schedules at a time. */
  searchSchedules(
    partition: Partition,
    search: ScheduleSearch,
    page: Page<ScheduleId>,
    scanMax: number,
  ): Promise<Found<ScheduleView, ScheduleId>>;
  /** Counts no further than `countMax`. */
  countDeliveries(partition: Partition, filter: DeliveryFilter, countMax: number): Promise<number>;
  /** Of a schedule, by their nominal instant, replays left out. */
  listOccurrences(
    partition: Partition,
    id: ScheduleId,
    from: Instant,
    until: Instant,
    limit: number,
  ): Promise<readonly Delivery[]>;
  /** Whether a schedule, ended or not, has headers or a body of its own and names this profile. */
  hasPayloads(partition: Partition, id: EndpointId): Promise<boolean>;
  /** As it was saved last; null where nothing is kept of it. */
  findGate(partition: Partition, endpoint: EndpointKey): Promise<Gate | null>;
  /** As they were saved last, those whose breaker is not closed first, then the newest. */
  listGates(partition: Partition, limit: number): Promise<readonly GateSnapshot[]>;
  readCluster(): Promise<ClusterState>;

  addBreakerReset(order: BreakerReset): Promise<void>;
  /** Of every partition. */
  listBreakerResets(limit: number): Promise<readonly BreakerReset[]>;
  /** One that was given again since stays. */
  removeBreakerReset(order: BreakerReset): Promise<void>;
}

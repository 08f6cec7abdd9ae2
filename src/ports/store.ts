/**
 * Stores schedules, deliveries, attempts and endpoint profiles.
 *
 * Reads return domain objects as they were at one moment. Writes take domain objects that the rules in `domain/` made
 * from what was read. Each verb is one atomic step, guarded by `revision`: a row is replaced only if it still has the
 * revision that was read. When a guard fails, the verb changes nothing and answers `stale`, and the caller reads and
 * decides again. The first claim, cancel, move or pause therefore wins, and the rules stay out of SQL.
 *
 * A write with a receipt stores it in the same step. An idempotent request therefore has its effect and its finished
 * answer, or neither.
 */
import type { Attempt, Delivery, FinishedAttempt, InFlightDelivery } from '#src/domain/delivery.ts';
import type { Sweep, SweepCursor, UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { EndpointProfile, FiringProfile } from '#src/domain/endpoint-profile.ts';
import type { Gate } from '#src/domain/gate.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { FiringSchedule, Schedule, ScheduleState, ScheduleView } from '#src/domain/schedule.ts';
import type { Advance } from '#src/domain/schedule-lifecycle.ts';
import type { Fence, Slot } from '#src/domain/slot.ts';
import type { TrustedTime } from '#src/domain/trusted-time.ts';
import type { KeptResponse } from './kept-response.ts';
import type {
  AttemptFilter,
  AttemptPosition,
  DeliveryFilter,
  FoundIds,
  Listed,
  ListFilter,
  Page,
  RecentAttempt,
  ScheduleSearch,
} from './lists.ts';
import type { NotificationReads } from './notification-reads.ts';

/** The store cannot be reached, is full or is broken. Nothing was changed. */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreUnavailable';
  }
}

/** The finished answer to an idempotent request, which repeated requests get again. */
export interface Receipt {
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

/** `key_taken`: another request has stored a receipt under the same key. `name_taken`: another object has the name. */
export type WriteOutcome = 'done' | 'stale' | 'key_taken' | 'name_taken';

export interface ScheduleAddition {
  readonly schedule: Schedule;
  readonly pending: Delivery;
  /** Headers and body, encrypted; null when there are none. */
  readonly payload: Uint8Array | null;
  /** The profile that the pending delivery was made from. It must not have changed. */
  readonly profile: EndpointProfile | null;
  /** The profile that the schedule begins to notify. It must not have changed. */
  readonly notified?: FiringProfile | null;
  readonly receipt: Receipt | null;
}

export interface ScheduleReplacement {
  readonly schedule: Schedule;
  readonly pending: Delivery | null;
  /** The next version of the payload. The version before is kept while a delivery names it. */
  readonly payload?: PayloadReplacement | null;
  /** The profile that a changed pending delivery was made from. It must not have changed. */
  readonly profile?: FiringProfile | null;
  /** The first piece is carried out in the same step. `continueSweep` does the rest. */
  readonly sweep: Sweep | null;
  /** Tells of the pending delivery, if this ends it. */
  readonly notification?: Delivery | null;
  /** See `ScheduleAddition`. */
  readonly notified?: FiringProfile | null;
  readonly receipt: Receipt | null;
}

/** Its version is that of the schedule. */
export interface PayloadReplacement {
  /** Headers and body, encrypted; null when there are none. */
  readonly sealed: Uint8Array | null;
  /** No delivery of the new version has a lower id. */
  readonly sinceId: DeliveryId;
  /** No delivery of the version before has a higher id, except for replays. */
  readonly lastId: DeliveryId;
}

export interface ReplayAddition {
  readonly delivery: Delivery;
  readonly receipt: Receipt | null;
}

export interface TriggeredAddition {
  readonly delivery: Delivery;
  /** The schedule and the profile that the delivery was made from. They must not have changed. */
  readonly schedule: Schedule;
  readonly profile: FiringProfile | null;
  readonly receipt: Receipt | null;
}

export interface ProfileWrite {
  readonly profile: EndpointProfile;
  /** The static headers, encrypted; null when there are none. */
  readonly headers: Uint8Array | null;
  /** The profile that this one begins to notify. It must not have changed. */
  readonly notified?: FiringProfile | null;
  readonly receipt: Receipt | null;
}

export interface ProfileReplacement extends ProfileWrite {
  /** The name that the profile had. */
  readonly nameBefore?: string | null;
}

export interface ClaimWrite {
  readonly delivery: InFlightDelivery;
  readonly advanced: Advance | null;
}

export interface SettleWrite {
  readonly delivery: Delivery;
  /** The finished attempt. Its delivery must still be claimed for it. */
  readonly attempt: FinishedAttempt;
  /** The state of the schedule on which this was decided. It must not have changed. Null: a notification has none. */
  readonly decidedUnder: ScheduleState | null;
  /** The schedule, if the end of its delivery completed it. */
  readonly completed: FiringSchedule | null;
  /** What is kept of the answer. */
  readonly response: KeptResponse | null;
  /** Tells of the delivery, if it ended. */
  readonly notification?: Delivery | null;
}

/** A waiting delivery that is about to be sent, with everything that the decision needs. */
export interface LoadedDelivery {
  readonly delivery: Delivery;
  /** Null for a notification. */
  readonly schedule: FiringSchedule | null;
  /** The current profile of the schedule; null for an inline destination, and for a notification. */
  readonly profile: FiringProfile | null;
  /** The current profile that the delivery goes to. The schedule may have another destination by now. */
  readonly endpointProfile: FiringProfile | null;
  /** The gate of its endpoint as it was last saved. */
  readonly gate: Gate | null;
  /** The unfinished sweep of its schedule. */
  readonly sweep: UnfinishedSweep | null;
}

/** A cursor through the waiting deliveries of one customer, in the order of (dueAt, id). */
export interface CustomerCursor {
  readonly partition: Partition;
  /** The slot of the cursor; null when the store goes through all slots together. */
  readonly slot: Slot | null;
  /** The last delivery that was read. */
  readonly after: Pick<DueDelivery, 'dueAt' | 'id'> | null;
}

/** A page of the due deliveries of several customers. */
export interface CustomersPage {
  readonly due: readonly DueDelivery[];
  /** The cursors that may have more deliveries, at their new positions. */
  readonly unfinished: readonly CustomerCursor[];
}

/** The encrypted payload of a delivery, as it was when the delivery was materialized. */
export interface StoredPayload {
  /** Headers and body of the schedule; null when there are none. */
  readonly payload: Uint8Array | null;
  /** The profile version of the delivery; null for an inline destination. */
  readonly profile: {
    readonly timeout: string | null;
    readonly headers: Uint8Array | null;
    readonly responseExcerpt: number | null;
    readonly standardWebhooks: boolean;
  } | null;
}

/** A waiting delivery that ended without an attempt, and the effect on its schedule. */
export interface EndWrite {
  readonly delivery: Delivery;
  /** The schedule, if the end of its delivery completed it. */
  readonly completed: FiringSchedule | null;
  readonly advanced: Advance | null;
  /** Tells of the delivery. */
  readonly notification?: Delivery | null;
}

/** An attempt that was claimed and has no outcome yet, as the claim of its delivery. */
export interface UnsettledAttempt {
  readonly delivery: InFlightDelivery;
  /** Null for a notification. */
  readonly schedule: FiringSchedule | null;
}

export interface SavedGate {
  readonly partition: Partition;
  readonly endpoint: EndpointKey;
  /** Null removes the gate, because there is nothing worth keeping. */
  readonly gate: Gate | null;
  readonly savedAt: Instant;
}

/** The objects that retention removes, each with everything that depends on it. */
export const PRUNABLE = ['deliveries', 'payloads', 'schedules', 'receipts', 'gates'] as const;
export type Prunable = (typeof PRUNABLE)[number];

/** What can have a name. */
export interface NamedIds {
  readonly schedule: ScheduleId;
  readonly endpoint: EndpointId;
}
export type NamedKind = keyof NamedIds;

export interface Store extends NotificationReads {
  /** Finds the active or paused schedule, or the unarchived profile, that has this name. */
  findNamed<Kind extends NamedKind>(
    partition: Partition,
    kind: Kind,
    name: string,
  ): Promise<NamedIds[Kind] | null>;
  findSchedule(partition: Partition, id: ScheduleId): Promise<ScheduleView | null>;
  listSchedules(
    partition: Partition,
    filter: ListFilter,
    page: Page<ScheduleId>,
  ): Promise<Listed<ScheduleView>>;
  /** Finds the schedules with these ids, newest first. Unknown ids are skipped. */
  findSchedules(partition: Partition, ids: readonly ScheduleId[]): Promise<Listed<ScheduleView>>;
  /**
   * Searches schedules by a filter for which there is no index. It scans those with the rarest of the labels or of the
   * profile, apart from the thread and the connections that send. It finds at most `limit`. It finds fewer only when
   * its time is up or it has reached the end. A customer has one such scan at a time, and there are only a few in
   * total; others wait.
   */
  searchSchedules(
    partition: Partition,
    search: ScheduleSearch,
    page: Page<ScheduleId>,
  ): Promise<FoundIds<ScheduleId>>;
  addSchedule(addition: ScheduleAddition): Promise<WriteOutcome>;
  replaceSchedule(replacement: ScheduleReplacement): Promise<WriteOutcome>;
  /** Finds the unfinished sweep of a schedule; null when it has reached all deliveries. */
  findSweep(partition: Partition, id: ScheduleId): Promise<UnfinishedSweep | null>;
  /** Lists unfinished sweeps: the oldest of every partition, then the second of each, and so on. */
  listSweeps(limit: number): Promise<readonly UnfinishedSweep[]>;
  /**
   * Carries out the next piece of a sweep after this position, or from the start. Returns the new position, or null at
   * the end. A sweep that a later action replaced changes nothing and also returns null. There is one piece at a time,
   * and customers are served round robin.
   */
  continueSweep(unfinished: UnfinishedSweep, after: SweepCursor | null): Promise<SweepCursor | null>;
  /** Finds a version of the encrypted headers and body of a schedule. */
  findPayload(partition: Partition, id: ScheduleId, version: number): Promise<Uint8Array | null>;

  findDelivery(partition: Partition, id: DeliveryId): Promise<Delivery | null>;
  /** A filter without an index (`hasIndex`) reads an unlimited number of rows. */
  listDeliveries(
    partition: Partition,
    filter: DeliveryFilter,
    page: Page<DeliveryId>,
  ): Promise<readonly Delivery[]>;
  /** Searches deliveries by a filter without an index (`hasIndex`), as `searchSchedules` does. */
  searchDeliveries(
    partition: Partition,
    filter: DeliveryFilter,
    page: Page<DeliveryId>,
  ): Promise<FoundIds<DeliveryId>>;
  /** Finds the deliveries with these ids, newest first. Unknown ids are skipped. */
  findDeliveries(partition: Partition, ids: readonly DeliveryId[]): Promise<readonly Delivery[]>;
  /** `stale`: the original or its schedule is gone. */
  addReplay(addition: ReplayAddition): Promise<WriteOutcome>;
  addTriggered(addition: TriggeredAddition): Promise<WriteOutcome>;
  /** Replaces a delivery that is not the pending one of a schedule that it would complete or advance. */
  replaceDelivery(delivery: Delivery): Promise<'done' | 'stale'>;
  /** Lists attempts after `afterAttemptNo`, in the order of `attemptNo`. The one in flight is the last. */
  listAttempts(
    partition: Partition,
    id: DeliveryId,
    afterAttemptNo: number,
    limit: number,
  ): Promise<readonly Attempt[]>;
  /** Lists attempts that ended before the position, those that ended last first. */
  listRecentAttempts(
    partition: Partition,
    filter: AttemptFilter,
    before: AttemptPosition | null,
    limit: number,
  ): Promise<readonly RecentAttempt[]>;
  findResponse(partition: Partition, id: DeliveryId, attemptNo: number): Promise<KeptResponse | null>;

  findProfile(partition: Partition, id: EndpointId): Promise<EndpointProfile | null>;
  listProfiles(
    partition: Partition,
    includeArchived: boolean,
    page: Page<EndpointId>,
  ): Promise<Listed<EndpointProfile>>;
  /** Finds the encrypted static headers of one version of a profile. */
  findProfileHeaders(partition: Partition, id: EndpointId, version: number): Promise<Uint8Array | null>;
  addProfile(addition: ProfileWrite): Promise<WriteOutcome>;
  replaceProfile(replacement: ProfileReplacement): Promise<WriteOutcome>;
  /** `in_use`: an active or paused schedule refers to it, or another unarchived profile. */
  archiveProfile(profile: EndpointProfile): Promise<'done' | 'stale' | 'in_use'>;

  /** Finds the receipt under a key, unless it has expired. */
  findReceipt(partition: Partition, key: string, now: Instant): Promise<Receipt | null>;
  /** Stores the answer of a request that changed nothing. */
  addReceipt(partition: Partition, receipt: Receipt): Promise<'done' | 'key_taken'>;

  /**
   * Writes a batch. Each item is done or stale on its own; when the store fails, none is done. Under a fence, an item
   * is stale when its slot is no longer in that epoch. The claim of a delivery that an unfinished sweep will change is
   * stale too.
   */
  claim(writes: readonly ClaimWrite[], fence?: Fence): Promise<readonly ('done' | 'stale')[]>;
  settle(writes: readonly SettleWrite[]): Promise<readonly ('done' | 'stale')[]>;
  endUnsent(writes: readonly EndWrite[], fence?: Fence): Promise<readonly ('done' | 'stale')[]>;
  /** Writes deliveries that the gate deferred. */
  defer(deliveries: readonly Delivery[], fence?: Fence): Promise<readonly ('done' | 'stale')[]>;

  /**
   * Lists waiting deliveries of all partitions in the order of (dueAt, id), after `after` and due at `until` at the
   * latest. With `slots` it lists only those of these slots.
   */
  listDue(
    after: Pick<DueDelivery, 'dueAt' | 'id'> | null,
    until: Instant,
    limit: number,
    slots?: ReadonlySet<Slot>,
  ): Promise<readonly DueDelivery[]>;
  /**
   * Lists a cursor at its start for each customer with waiting deliveries. Customers without one that is due at
   * `until` at the latest may be left out. Some stores return a cursor for each slot of a customer. The order is
   * fixed, after `after`. Fewer than `limit` means the end.
   */
  listWaitingCustomers(
    after: CustomerCursor | null,
    until: Instant,
    limit: number,
    slots?: ReadonlySet<Slot>,
  ): Promise<readonly CustomerCursor[]>;
  /** Reads on from each cursor: at most `limitEach` deliveries that are due at `until` at the latest. */
  listDueOfCustomers(
    cursors: readonly CustomerCursor[],
    until: Instant,
    limitEach: number,
    slots?: ReadonlySet<Slot>,
  ): Promise<CustomersPage>;
  /** Whether each query and transaction is about one customer. Then it pays to gather the work of each customer. */
  readonly worksByCustomer: boolean;
  /** Loads deliveries in the requested order; null for one that is gone. Each one is consistent in itself. */
  loadDeliveries(
    deliveries: readonly Pick<DueDelivery, 'partition' | 'id'>[],
  ): Promise<readonly (LoadedDelivery | null)[]>;
  /** Loads payloads in the requested order. */
  loadPayloads(deliveries: readonly Delivery[]): Promise<readonly StoredPayload[]>;
  /** Lists claims of nodes that are not in `livingNodes`. */
  listLostClaims(livingNodes: readonly string[], limit: number): Promise<readonly UnsettledAttempt[]>;
  /** Saves gates before any claim that is requested later. Under a fence, gates of other slots stay as they are. */
  saveGates(gates: readonly SavedGate[], fence?: Fence): Promise<void>;

  /**
   * Removes at most `limit` objects that ended before: finalized deliveries, unless one tells of them that has not
   * ended; earlier versions of payloads that no delivery names any more; ended schedules without deliveries; expired
   * receipts; gates by their last save. Returns the number that was checked. Fewer than `limit` means that nothing is
   * left for now.
   */
  prune(what: Prunable, before: Instant, limit: number): Promise<number>;
  /** Finds the last observation of the clock; null before the first one. */
  findTrustedTime(): Promise<TrustedTime | null>;
  saveTrustedTime(trusted: TrustedTime): Promise<void>;

  /** Resolves when the store can write durably. */
  check(now: Instant): Promise<void>;
  close(): Promise<void>;
}

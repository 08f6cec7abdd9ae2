/**
 * The store: where schedules, deliveries, attempts and profiles live.
 *
 * Reads give domain objects as they were at one moment. Writes take domain objects as they shall be, made
 * by the rules in `domain/` from what was read; each verb is one atomic step, guarded by `revision`: a row
 * is replaced only if it still has the revision it was read with. A guard that fails answers `stale`, the
 * whole verb changes nothing, and the caller reads again and decides again. So whoever claims, cancels,
 * moves or pauses first wins, and the rules stay out of SQL.
 *
 * A write that carries a receipt stores it in the same step: an idempotent request has its effect and its
 * finished answer, or neither.
 */
import type { Attempt, Delivery, DeliveryStatus } from '#src/domain/delivery.ts';
import type { Sweep, SweepCursor, UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { EndpointProfile, FiringProfile } from '#src/domain/endpoint-profile.ts';
import type { Gate } from '#src/domain/gate.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Label, Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import type {
  FiringSchedule,
  Schedule,
  ScheduleKind,
  ScheduleState,
  ScheduleView,
} from '#src/domain/schedule.ts';
import type { Advance } from '#src/domain/schedule-lifecycle.ts';
import type { Fence, Slot } from '#src/domain/slot.ts';
import type { TrustedTime } from '#src/domain/trusted-time.ts';

/** The store cannot be reached, is full or is broken. Nothing was changed. */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreUnavailable';
  }
}

/** The finished answer to an idempotent request, kept to be given again. */
export interface Receipt {
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

/** `key_taken`: another request stored a receipt under the same key first. */
export type WriteOutcome = 'done' | 'stale' | 'key_taken';

/** A page of a list, newest first: what lies before the id `before`. */
export interface Page<Id extends string> {
  readonly before: Id | null;
  readonly limit: number;
}

/** A list of large objects is read in parts, each no larger than this: nothing waits long for one of them. */
export const LISTED_BYTES_MAX = 131_072;

/**
 * The first objects of a page. There are fewer than asked for at the end of the list, and where one more would make
 * them larger than `LISTED_BYTES_MAX` together. There is at least one, unless there are none.
 */
export interface Listed<T> {
  readonly items: readonly T[];
  /** Whether the list goes on behind the last of them. */
  readonly hasMore: boolean;
}

export interface ScheduleFilter {
  readonly state: ScheduleState | null;
  readonly kind: ScheduleKind | null;
  /** All must match. */
  readonly labels: Labels;
}

/** One label at most, with any state and kind: an index has each combination. */
export interface ListFilter extends ScheduleFilter {
  readonly labels: readonly [] | readonly [Label];
}

export interface FoundSchedules {
  /** Newest first. */
  readonly found: readonly ScheduleId[];
  /** The search goes on before this id; null when all were looked at. */
  readonly next: ScheduleId | null;
}

export interface DeliveryFilter {
  readonly status: DeliveryStatus | null;
  readonly scheduleId: ScheduleId | null;
  /** Both exclusive. */
  readonly createdAfter: Instant | null;
  readonly createdBefore: Instant | null;
}

export interface ScheduleAddition {
  readonly schedule: Schedule;
  readonly pending: Delivery;
  /** Headers and body, sealed; null when there are none. */
  readonly payload: Uint8Array | null;
  /** The profile the pending delivery was made from: it must still be the same. */
  readonly profile: EndpointProfile | null;
  readonly receipt: Receipt | null;
}

export interface ScheduleReplacement {
  readonly schedule: Schedule;
  readonly pending: Delivery | null;
  /** Carried out as far as one step may take it; the rest is left to `continueSweep`. */
  readonly sweep: Sweep | null;
  readonly receipt: Receipt | null;
}

export interface ReplayAddition {
  readonly delivery: Delivery;
  readonly receipt: Receipt | null;
}

export interface ProfileWrite {
  readonly profile: EndpointProfile;
  /** The static headers, sealed; null when there are none. */
  readonly headers: Uint8Array | null;
  readonly receipt: Receipt | null;
}

export interface ClaimWrite {
  readonly delivery: Delivery;
  readonly attempt: Attempt;
  readonly advanced: Advance | null;
}

export interface SettleWrite {
  readonly delivery: Delivery;
  readonly attempt: Attempt;
  /** The state of the schedule that this was decided under: it must still be the same. */
  readonly decidedUnder: ScheduleState;
  /** The schedule, when the end of its delivery completed it. */
  readonly completed: FiringSchedule | null;
}

/** A waiting delivery that is about to be sent, with what is needed to decide. */
export interface LoadedDelivery {
  readonly delivery: Delivery;
  readonly schedule: FiringSchedule;
  /** The profile as it is now; null for an inline destination. */
  readonly profile: FiringProfile | null;
  /** The gate of its endpoint as it was saved last. */
  readonly gate: Gate | null;
  /** The order to its schedule that is still being carried out. */
  readonly sweep: UnfinishedSweep | null;
}

/** A cursor through the waiting deliveries of one customer, in the order of (dueAt, id). */
export interface CustomerCursor {
  readonly partition: Partition;
  /** The slot that it goes through; null where a store goes through all of them together. */
  readonly slot: Slot | null;
  /** The last delivery that was read. */
  readonly after: Pick<DueDelivery, 'dueAt' | 'id'> | null;
}

/** A page of the due deliveries of several customers. */
export interface CustomersPage {
  readonly due: readonly DueDelivery[];
  /** The cursors behind which there may be more, where they stand now. */
  readonly unfinished: readonly CustomerCursor[];
}

/** What a delivery sends, sealed, as frozen when it was materialized. */
export interface StoredPayload {
  /** Headers and body of the schedule; null when there are none. */
  readonly payload: Uint8Array | null;
  /** Of the profile's version that the delivery names; null for an inline destination. */
  readonly profile: { readonly timeout: string | null; readonly headers: Uint8Array | null } | null;
}

/** A waiting delivery ended without an attempt, and what that does to its schedule. */
export interface EndWrite {
  readonly delivery: Delivery;
  /** The schedule, when the end of its delivery completed it. */
  readonly completed: FiringSchedule | null;
  readonly advanced: Advance | null;
}

/** An attempt that was claimed and has no outcome yet. */
export interface UnsettledAttempt {
  readonly delivery: Delivery;
  readonly attempt: Attempt;
  readonly schedule: FiringSchedule;
}

export interface SavedGate {
  readonly partition: Partition;
  readonly endpoint: EndpointKey;
  /** Null: nothing worth keeping; it is removed. */
  readonly gate: Gate | null;
  readonly savedAt: Instant;
}

/** What retention removes: each with everything that hangs on it. */
export const PRUNABLE = ['deliveries', 'schedules', 'receipts', 'gates'] as const;
export type Prunable = (typeof PRUNABLE)[number];

export interface Store {
  findSchedule(partition: Partition, id: ScheduleId): Promise<ScheduleView | null>;
  listSchedules(
    partition: Partition,
    filter: ListFilter,
    page: Page<ScheduleId>,
  ): Promise<Listed<ScheduleView>>;
  /** The schedules with these ids, newest first. An id that names none is passed over. */
  findSchedules(partition: Partition, ids: readonly ScheduleId[]): Promise<Listed<ScheduleView>>;
  /**
   * Looks for schedules with several labels, which no index has together: those of one label are walked, away from
   * the thread and the connections that fire. It finds at most `limit`, and fewer only where it has walked for a
   * second or has come to the end. A customer has one such walk at a time, and all together have a few; the
   * others wait.
   */
  searchSchedules(
    partition: Partition,
    filter: ScheduleFilter,
    page: Page<ScheduleId>,
  ): Promise<FoundSchedules>;
  addSchedule(addition: ScheduleAddition): Promise<WriteOutcome>;
  replaceSchedule(replacement: ScheduleReplacement): Promise<WriteOutcome>;
  /** What the last order to a schedule has left to do; null when it has reached all deliveries. */
  findSweep(partition: Partition, id: ScheduleId): Promise<UnfinishedSweep | null>;
  /** Unfinished sweeps: the oldest of every partition, then the second of each, and so on. */
  listSweeps(limit: number): Promise<readonly UnfinishedSweep[]>;
  /**
   * Carries out one more piece, after this place or from the beginning. Answers where it has come to; null at the end,
   * and for a sweep whose order is not the last one any more, which changes nothing. One piece is under way at a time;
   * the others wait, and customers take turns.
   */
  continueSweep(unfinished: UnfinishedSweep, after: SweepCursor | null): Promise<SweepCursor | null>;
  /** Headers and body of a schedule, sealed. */
  findPayload(partition: Partition, id: ScheduleId): Promise<Uint8Array | null>;

  findDelivery(partition: Partition, id: DeliveryId): Promise<Delivery | null>;
  listDeliveries(
    partition: Partition,
    filter: DeliveryFilter,
    page: Page<DeliveryId>,
  ): Promise<readonly Delivery[]>;
  addReplay(addition: ReplayAddition): Promise<WriteOutcome>;
  /** In the order of `attemptNo`, after the given one. */
  listAttempts(
    partition: Partition,
    id: DeliveryId,
    afterAttemptNo: number,
    limit: number,
  ): Promise<readonly Attempt[]>;

  findProfile(partition: Partition, id: EndpointId): Promise<EndpointProfile | null>;
  listProfiles(
    partition: Partition,
    includeArchived: boolean,
    page: Page<EndpointId>,
  ): Promise<Listed<EndpointProfile>>;
  /** The static headers of one version of a profile, sealed. */
  findProfileHeaders(partition: Partition, id: EndpointId, version: number): Promise<Uint8Array | null>;
  addProfile(addition: ProfileWrite): Promise<WriteOutcome>;
  replaceProfile(replacement: ProfileWrite): Promise<WriteOutcome>;
  /** `in_use`: an active or paused schedule refers to it. */
  archiveProfile(profile: EndpointProfile): Promise<'done' | 'stale' | 'in_use'>;

  /** The receipt under a key, unless it has expired. */
  findReceipt(partition: Partition, key: string, now: Instant): Promise<Receipt | null>;
  /** Keeps the answer of a request that changed nothing. */
  addReceipt(partition: Partition, receipt: Receipt): Promise<'done' | 'key_taken'>;

  /**
   * A batch, each item for itself: done or stale; when the store fails, none. Under a fence, an item whose slot
   * is not held in that epoch any more is stale. So is the claim of a delivery that an unfinished sweep will change.
   */
  claim(writes: readonly ClaimWrite[], fence?: Fence): Promise<readonly ('done' | 'stale')[]>;
  settle(writes: readonly SettleWrite[]): Promise<readonly ('done' | 'stale')[]>;
  endUnsent(writes: readonly EndWrite[], fence?: Fence): Promise<readonly ('done' | 'stale')[]>;
  /** Deliveries whose due instant was moved by the gate. */
  defer(deliveries: readonly Delivery[], fence?: Fence): Promise<readonly ('done' | 'stale')[]>;

  /**
   * Waiting deliveries of every partition in the order of (dueAt, id): after `after`, due at `until` at the
   * latest; of these slots only, where they are given.
   */
  listDue(
    after: Pick<DueDelivery, 'dueAt' | 'id'> | null,
    until: Instant,
    limit: number,
    slots?: ReadonlySet<Slot>,
  ): Promise<readonly DueDelivery[]>;
  /**
   * A cursor at its beginning for each customer who has a waiting delivery, however many deliveries each has; some stores
   * give one for each slot of a customer. In a fixed order, after `after`; fewer than `limit` at the end.
   */
  listWaitingCustomers(
    after: CustomerCursor | null,
    limit: number,
    slots?: ReadonlySet<Slot>,
  ): Promise<readonly CustomerCursor[]>;
  /** From each cursor on, at most `limitEach` deliveries that are due at `until` at the latest. */
  listDueOfCustomers(
    cursors: readonly CustomerCursor[],
    until: Instant,
    limitEach: number,
    slots?: ReadonlySet<Slot>,
  ): Promise<CustomersPage>;
  /** In the order asked for; null for a delivery that is gone. Each is of one moment. */
  loadDeliveries(
    deliveries: readonly Pick<DueDelivery, 'partition' | 'id'>[],
  ): Promise<readonly (LoadedDelivery | null)[]>;
  /** In the order asked for. */
  loadPayloads(deliveries: readonly Delivery[]): Promise<readonly StoredPayload[]>;
  /** Claims of nodes that are not among the living. */
  listLostClaims(livingNodes: readonly string[], limit: number): Promise<readonly UnsettledAttempt[]>;
  /** Carried out before any claim that is asked for later. Under a fence, gates of slots not held are left as they are. */
  saveGates(gates: readonly SavedGate[], fence?: Fence): Promise<void>;

  /**
   * Removes at most `limit` of what ended before: deliveries finalized, schedules ended that have no delivery
   * left, receipts expired, gates saved last. Answers how many it looked at: fewer than `limit`, and there is
   * no more for now.
   */
  prune(what: Prunable, before: Instant, limit: number): Promise<number>;
  /** What the clock showed when it was looked at last, and how far it is believed; null when nobody has looked. */
  findTrustedTime(): Promise<TrustedTime | null>;
  saveTrustedTime(trusted: TrustedTime): Promise<void>;

  /** Resolves when a write could be made durable. */
  check(now: Instant): Promise<void>;
  close(): Promise<void>;
}

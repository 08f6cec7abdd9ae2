/**
 * The lifecycle of a delivery. DELIVERY_TRANSITIONS is the complete table of its moves. The functions below are the
 * only way from one state of a delivery to the next, and each of them uses the table. Stores write their results,
 * guarded by `revision`, and never repeat a transition in SQL.
 *
 *   scheduled ──claim──▶ claimed ──succeed──▶ succeeded
 *       ▲                  │  ├──fail──▶ dead_letter     (3xx, blocked, forbidden header, attempts used up)
 *       │                  │  ├──expire──▶ expired       (the retry would start past the deadline)
 *   paused ◀──park──       │  └──abandon──▶ canceled     (its schedule was canceled meanwhile)
 *                          └──retry──▶ retry_scheduled ──claim──▶ claimed …
 */
import {
  type AttemptTiming,
  attemptInFlight,
  type Claim,
  type Delivery,
  type DeliveryStatus,
  type FinishedAttempt,
  type InFlightDelivery,
  type Target,
} from './delivery.ts';
import { durationMs } from './duration.ts';
import { endpointKeyOf } from './endpoint-key.ts';
import type { AttemptId, DeliveryId, ScheduleId } from './id.ts';
import { type Instant, instant } from './instant.ts';
import type { ActiveNotify } from './notify.ts';
import type { Partition } from './project.ts';
import { type RetryPolicy, retryDueAt } from './retry.ts';
import type { Schedule } from './schedule.ts';

export type DeliveryEvent =
  | 'claim'
  | 'succeed'
  | 'retry'
  | 'fail'
  | 'expire'
  | 'abandon'
  | 'park'
  | 'pause'
  | 'resume'
  | 'resume_retry'
  | 'cancel';

type Moves = Readonly<Partial<Record<DeliveryEvent, DeliveryStatus>>>;

export const DELIVERY_TRANSITIONS: Readonly<Record<DeliveryStatus, Moves>> = {
  scheduled: {
    claim: 'claimed',
    expire: 'expired',
    fail: 'dead_letter',
    pause: 'paused',
    cancel: 'canceled',
  },
  claimed: {
    succeed: 'succeeded',
    retry: 'retry_scheduled',
    fail: 'dead_letter',
    expire: 'expired',
    abandon: 'canceled',
    park: 'paused',
  },
  retry_scheduled: {
    claim: 'claimed',
    expire: 'expired',
    fail: 'dead_letter',
    pause: 'paused',
    cancel: 'canceled',
  },
  paused: { resume: 'scheduled', resume_retry: 'retry_scheduled', expire: 'expired', cancel: 'canceled' },
  succeeded: {},
  dead_letter: {},
  expired: {},
  canceled: {},
};

const TERMINAL = statusesWhere((moves) => Object.keys(moves).length === 0);
const REPLAYABLE: ReadonlySet<DeliveryStatus> = new Set(['succeeded', 'dead_letter', 'expired']);

/** A first attempt that starts this soon after its instant is made even when its ttl is shorter. */
export const FIRST_ATTEMPT_GRACE_MS = 300;

export function isTerminal(status: DeliveryStatus): boolean {
  return TERMINAL.has(status);
}

export function isReplayable(status: DeliveryStatus): boolean {
  return REPLAYABLE.has(status);
}

/** Returns true for a delivery that the API may still change: it waits for its instant or a retry, or is paused. */
export function isPending(status: DeliveryStatus): boolean {
  return DELIVERY_TRANSITIONS[status].cancel !== undefined;
}

/** Returns true for a delivery that waits to be sent. Scans for due deliveries find only these. */
export function isWaiting(status: DeliveryStatus): boolean {
  return DELIVERY_TRANSITIONS[status].claim !== undefined;
}

export const WAITING_STATUSES: readonly DeliveryStatus[] = [
  ...statusesWhere((moves) => moves.claim !== undefined),
];

function statusesWhere(test: (moves: Moves) => boolean): ReadonlySet<DeliveryStatus> {
  const found = Object.entries(DELIVERY_TRANSITIONS).filter(([, moves]) => test(moves));
  return new Set(found.map(([status]) => status as DeliveryStatus));
}

type Changes = Partial<Pick<Delivery, 'dueAt' | 'attemptCount' | 'lastStatusCode' | 'error' | 'claim'>>;

/** Returns the delivery after `event`, with `changes`. An event that the table does not have is a bug of the caller. */
function transition(delivery: Delivery, event: DeliveryEvent, now: Instant, changes: Changes = {}): Delivery {
  const { dueAt = delivery.dueAt, attemptCount = delivery.attemptCount, claim = delivery.claim } = changes;
  const { lastStatusCode = delivery.lastStatusCode, error = delivery.error } = changes;
  const status = DELIVERY_TRANSITIONS[delivery.status][event];
  if (status === undefined) throw new Error(`A ${delivery.status} delivery cannot ${event}.`);
  const isOver = isTerminal(status);
  return {
    ...delivery,
    status,
    dueAt: isOver ? null : dueAt,
    reserved: false,
    attemptCount,
    lastStatusCode,
    error,
    claim: status === 'claimed' ? claim : null,
    finalizedAt: isOver ? now : delivery.finalizedAt,
    revision: delivery.revision + 1,
  };
}

export function deadlineOf(scheduledFor: Instant, ttl: string | null): Instant | null {
  return ttl === null ? null : instant(scheduledFor + (durationMs(ttl) ?? 0));
}

export interface Materialization {
  readonly partition: Partition;
  readonly id: DeliveryId;
  /** Null for a notification. */
  readonly scheduleId: ScheduleId | null;
  /** Null for a delivery that was triggered, and for a notification. */
  readonly occurrence: Instant | null;
  readonly scheduledFor: Instant;
  readonly ttl: string | null;
  readonly idempotencyKey: string;
  readonly notify: ActiveNotify | null;
  readonly target: Target;
  readonly payloadBytes: number;
  readonly payloadVersion: number;
  readonly retryPolicy: RetryPolicy;
  readonly createdAt: Instant;
}

export function materialize(given: Materialization): Delivery {
  return {
    ...given,
    movedFrom: null,
    status: 'scheduled',
    dueAt: given.scheduledFor,
    reserved: false,
    deadline: deadlineOf(given.scheduledFor, given.ttl),
    attemptCount: 0,
    lastStatusCode: null,
    error: null,
    replayOf: null,
    notificationOf: null,
    claim: null,
    finalizedAt: null,
    revision: 1,
  };
}

/** Creates a new delivery from a finished one. It has the same snapshot and key, is due now and has a new deadline. */
export function replay(original: Delivery, id: DeliveryId, now: Instant): Delivery {
  return {
    ...materialize({ ...original, id, scheduledFor: now, createdAt: now }),
    movedFrom: original.movedFrom,
    replayOf: original.id,
    notificationOf: original.notificationOf,
  };
}

/** Moves a pending delivery to another instant. Its attempts are kept, and its deadline is computed again. */
export function move(
  delivery: Delivery,
  to: {
    readonly occurrence: Instant | null;
    readonly movedFrom: Instant | null;
    readonly scheduledFor: Instant;
    readonly idempotencyKey: string;
  },
): Delivery {
  return {
    ...delivery,
    occurrence: to.occurrence,
    movedFrom: to.movedFrom,
    scheduledFor: to.scheduledFor,
    dueAt: to.scheduledFor,
    reserved: false,
    deadline: deadlineOf(to.scheduledFor, delivery.ttl),
    // Receivers deduplicate by the key, so it stays once an attempt has carried it.
    idempotencyKey: delivery.attemptCount === 0 ? to.idempotencyKey : delivery.idempotencyKey,
    revision: delivery.revision + 1,
  };
}

/**
 * Applies an edit of the schedule to a delivery that is still pending. When the edit changes the endpoint, a
 * reservation or deferral by the gate of the old endpoint no longer applies.
 */
export function applyEdit(
  delivery: Delivery,
  to: Pick<Delivery, 'target' | 'ttl' | 'retryPolicy' | 'notify'>,
): Delivery {
  const isElsewhere = endpointKeyOf(to.target) !== endpointKeyOf(delivery.target);
  return {
    ...delivery,
    ...to,
    reserved: delivery.reserved && !isElsewhere,
    dueAt: isElsewhere && delivery.attemptCount === 0 ? delivery.scheduledFor : delivery.dueAt,
    deadline: deadlineOf(delivery.scheduledFor, to.ttl),
    revision: delivery.revision + 1,
  };
}

export function pause(delivery: Delivery, now: Instant): Delivery {
  return transition(delivery, 'pause', now);
}

/** Makes the delivery wait again, or expires it. It is due at once when its instant has passed. */
export function resume(delivery: Delivery, now: Instant): Delivery {
  return canStart(delivery, now) === 'expired' ? transition(delivery, 'expire', now) : unpause(delivery, now);
}

/** Makes the delivery wait again, without a check of its deadline. */
export function unpause(delivery: Delivery, now: Instant): Delivery {
  return transition(delivery, delivery.attemptCount === 0 ? 'resume' : 'resume_retry', now);
}

export function cancel(delivery: Delivery, now: Instant): Delivery {
  return transition(delivery, 'cancel', now);
}

export type SweepAction = 'pause' | 'resume' | 'cancel';

/**
 * The changes that a pause, resume or cancel of a schedule makes to each of its other deliveries. They depend on
 * whether the delivery has been attempted.
 */
export interface Sweep {
  readonly action: SweepAction;
  readonly requestedAt: Instant;
  readonly from: readonly DeliveryStatus[];
  readonly unattemptedTo: DeliveryStatus;
  readonly attemptedTo: DeliveryStatus;
  readonly finalizedAt: Instant | null;
}

export function sweep(action: SweepAction, requestedAt: Instant): Sweep {
  const from = [...statusesWhere((moves) => moves[action] !== undefined)];
  const unattemptedTo = from
    .map((status) => DELIVERY_TRANSITIONS[status][action])
    .find((to) => to !== undefined);
  if (unattemptedTo === undefined) throw new Error(`No delivery can ${action}.`);
  const attemptedTo = action === 'resume' ? 'retry_scheduled' : unattemptedTo;
  const finalizedAt = isTerminal(unattemptedTo) ? requestedAt : null;
  return { action, requestedAt, from, unattemptedTo, attemptedTo, finalizedAt };
}

/**
 * A sweep that has not reached all deliveries of its schedule yet. A sweep is carried out in pieces, and this is stored
 * until the last piece. The next action on the schedule replaces it, because only the last action decides about a
 * delivery.
 */
export interface UnfinishedSweep extends Pick<Sweep, 'action' | 'requestedAt'> {
  readonly partition: Partition;
  readonly scheduleId: ScheduleId;
  /** The sweep ends with this id. Later deliveries are replays that were created after the action. */
  readonly lastId: DeliveryId;
}

/** The position of a sweep. It goes from status to status, and through each in the order of ids. */
export interface SweepCursor {
  readonly status: DeliveryStatus;
  readonly id: DeliveryId;
}

/** Returns true when an unfinished sweep will still change this delivery. Such a delivery must not be sent. */
export function isSweepPending({ id, status }: Delivery, unfinished: UnfinishedSweep | null): boolean {
  if (unfinished === null || id > unfinished.lastId) return false;
  return DELIVERY_TRANSITIONS[status][unfinished.action] !== undefined;
}

/** Returns whether the deadline and the number of attempts allow an attempt at `now`. */
export function canStart(delivery: Delivery, now: Instant): 'yes' | 'expired' | 'exhausted' {
  const isLate = delivery.deadline !== null && now > delivery.deadline;
  const isPunctual = delivery.attemptCount === 0 && now <= delivery.scheduledFor + FIRST_ATTEMPT_GRACE_MS;
  if (delivery.attemptCount >= delivery.retryPolicy.maxAttempts) return 'exhausted';
  return isLate && !isPunctual ? 'expired' : 'yes';
}

/** Claims a due delivery for the attempt that is about to be made. */
export function claim(
  delivery: Delivery,
  node: string,
  attemptId: AttemptId,
  now: Instant,
): InFlightDelivery {
  const by: Claim = { node, attemptId, dueAt: delivery.dueAt ?? now, firedAt: now };
  const changes = { claim: by, attemptCount: delivery.attemptCount + 1, dueAt: null };
  return { ...transition(delivery, 'claim', now, changes), claim: by };
}

/** Ends a waiting delivery without an attempt: its deadline passed, or no further attempt is allowed. */
export function endUnsent(delivery: Delivery, why: 'expired' | 'exhausted', now: Instant): Delivery {
  return why === 'expired' ? transition(delivery, 'expire', now) : transition(delivery, 'fail', now);
}

/** The gate defers the delivery, with or without a reserved token. Nothing else changes. */
export function defer(delivery: Delivery, until: Instant, reserved: boolean): Delivery {
  return { ...delivery, dueAt: until, reserved, revision: delivery.revision + 1 };
}

/**
 * Returns true when the gate deferred the delivery to its due instant, without a reservation. `lastEndedAt` is the end
 * of its last attempt, from which the instant of a retry is computed.
 */
export function isDeferred(delivery: Delivery, lastEndedAt: Instant | null): boolean {
  const { dueAt, reserved, attemptCount, scheduledFor, retryPolicy } = delivery;
  if (dueAt === null || reserved || !isWaiting(delivery.status)) return false;
  if (attemptCount === 0 || lastEndedAt === null) return dueAt !== scheduledFor;
  return dueAt !== retryDueAt(retryPolicy, attemptCount, lastEndedAt);
}

export type AttemptResult =
  | { readonly outcome: 'success'; readonly statusCode: number }
  | {
      readonly outcome: 'retryable' | 'terminal';
      readonly statusCode: number | null;
      readonly error: string;
    };

/** The state of the schedule of a delivery. A notification has none. */
type ScheduleEnd = Pick<Schedule, 'state' | 'endedAt'>;

/** Ends an attempt and moves its delivery. A pause or cancel of the schedule in the meantime takes effect here. */
export function settle(
  delivery: InFlightDelivery,
  result: AttemptResult,
  schedule: ScheduleEnd | null,
  now: Instant,
  timing: AttemptTiming | null = null,
): { readonly delivery: Delivery; readonly attempt: FinishedAttempt } {
  const error = result.outcome === 'success' ? null : result.error;
  const attempt: FinishedAttempt = {
    ...attemptInFlight(delivery),
    outcome: result.outcome,
    statusCode: result.statusCode,
    finishedAt: now,
    egressMs: Math.max(now - delivery.claim.firedAt, 0),
    error,
    timing,
  };
  const { retryPolicy } = delivery;
  const dueAt = result.outcome === 'retryable' ? retryDueAt(retryPolicy, attempt.attemptNo, now) : null;
  const event = settling(delivery, attempt.attemptNo, result, schedule, dueAt);
  return {
    attempt,
    delivery: transition(delivery, event, now, {
      lastStatusCode: result.statusCode ?? delivery.lastStatusCode,
      error,
      dueAt,
    }),
  };
}

function settling(
  delivery: Delivery,
  attemptNo: number,
  result: AttemptResult,
  schedule: ScheduleEnd | null,
  retryAt: Instant | null,
): DeliveryEvent {
  if (result.outcome === 'success') return 'succeed';
  if (result.outcome === 'terminal') return 'fail';
  if (attemptNo >= delivery.retryPolicy.maxAttempts) return 'fail';
  if (wasCanceled(delivery, schedule)) return 'abandon';
  if (delivery.deadline !== null && (retryAt ?? 0) > delivery.deadline) return 'expire';
  return schedule?.state === 'paused' ? 'park' : 'retry';
}

/** A cancel does not apply to a replay that was created after it. */
function wasCanceled(delivery: Delivery, schedule: ScheduleEnd | null): boolean {
  if (schedule?.state !== 'canceled') return false;
  return delivery.replayOf === null || (schedule.endedAt ?? 0) >= delivery.createdAt;
}

/**
 * The life of a delivery, once. LIFE is the whole table of moves; the functions below are the only way
 * from one delivery to the next, and each asks the table. Stores write what comes out of them, guarded
 * by `revision`; nobody repeats a transition in SQL.
 *
 *   scheduled ──claim──▶ claimed ──succeed──▶ succeeded
 *       ▲                  │  ├──fail──▶ dead_letter     (3xx, blocked, forbidden header, attempts used up)
 *       │                  │  ├──expire──▶ expired       (the retry would start past the deadline)
 *   paused ◀──park──       │  └──abandon──▶ canceled     (its schedule was canceled meanwhile)
 *                          └──retry──▶ retry_scheduled ──claim──▶ claimed …
 */
import type { Attempt, Claim, Delivery, DeliveryStatus, Target } from './delivery.ts';
import { durationMs } from './duration.ts';
import { endpointKeyOf } from './endpoint-key.ts';
import type { AttemptId, DeliveryId, ScheduleId } from './id.ts';
import { type Instant, instant } from './instant.ts';
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

/** A first attempt that starts this soon after its instant is made whatever its ttl. */
export const FIRST_ATTEMPT_GRACE_MS = 300;

export function isTerminal(status: DeliveryStatus): boolean {
  return TERMINAL.has(status);
}

export function isReplayable(status: DeliveryStatus): boolean {
  return REPLAYABLE.has(status);
}

/** Waiting for its instant or for a retry, or held by a pause: everything the API may still change. */
export function isPending(status: DeliveryStatus): boolean {
  return DELIVERY_TRANSITIONS[status].cancel !== undefined;
}

/** Waiting to be sent, and found by the look-ahead. */
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

/** The same delivery after `event`, with `changes`. An event the table does not have is a bug of the caller. */
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
  readonly scheduleId: ScheduleId;
  readonly occurrence: Instant;
  readonly scheduledFor: Instant;
  readonly ttl: string | null;
  readonly idempotencyKey: string;
  readonly target: Target;
  readonly payloadBytes: number;
  readonly retryPolicy: RetryPolicy;
  readonly createdAt: Instant;
}

export function materialize(given: Materialization): Delivery {
  return {
    ...given,
    status: 'scheduled',
    dueAt: given.scheduledFor,
    reserved: false,
    deadline: deadlineOf(given.scheduledFor, given.ttl),
    attemptCount: 0,
    lastStatusCode: null,
    error: null,
    replayOf: null,
    claim: null,
    finalizedAt: null,
    revision: 1,
  };
}

/** A new delivery from a finished one: the same snapshot and key, due now, its deadline counted anew. */
export function replay(original: Delivery, id: DeliveryId, now: Instant): Delivery {
  return {
    ...materialize({ ...original, id, scheduledFor: now, createdAt: now }),
    replayOf: original.id,
  };
}

/** Moves a pending delivery to another instant; attempts are kept, the deadline is counted anew. */
export function move(
  delivery: Delivery,
  to: { readonly occurrence: Instant; readonly scheduledFor: Instant; readonly idempotencyKey: string },
): Delivery {
  return {
    ...delivery,
    occurrence: to.occurrence,
    scheduledFor: to.scheduledFor,
    dueAt: to.scheduledFor,
    reserved: false,
    deadline: deadlineOf(to.scheduledFor, delivery.ttl),
    // Receivers deduplicate on the key: once one attempt has carried it, it stays.
    idempotencyKey: delivery.attemptCount === 0 ? to.idempotencyKey : delivery.idempotencyKey,
    revision: delivery.revision + 1,
  };
}

/**
 * What an edit of the schedule changes in a delivery that is still pending. Sent to another endpoint, it leaves
 * behind what the gate of the old one had made of it.
 */
export function applyEdit(
  delivery: Delivery,
  to: { readonly target: Target; readonly ttl: string | null; readonly retryPolicy: RetryPolicy },
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

/** Back to waiting, or expired. An instant that passed meanwhile is due at once. */
export function resume(delivery: Delivery, now: Instant): Delivery {
  return canStart(delivery, now) === 'expired' ? transition(delivery, 'expire', now) : unpause(delivery, now);
}

/** Back to waiting, whatever its deadline. */
export function unpause(delivery: Delivery, now: Instant): Delivery {
  return transition(delivery, delivery.attemptCount === 0 ? 'resume' : 'resume_retry', now);
}

export function cancel(delivery: Delivery, now: Instant): Delivery {
  return transition(delivery, 'cancel', now);
}

export type SweepAction = 'pause' | 'resume' | 'cancel';

/** What a pause, resume or cancel of a schedule does to every other delivery of it, untried or tried before. */
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
 * An action that has not reached all deliveries of its schedule yet. A sweep is carried out in pieces; until the last
 * of them, this is stored. The next action to the schedule takes its place: what becomes of a delivery depends on the
 * last action alone.
 */
export interface UnfinishedSweep extends Pick<Sweep, 'action' | 'requestedAt'> {
  readonly partition: Partition;
  readonly scheduleId: ScheduleId;
  /** Deliveries up to this id are meant. Later ones are replays that were made after the action. */
  readonly lastId: DeliveryId;
}

/** How far a sweep has come: deliveries are walked status by status, in the order of their ids. */
export interface SweepCursor {
  readonly status: DeliveryStatus;
  readonly id: DeliveryId;
}

/** Whether an action was given that changes this delivery, and has not reached it yet. It must not be sent then. */
export function isSweepPending({ id, status }: Delivery, unfinished: UnfinishedSweep | null): boolean {
  if (unfinished === null || id > unfinished.lastId) return false;
  return DELIVERY_TRANSITIONS[status][unfinished.action] !== undefined;
}

/** Whether a pending delivery may be tried at `now`: the deadline and the attempts decide. */
export function canStart(delivery: Delivery, now: Instant): 'yes' | 'expired' | 'exhausted' {
  const isLate = delivery.deadline !== null && now > delivery.deadline;
  const isPunctual = delivery.attemptCount === 0 && now <= delivery.scheduledFor + FIRST_ATTEMPT_GRACE_MS;
  if (delivery.attemptCount >= delivery.retryPolicy.maxAttempts) return 'exhausted';
  return isLate && !isPunctual ? 'expired' : 'yes';
}

/** Takes a due delivery for sending: the delivery, and the row of the attempt that is about to be made. */
export function claim(
  delivery: Delivery,
  by: Claim,
  attemptId: AttemptId,
  now: Instant,
): { readonly delivery: Delivery; readonly attempt: Attempt } {
  const attemptNo = delivery.attemptCount + 1;
  return {
    delivery: transition(delivery, 'claim', now, { claim: by, attemptCount: attemptNo, dueAt: null }),
    attempt: {
      partition: delivery.partition,
      id: attemptId,
      deliveryId: delivery.id,
      attemptNo,
      outcome: 'retryable',
      statusCode: null,
      dueAt: delivery.dueAt ?? now,
      firedAt: now,
      finishedAt: null,
      egressMs: null,
      error: null,
      timing: null,
    },
  };
}

/** Ends a waiting delivery without an attempt: its deadline passed, or no retry can ever be made. */
export function endUnsent(delivery: Delivery, why: 'expired' | 'exhausted', now: Instant): Delivery {
  return why === 'expired' ? transition(delivery, 'expire', now) : transition(delivery, 'fail', now);
}

/** The gate defers the delivery, with or without a reserved token. Nothing else changes. */
export function defer(delivery: Delivery, until: Instant, reserved: boolean): Delivery {
  return { ...delivery, dueAt: until, reserved, revision: delivery.revision + 1 };
}

/**
 * Whether it was deferred to when it is due, given when its last attempt ended; else it was meant to be tried then. One
 * whose token is reserved waits for that.
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

/** Closes an attempt and moves its delivery. What was ordered of the schedule meanwhile counts. */
export function settle(
  delivery: Delivery,
  attempt: Attempt,
  result: AttemptResult,
  schedule: Pick<Schedule, 'state' | 'endedAt'>,
  now: Instant,
): { readonly delivery: Delivery; readonly attempt: Attempt } {
  const error = result.outcome === 'success' ? null : result.error;
  const closed: Attempt = {
    ...attempt,
    outcome: result.outcome,
    statusCode: result.statusCode,
    finishedAt: now,
    egressMs: Math.max(now - attempt.firedAt, 0),
    error,
  };
  const { retryPolicy } = delivery;
  const dueAt = result.outcome === 'retryable' ? retryDueAt(retryPolicy, attempt.attemptNo, now) : null;
  const event = settling(delivery, attempt.attemptNo, result, schedule, dueAt);
  return {
    attempt: closed,
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
  schedule: Pick<Schedule, 'state' | 'endedAt'>,
  retryAt: Instant | null,
): DeliveryEvent {
  if (result.outcome === 'success') return 'succeed';
  if (result.outcome === 'terminal') return 'fail';
  if (attemptNo >= delivery.retryPolicy.maxAttempts) return 'fail';
  if (wasCanceled(delivery, schedule)) return 'abandon';
  if (delivery.deadline !== null && (retryAt ?? 0) > delivery.deadline) return 'expire';
  return schedule.state === 'paused' ? 'park' : 'retry';
}

/** A replay made of a schedule that had been canceled before is not touched by that cancel. */
function wasCanceled(delivery: Delivery, schedule: Pick<Schedule, 'state' | 'endedAt'>): boolean {
  if (schedule.state !== 'canceled') return false;
  return delivery.replayOf === null || (schedule.endedAt ?? 0) >= delivery.createdAt;
}

/** Says why a delivery is not sent yet, and until when. It follows what was stored: its own row, its gate, its sweep. */
import { stateOf } from './breaker.ts';
import type { Delivery } from './delivery.ts';
import { isSweepPending, isWaiting, type UnfinishedSweep } from './delivery-lifecycle.ts';
import type { Gate } from './gate.ts';
import type { Instant } from './instant.ts';
import { NOTIFICATIONS_PER_SECOND } from './notification.ts';
import type { FiringSchedule } from './schedule.ts';
import type { WaitReason } from './wait-reasons.ts';

export interface Wait {
  readonly reason: WaitReason;
  /** Null if it is not known. */
  readonly until: Instant | null;
}

export interface WaitingDelivery {
  readonly delivery: Delivery;
  readonly schedule: Pick<FiringSchedule, 'rateLimit'> | null;
  /** The gate of its endpoint as it was saved last. */
  readonly gate: Gate | null;
  readonly sweep: UnfinishedSweep | null;
}

/** Null for a delivery that is in flight or has ended. */
export function waitOf({ delivery, schedule, gate, sweep }: WaitingDelivery, now: Instant): Wait | null {
  const { status, dueAt } = delivery;
  if (isSweepPending(delivery, sweep)) return { reason: 'schedule_changing', until: null };
  if (status === 'paused') return { reason: 'schedule_paused', until: null };
  if (!isWaiting(status) || dueAt === null) return null;
  const breakerWait = waitForBreaker(gate, now);
  // A delivery that is due after the window of the breaker does not wait for the breaker.
  if (breakerWait !== null && dueAt <= (breakerWait.until ?? now)) return breakerWait;
  if (dueAt <= now) return { reason: 'in_queue', until: null };
  if (delivery.reserved) return { reason: limitOf(delivery, schedule), until: dueAt };
  if (status === 'retry_scheduled') return { reason: 'backoff', until: dueAt };
  return { reason: dueAt > delivery.scheduledFor ? 'deferred' : 'not_due', until: dueAt };
}

function waitForBreaker(gate: Gate | null, now: Instant): Wait | null {
  if (gate === null) return null;
  const { openUntil, probeUntil } = gate.breaker;
  if (stateOf(gate.breaker, now) === 'open') return { reason: 'breaker_open', until: openUntil };
  return probeUntil !== null && now < probeUntil ? { reason: 'probe_in_flight', until: probeUntil } : null;
}

/** First attempts take no token of the retry budget. */
function limitOf(
  { attemptCount, notificationOf }: Pick<Delivery, 'attemptCount' | 'notificationOf'>,
  schedule: WaitingDelivery['schedule'],
): WaitReason {
  if (attemptCount === 0) return 'rate_limit';
  const ofSchedule = schedule?.rateLimit?.perSecond ?? 0;
  const perSecond = notificationOf === null ? ofSchedule : NOTIFICATIONS_PER_SECOND;
  return perSecond === 0 ? 'retry_budget' : 'rate_limit_or_retry_budget';
}

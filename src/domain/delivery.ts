import type { Method } from './destination.ts';
import type { AttemptId, DeliveryId, EndpointId, ScheduleId } from './id.ts';
import type { Instant } from './instant.ts';
import type { ActiveNotify } from './notify.ts';
import type { Partition } from './project.ts';
import type { RetryPolicy } from './retry.ts';

export const DELIVERY_STATUSES = [
  'scheduled',
  'claimed',
  'retry_scheduled',
  'succeeded',
  'dead_letter',
  'expired',
  'paused',
  'canceled',
] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * The destination of a delivery, frozen when the delivery is materialized. Headers and body stay with the version of
 * the schedule's payload and with the version of the endpoint profile. A version never changes.
 */
export interface Target {
  readonly url: string;
  readonly method: Method;
  readonly endpointId: EndpointId | null;
  readonly endpointVersion: number | null;
}

/** The node that sends a delivery, and the facts of the attempt in flight. Its number is `attemptCount`. */
export interface Claim {
  readonly node: string;
  /** The id is also the fencing token: only its holder may settle the attempt. */
  readonly attemptId: AttemptId;
  readonly dueAt: Instant;
  readonly firedAt: Instant;
}

export interface Delivery {
  readonly partition: Partition;
  readonly id: DeliveryId;
  /** Null for a notification. */
  readonly scheduleId: ScheduleId | null;
  readonly status: DeliveryStatus;
  /**
   * The nominal instant, which identifies the occurrence within its schedule. Each is after the last one, except for
   * replays. Null for a delivery that was triggered, and for a notification.
   */
  readonly occurrence: Instant | null;
  /** The instant of the recurrence that the next occurrence was moved away from. */
  readonly movedFrom: Instant | null;
  readonly scheduledFor: Instant;
  /** The earliest start of the next attempt. It is kept while paused, and null while claimed and once terminal. */
  readonly dueAt: Instant | null;
  /** True when a token of the endpoint's gate is reserved for `dueAt`. */
  readonly reserved: boolean;
  readonly ttl: string | null;
  readonly deadline: Instant | null;
  readonly attemptCount: number;
  readonly lastStatusCode: number | null;
  readonly error: string | null;
  readonly idempotencyKey: string;
  readonly replayOf: DeliveryId | null;
  /** The endpoint profile that is told how this delivery ends, and the outcomes that are told. */
  readonly notify: ActiveNotify | null;
  /** The delivery of whose end this one tells; null unless this is a notification. */
  readonly notificationOf: DeliveryId | null;
  readonly target: Target;
  /** The size of headers and body in bytes. A larger delivery needs more permits. */
  readonly payloadBytes: number;
  /** The version of the schedule's headers and body. */
  readonly payloadVersion: number;
  readonly retryPolicy: RetryPolicy;
  readonly claim: Claim | null;
  readonly createdAt: Instant;
  readonly finalizedAt: Instant | null;
  /** Increases with every stored change, so that a concurrent write is noticed. */
  readonly revision: number;
}

/**
 * The nominal instant that customers and receivers see: before jitter, and also if the delivery was moved. Null for a
 * delivery that was triggered.
 */
export function nominalInstant({ movedFrom, occurrence }: Pick<Delivery, 'movedFrom' | 'occurrence'>) {
  return movedFrom ?? occurrence;
}

export interface InFlightDelivery extends Delivery {
  readonly claim: Claim;
}

export function isInFlight(delivery: Delivery): delivery is InFlightDelivery {
  return delivery.claim !== null;
}

export const ATTEMPT_OUTCOMES = ['success', 'retryable', 'terminal'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/**
 * One HTTP request. While it is in flight, only the claim of its delivery is stored, before the request is sent. The
 * attempt itself is stored once, when it ends.
 */
export interface Attempt {
  readonly partition: Partition;
  readonly id: AttemptId;
  readonly deliveryId: DeliveryId;
  readonly attemptNo: number;
  readonly outcome: AttemptOutcome;
  readonly statusCode: number | null;
  readonly dueAt: Instant;
  readonly firedAt: Instant;
  /** The endpoint profile of the delivery. */
  readonly endpointId: EndpointId | null;
  /** Null while the attempt is in flight. */
  readonly finishedAt: Instant | null;
  readonly egressMs: number | null;
  readonly error: string | null;
  /** Null while the attempt is in flight, when it was not sent, and when its process died. */
  readonly timing: AttemptTiming | null;
}

export interface FinishedAttempt extends Attempt {
  readonly finishedAt: Instant;
  readonly egressMs: number;
}

/** The course of an attempt, in milliseconds since `firedAt`, the instant of the decision. It ends at `egressMs`. */
export interface AttemptTiming {
  /** The claim was stored. From then on the node was allowed to send. */
  readonly claimedMs: number;
  /** A connection was ready for the request; null when there was none. */
  readonly connectedMs: number | null;
  /** The head of the answer arrived; null when there was no answer. */
  readonly firstByteMs: number | null;
  /** True when the connection was open already, so that the request did not wait for it. */
  readonly wasConnected: boolean;
}

/** The result of an attempt that has none yet. */
export const NO_RESULT = {
  outcome: 'retryable',
  statusCode: null,
  finishedAt: null,
  egressMs: null,
  error: null,
  timing: null,
} as const satisfies Partial<Attempt>;

/** The attempt in flight, from the claim of its delivery. */
export function attemptInFlight({ partition, id, attemptCount, claim, target }: InFlightDelivery): Attempt {
  const { attemptId, dueAt, firedAt } = claim;
  return {
    partition,
    id: attemptId,
    deliveryId: id,
    attemptNo: attemptCount,
    dueAt,
    firedAt,
    endpointId: target.endpointId,
    ...NO_RESULT,
  };
}

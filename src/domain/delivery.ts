import type { Method } from './destination.ts';
import type { AttemptId, DeliveryId, EndpointId, ScheduleId } from './id.ts';
import type { Instant } from './instant.ts';
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

/** Where a delivery goes, frozen when it is materialized. Headers and body stay with the schedule and
 * the profile version, which never change once written. */
export interface Target {
  readonly url: string;
  readonly method: Method;
  readonly endpointId: EndpointId | null;
  readonly endpointVersion: number | null;
}

/** Who is sending: the node, and the fencing token that its settling must name. */
export interface Claim {
  readonly node: string;
  readonly token: string;
}

export interface Delivery {
  readonly partition: Partition;
  readonly id: DeliveryId;
  readonly scheduleId: ScheduleId;
  readonly status: DeliveryStatus;
  /** Its nominal instant, which tells the occurrences of a schedule apart: replays aside, each lies after the last. */
  readonly occurrence: Instant;
  readonly scheduledFor: Instant;
  /** When the next attempt may start. Kept while paused; null while claimed and once terminal. */
  readonly dueAt: Instant | null;
  /** Whether a token of its endpoint's gate is reserved for `dueAt`. */
  readonly reserved: boolean;
  readonly ttl: string | null;
  readonly deadline: Instant | null;
  readonly attemptCount: number;
  readonly lastStatusCode: number | null;
  readonly error: string | null;
  readonly idempotencyKey: string;
  readonly replayOf: DeliveryId | null;
  readonly target: Target;
  /** The size of what it sends, in bytes. Its permits are counted by it. */
  readonly payloadBytes: number;
  readonly retryPolicy: RetryPolicy;
  readonly claim: Claim | null;
  readonly createdAt: Instant;
  readonly finalizedAt: Instant | null;
  /** Rises with every stored change: what a concurrent writer is checked against. */
  readonly revision: number;
}

export const ATTEMPT_OUTCOMES = ['success', 'retryable', 'terminal'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** One HTTP attempt. Written before the request goes out: `finishedAt` is null while it is under way. */
export interface Attempt {
  readonly partition: Partition;
  readonly id: AttemptId;
  readonly deliveryId: DeliveryId;
  readonly attemptNo: number;
  readonly outcome: AttemptOutcome;
  readonly statusCode: number | null;
  readonly dueAt: Instant;
  readonly firedAt: Instant;
  readonly finishedAt: Instant | null;
  readonly egressMs: number | null;
  readonly error: string | null;
  /** Null while it is under way, and of one that was not sent, or whose process died. */
  readonly timing: AttemptTiming | null;
}

/** How an attempt went, in milliseconds from `firedAt`, when it was decided on; its end is `egressMs`. */
export interface AttemptTiming {
  /** The claim was stored: from then on the attempt was ours to make, and the request was on its way out. */
  readonly claimedMs: number;
  /** There was a connection to write the request on; null where it did not come to that. */
  readonly connectedMs: number | null;
  /** The head of the answer came; null where it did not. */
  readonly firstByteMs: number | null;
  /** Whether that connection was open before: then it was not waited for. */
  readonly wasConnected: boolean;
}

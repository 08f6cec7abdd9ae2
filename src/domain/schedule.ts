import type { Delivery } from './delivery.ts';
import { DEFAULT_METHOD, type Method } from './destination.ts';
import type { FiringProfile, RateLimit } from './endpoint-profile.ts';
import type { DeliveryId, EndpointId, ScheduleId } from './id.ts';
import type { Instant } from './instant.ts';
import type { LabelDigest, Labels } from './labels.ts';
import type { Partition } from './project.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from './retry.ts';

export const SCHEDULE_STATES = ['active', 'paused', 'canceled', 'completed'] as const;
export type ScheduleState = (typeof SCHEDULE_STATES)[number];

export const SCHEDULE_KINDS = ['one_shot', 'recurring'] as const;
export type ScheduleKind = (typeof SCHEDULE_KINDS)[number];

/** When a schedule fires: once at a nominal instant, or by a cron expression in a zone. */
export type Timing =
  | { readonly kind: 'one_shot'; readonly fireAt: Instant; readonly timezone: string | null }
  | { readonly kind: 'recurring'; readonly cron: string; readonly timezone: string };

/** Where a schedule delivers: a URL of its own, or whatever its profile says at each materialization. */
export type Destination =
  | { readonly kind: 'inline'; readonly url: string; readonly method: Method }
  | { readonly kind: 'profile'; readonly endpointId: EndpointId };

export interface Schedule {
  readonly partition: Partition;
  readonly id: ScheduleId;
  readonly state: ScheduleState;
  readonly timing: Timing;
  readonly destination: Destination;
  readonly headerNames: readonly string[];
  /** The size of its payload, before it was sealed. */
  readonly payloadBytes: number;
  readonly jitter: string | null;
  readonly ttl: string | null;
  readonly idempotencyKey: string | null;
  /** Null: the profile's, or the defaults. */
  readonly retryPolicy: RetryPolicy | null;
  readonly rateLimit: RateLimit | null;
  readonly metadata: Labels;
  /** The digests of these labels: lists by a label are found by them. */
  readonly labelDigests: readonly LabelDigest[];
  /** The next delivery of a recurring schedule, the only one of a one-shot. */
  readonly pendingId: DeliveryId;
  /** Recurring: the instant of the recurrence that the pending delivery stands for, also when it was moved. */
  readonly cronAt: Instant | null;
  /** The occurrence claimed last: later ones lie after it, whatever happens to the recurrence. */
  readonly lastOccurrence: Instant | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** When it was canceled or completed. */
  readonly endedAt: Instant | null;
  /** Rises with every stored change: what a concurrent writer is checked against. */
  readonly revision: number;
}

/** A schedule without what its customer may make large: firing reads many of them at one time. */
export type FiringSchedule = Omit<Schedule, 'headerNames' | 'metadata'>;

/** What a customer decides when ordering one. */
export type ScheduleTerms = Pick<
  Schedule,
  'timing' | 'destination' | 'jitter' | 'ttl' | 'idempotencyKey' | 'retryPolicy' | 'rateLimit' | 'metadata'
>;

/** A schedule with what it refers to, read in one moment. */
export interface ScheduleView {
  readonly schedule: Schedule;
  /** The delivery named by `pendingId`; null once retention has removed it. */
  readonly pending: Delivery | null;
  /** The profile as it is now; null for an inline destination. */
  readonly profile: FiringProfile | null;
}

export function isEnded(schedule: Pick<Schedule, 'state'>): boolean {
  return schedule.state === 'canceled' || schedule.state === 'completed';
}

export function urlOf(schedule: FiringSchedule, profile: FiringProfile | null): string {
  return schedule.destination.kind === 'inline' ? schedule.destination.url : (profile?.url ?? '');
}

export function methodOf(schedule: FiringSchedule, profile: FiringProfile | null): Method {
  return schedule.destination.kind === 'inline'
    ? schedule.destination.method
    : (profile?.method ?? DEFAULT_METHOD);
}

export function retryPolicyOf(schedule: FiringSchedule, profile: FiringProfile | null): RetryPolicy {
  return schedule.retryPolicy ?? profile?.retryPolicy ?? DEFAULT_RETRY_POLICY;
}

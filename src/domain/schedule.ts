import type { Delivery } from './delivery.ts';
import { DEFAULT_METHOD, type Method } from './destination.ts';
import type { FiringProfile, RateLimit } from './endpoint-profile.ts';
import type { DeliveryId, EndpointId, ScheduleId } from './id.ts';
import type { Instant } from './instant.ts';
import type { LabelDigest, Labels } from './labels.ts';
import type { Notify } from './notify.ts';
import type { Partition } from './project.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from './retry.ts';

export const SCHEDULE_STATES = ['active', 'paused', 'canceled', 'completed'] as const;
export type ScheduleState = (typeof SCHEDULE_STATES)[number];

export const SCHEDULE_KINDS = ['one_shot', 'recurring'] as const;
export type ScheduleKind = (typeof SCHEDULE_KINDS)[number];

/** When a schedule fires: once at a nominal instant, or by a cron expression in a time zone. */
export type Timing =
  | { readonly kind: 'one_shot'; readonly fireAt: Instant; readonly timezone: string | null }
  | { readonly kind: 'recurring'; readonly cron: string; readonly timezone: string };

/** The destination of a schedule: its own URL, or the one that its endpoint profile has at each materialization. */
export type Destination =
  | { readonly kind: 'inline'; readonly url: string; readonly method: Method }
  | { readonly kind: 'profile'; readonly endpointId: EndpointId };

export interface Schedule {
  readonly partition: Partition;
  readonly id: ScheduleId;
  /** Unique among the active and paused schedules of the partition. */
  readonly name: string | null;
  readonly state: ScheduleState;
  readonly timing: Timing;
  readonly destination: Destination;
  readonly headerNames: readonly string[];
  /** The size of headers and body before encryption. */
  readonly payloadBytes: number;
  /** The version of headers and body. A delivery keeps the version that it was made with. */
  readonly payloadVersion: number;
  readonly jitter: string | null;
  readonly ttl: string | null;
  readonly idempotencyKey: string | null;
  /** Null: the policy of the profile, or the default. */
  readonly retryPolicy: RetryPolicy | null;
  readonly rateLimit: RateLimit | null;
  /** Null: as the profile says. */
  readonly notify: Notify | null;
  readonly metadata: Labels;
  /** The digests of the name and the labels, by which lists are filtered. */
  readonly labelDigests: readonly LabelDigest[];
  /** The next delivery of a recurring schedule, or the only one of a one-shot. */
  readonly pendingId: DeliveryId;
  /**
   * The instant of the recurrence that the pending delivery stands for, even if the delivery was moved. Null for a
   * one-shot.
   */
  readonly cronAt: Instant | null;
  /** The last claimed occurrence. Later occurrences are always after it. */
  readonly lastOccurrence: Instant | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** The time of cancellation or completion. */
  readonly endedAt: Instant | null;
  /** Increases with every stored change, so that a concurrent write is noticed. */
  readonly revision: number;
}

/** A schedule without the fields that a customer can make large. Sending reads many schedules at a time. */
export type FiringSchedule = Omit<Schedule, 'headerNames' | 'metadata'>;

/** The fields that a customer chooses at creation. */
export type ScheduleTerms = Pick<
  Schedule,
  | 'name'
  | 'timing'
  | 'destination'
  | 'jitter'
  | 'ttl'
  | 'idempotencyKey'
  | 'retryPolicy'
  | 'rateLimit'
  | 'notify'
  | 'metadata'
>;

/** A schedule with the objects that it refers to, all read at the same moment. */
export interface ScheduleView {
  readonly schedule: Schedule;
  /** The delivery with the id `pendingId`; null once retention has removed it. */
  readonly pending: Delivery | null;
  /** The current profile; null for an inline destination. */
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

/**
 * Makes a schedule equal to what a customer wants, whatever it was before. Its id, state and history stay. Unchanged
 * timing leaves the pending instant alone, also one that was moved.
 */

import { type Comparable, comparableLabels, comparablePolicy, differing } from './comparable.ts';
import type { Delivery, Target } from './delivery.ts';
import * as deliveryLife from './delivery-lifecycle.ts';
import { durationMs } from './duration.ts';
import type { FiringProfile } from './endpoint-profile.ts';
import type { Instant } from './instant.ts';
import { labelDigests } from './labels.ts';
import { notifyOf, notifyText } from './notify.ts';
import {
  type Destination,
  retryPolicyOf,
  type Schedule,
  type ScheduleTerms,
  type ScheduleView,
  type Timing,
} from './schedule.ts';
import { keyOf, occurrenceOf, resumePoint, targetOf } from './schedule-deliveries.ts';
import { movedTo, type ScheduleChange, targetAfterEdit } from './schedule-lifecycle.ts';

/** What a schedule is to be. The name stays. */
export interface WantedSchedule extends Omit<ScheduleTerms, 'name'> {
  readonly headerNames: readonly string[];
  readonly payloadBytes: number;
}

/** Returns the fields in which a schedule differs, as the API names them. Headers and body are compared elsewhere. */
export function differingFields(schedule: Schedule, wanted: WantedSchedule): readonly string[] {
  return differing(comparable(schedule), comparable(wanted));
}

function comparable(terms: Omit<ScheduleTerms, 'name'>): Comparable {
  const { timing, destination } = terms;
  const isInline = destination.kind === 'inline';
  const isOneShot = timing.kind === 'one_shot';
  return {
    endpoint: isInline ? destination.url : null,
    endpoint_id: isInline ? null : destination.endpointId,
    method: isInline ? destination.method : null,
    fire_at: isOneShot ? timing.fireAt : null,
    cron: isOneShot ? null : timing.cron,
    timezone: timing.timezone,
    jitter: terms.jitter,
    ttl: terms.ttl,
    idempotency_key: terms.idempotencyKey,
    retry_policy: comparablePolicy(terms.retryPolicy),
    rate_limit: terms.rateLimit === null ? null : terms.rateLimit.perSecond,
    notify: notifyText(terms.notify),
    metadata: comparableLabels(terms.metadata),
  };
}

export interface Equalization {
  readonly wanted: WantedSchedule;
  /** The profile that `wanted` names; null for an inline destination. */
  readonly profile: FiringProfile | null;
  /** Whether headers or body differ. They become the next version of the payload. */
  readonly hasNewPayload: boolean;
}

/**
 * `in_progress`: the delivery that would have to change is being sent. `never_occurs`: so says the recurrence. A delivery
 * that has had an attempt keeps its key and its payload.
 */
export function equalize(
  view: ScheduleView,
  { wanted, profile, hasNewPayload }: Equalization,
  now: Instant,
): ScheduleChange | 'in_progress' | 'never_occurs' {
  const { schedule, pending } = view;
  if (isInProgress(view, wanted)) return 'in_progress';
  const isPending = pending !== null && deliveryLife.isPending(pending.status);
  const isMoved = isOtherTiming(schedule, wanted);

  const equal: Schedule = {
    ...schedule,
    ...wanted,
    labelDigests: labelDigests(wanted.metadata, schedule.name),
    payloadVersion: schedule.payloadVersion + Number(hasNewPayload),
    updatedAt: now,
    revision: schedule.revision + 1,
  };
  if (!isPending) return { schedule: equal, pending: null, sweep: null };

  const refitted = refit(pending, { before: schedule, after: equal, profile, hasNewPayload });
  if (!isMoved) return { schedule: equal, pending: refitted, sweep: null };

  const occurrence = occurrenceOf(equal, equal.timing, resumePoint(schedule, now), now);
  if (occurrence === null) return 'never_occurs';
  const cronAt = equal.timing.kind === 'recurring' ? occurrence.nominal : null;
  const moved = movedTo(equal, refitted, occurrence);
  // The changes are one stored change, so they have one revision.
  return {
    schedule: { ...equal, cronAt },
    pending: { ...moved, revision: refitted.revision },
    sweep: null,
  };
}

/** Whether the delivery that would have to change is being sent. */
export function isInProgress({ schedule, pending }: ScheduleView, wanted: WantedSchedule): boolean {
  if (pending !== null && deliveryLife.isPending(pending.status)) return false;
  return schedule.timing.kind === 'one_shot' || isOtherTiming(schedule, wanted);
}

/** A one-shot that stays at its instant is not moved because of its time zone. */
function isOtherTiming(schedule: Schedule, { timing, jitter }: WantedSchedule): boolean {
  const isOther = windowOf(schedule.jitter) !== windowOf(jitter) || timing.kind !== schedule.timing.kind;
  return isOther || !isSameInstant(schedule.timing, timing);
}

function windowOf(jitter: string | null): number {
  return jitter === null ? 0 : (durationMs(jitter) ?? 0);
}

function isSameInstant(one: Timing, other: Timing): boolean {
  if (one.kind === 'one_shot') return other.kind === 'one_shot' && one.fireAt === other.fireAt;
  return other.kind === 'recurring' && one.cron === other.cron && one.timezone === other.timezone;
}

interface Refit extends Pick<Equalization, 'profile' | 'hasNewPayload'> {
  readonly before: Schedule;
  readonly after: Schedule;
}

function refit(pending: Delivery, { before, after, profile, hasNewPayload }: Refit): Delivery {
  const isFresh = pending.attemptCount === 0;
  const isOtherPolicy = comparablePolicy(before.retryPolicy) !== comparablePolicy(after.retryPolicy);
  const isOtherProfile = isElsewhere(before.destination, after.destination);
  const isOtherNotify = notifyText(before.notify) !== notifyText(after.notify);
  const refitted = deliveryLife.applyEdit(pending, {
    target: targetAfter(pending, before.destination, after, profile),
    ttl: after.ttl,
    retryPolicy: isOtherPolicy || isOtherProfile ? retryPolicyOf(after, profile) : pending.retryPolicy,
    notify: isOtherNotify || (isOtherProfile && isFresh) ? notifyOf(after, profile) : pending.notify,
  });
  if (!isFresh) return refitted;
  const { payloadBytes, payloadVersion } = after;
  return {
    ...refitted,
    ...(hasNewPayload && { payloadBytes, payloadVersion }),
    idempotencyKey: keyOf(after, pending.id, pending.occurrence ?? pending.scheduledFor),
  };
}

/** Whether one of the destinations is a profile that the other is not. */
function isElsewhere(one: Destination, other: Destination): boolean {
  if (one.kind === 'inline' || other.kind === 'inline') return one.kind !== other.kind;
  return one.endpointId !== other.endpointId;
}

function targetAfter(
  pending: Delivery,
  before: Destination,
  after: Schedule,
  profile: FiringProfile | null,
): Target {
  const { destination } = after;
  if (isElsewhere(before, destination)) {
    return pending.attemptCount === 0 ? targetOf(after, profile) : pending.target;
  }
  return targetAfterEdit(pending.target, destination);
}

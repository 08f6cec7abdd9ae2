/**
 * A schedule gives each of its deliveries an occurrence, a destination, a version of its payload, a policy and a key.
 * The functions are pure.
 */
import { cachedCron } from './cron.ts';
import type { Delivery, Target } from './delivery.ts';
import { materialize } from './delivery-lifecycle.ts';
import type { FiringProfile } from './endpoint-profile.ts';
import type { DeliveryId } from './id.ts';
import { formatInstant, type Instant, instant } from './instant.ts';
import { notifyOf } from './notify.ts';
import { hasOccurrence, nextOccurrenceOf, type Occurrence, recurrenceOf, withJitter } from './occurrence.ts';
import {
  type FiringSchedule,
  methodOf,
  retryPolicyOf,
  type Schedule,
  type Timing,
  urlOf,
} from './schedule.ts';

export function occurrenceOf(
  { id, jitter }: Pick<Schedule, 'id' | 'jitter'>,
  timing: Timing,
  last: Instant,
  now: Instant,
): Occurrence | null {
  return timing.kind === 'one_shot'
    ? withJitter(id, timing.fireAt, jitter, now)
    : nextOccurrenceOf(recurrenceOf(id, timing, jitter), last, now);
}

/**
 * Returns the instant after which a recurrence continues. Jitter may have sent the last occurrence before its nominal
 * instant, so that may be later than now.
 */
export function resumePoint({ lastOccurrence }: FiringSchedule, now: Instant): Instant {
  return instant(Math.max(lastOccurrence ?? now, now));
}

/** Keeps occurrences distinct. Jitter may have sent the last occurrence before its nominal instant. */
export function distinct(nominal: Instant, { lastOccurrence }: FiringSchedule): Instant {
  return lastOccurrence !== null && nominal <= lastOccurrence ? instant(lastOccurrence + 1) : nominal;
}

/** Returns true when there are occurrences between the delivery that was taken and the next one. */
export function skipsOccurrences(
  { timing, cronAt }: FiringSchedule,
  { occurrence }: Pick<Delivery, 'occurrence'>,
  { cronAt: nextAt }: FiringSchedule,
): boolean {
  const last = cronAt ?? occurrence;
  const cron = timing.kind === 'recurring' ? cachedCron(timing.cron) : null;
  if (timing.kind !== 'recurring' || cron === null || last === null || nextAt === null) return false;
  return hasOccurrence(cron, timing.timezone, last, instant(nextAt - 1));
}

export function pendingFor(
  schedule: FiringSchedule,
  profile: FiringProfile | null,
  id: DeliveryId,
  occurrence: Occurrence,
  now: Instant,
): Delivery {
  const nominal = distinct(occurrence.nominal, schedule);
  return materialize({
    ...materialization(schedule, profile, id, now),
    occurrence: nominal,
    scheduledFor: occurrence.firesAt,
    idempotencyKey: keyOf(schedule, id, nominal),
  });
}

/** The delivery of an occurrence and a triggered one have these fields in common. */
export function materialization(
  schedule: FiringSchedule,
  profile: FiringProfile | null,
  id: DeliveryId,
  now: Instant,
) {
  return {
    partition: schedule.partition,
    id,
    scheduleId: schedule.id,
    ttl: schedule.ttl,
    notify: notifyOf(schedule, profile),
    target: targetOf(schedule, profile),
    payloadBytes: schedule.payloadBytes,
    payloadVersion: schedule.payloadVersion,
    retryPolicy: retryPolicyOf(schedule, profile),
    createdAt: now,
  };
}

export function targetOf(schedule: FiringSchedule, profile: FiringProfile | null): Target {
  return {
    url: urlOf(schedule, profile),
    method: methodOf(schedule, profile),
    endpointId: profile?.id ?? null,
    endpointVersion: profile?.version ?? null,
  };
}

/** Each occurrence has its own key. The only delivery of a one-shot has the customer's key, or its id. */
export function keyOf(schedule: FiringSchedule, id: DeliveryId, nominal: Instant): string {
  return schedule.timing.kind === 'one_shot'
    ? (schedule.idempotencyKey ?? id)
    : `${schedule.idempotencyKey ?? schedule.id}:${formatInstant(nominal)}`;
}

/**
 * The lifecycle of a schedule: how creating, editing, moving, pausing, resuming and canceling change a schedule and its
 * pending delivery, and how claiming and settling by the engine change it. The functions are pure. Each takes the
 * objects that were read and returns the objects to write, guarded by `revision`.
 */

import type { Delivery, InFlightDelivery, Target } from './delivery.ts';
import * as deliveryLife from './delivery-lifecycle.ts';
import type { Method } from './destination.ts';
import type { EndpointProfile, FiringProfile } from './endpoint-profile.ts';
import type { AttemptId, DeliveryId, ScheduleId } from './id.ts';
import { type Instant, instant } from './instant.ts';
import { type LabelDigest, type Labels, labelDigests } from './labels.ts';
import { type Notify, notifyOf } from './notify.ts';
import { nextOccurrenceOf, type Occurrence, recurrenceOf } from './occurrence.ts';
import type { Partition } from './project.ts';
import type { RetryPolicy } from './retry.ts';
import {
  type Destination,
  type FiringSchedule,
  isEnded,
  retryPolicyOf,
  type Schedule,
  type ScheduleState,
  type ScheduleTerms,
  type ScheduleView,
  type Timing,
} from './schedule.ts';
import {
  distinct,
  keyOf,
  materialization,
  occurrenceOf,
  pendingFor,
  resumePoint,
} from './schedule-deliveries.ts';

export type ScheduleEvent = 'pause' | 'resume' | 'cancel' | 'complete';

export const SCHEDULE_TRANSITIONS: Readonly<
  Record<ScheduleState, Readonly<Partial<Record<ScheduleEvent, ScheduleState>>>>
> = {
  active: { pause: 'paused', cancel: 'canceled', complete: 'completed' },
  paused: { resume: 'active', cancel: 'canceled', complete: 'completed' },
  canceled: {},
  completed: {},
};

/**
 * The states of a schedule after an action. Its sweep continues only while the schedule is in one of them. A schedule
 * that completes is not paused any more, so the sweep of a resume goes on: it may have recurred before, and then other
 * deliveries wait for a retry.
 */
export const STATES_AFTER_ACTION: Readonly<
  Record<deliveryLife.SweepAction, readonly [ScheduleState, ...ScheduleState[]]>
> = {
  pause: ['paused'],
  resume: ['active', 'completed'],
  cancel: ['canceled'],
};

/** The changes of an operation. Null means that nothing changes, and the answer is what was read. */
export interface ScheduleChange {
  readonly schedule: Schedule;
  /** The pending delivery, if it changed. */
  readonly pending: Delivery | null;
  /** The changes to the other deliveries of the schedule. */
  readonly sweep: deliveryLife.Sweep | null;
}

export interface NewSchedule extends ScheduleTerms {
  readonly partition: Partition;
  readonly id: ScheduleId;
  readonly deliveryId: DeliveryId;
  readonly profile: EndpointProfile | null;
  readonly headerNames: readonly string[];
  readonly payloadBytes: number;
}

/** Creates a schedule with its first delivery. Returns null when the recurrence never fires. */
export function create(
  given: NewSchedule,
  now: Instant,
): { readonly schedule: Schedule; readonly pending: Delivery } | null {
  const { deliveryId, profile } = given;
  const occurrence = occurrenceOf(given, given.timing, now, now);
  if (occurrence === null) return null;
  const schedule: Schedule = {
    partition: given.partition,
    id: given.id,
    name: given.name,
    state: 'active',
    timing: given.timing,
    destination: given.destination,
    headerNames: given.headerNames,
    payloadBytes: given.payloadBytes,
    payloadVersion: 1,
    jitter: given.jitter,
    ttl: given.ttl,
    idempotencyKey: given.idempotencyKey,
    retryPolicy: given.retryPolicy,
    rateLimit: given.rateLimit,
    notify: given.notify,
    metadata: given.metadata,
    labelDigests: labelDigests(given.metadata, given.name),
    pendingId: deliveryId,
    cronAt: given.timing.kind === 'recurring' ? occurrence.nominal : null,
    lastOccurrence: null,
    createdAt: now,
    updatedAt: now,
    endedAt: null,
    revision: 1,
  };
  return { schedule, pending: pendingFor(schedule, profile, deliveryId, occurrence, now) };
}

export interface ScheduleEdit {
  readonly name?: string | null;
  readonly endpoint?: string;
  readonly method?: Method;
  readonly ttl?: string | null;
  readonly retryPolicy?: RetryPolicy | null;
  readonly notify?: Notify | null;
  readonly metadata?: Labels;
}

/**
 * Edits a schedule and its pending delivery, unless that is being sent. Of an ended schedule only the record changes.
 */
export function edit(view: ScheduleView, changes: ScheduleEdit, now: Instant): ScheduleChange {
  const { schedule, pending, profile } = view;
  const { endpoint, method, ...own } = changes;
  const destination: Destination =
    schedule.destination.kind === 'inline'
      ? {
          kind: 'inline',
          url: endpoint ?? schedule.destination.url,
          method: method ?? schedule.destination.method,
        }
      : schedule.destination;
  const edited: Schedule = {
    ...schedule,
    ...own,
    labelDigests: labelDigestsAfter(schedule, own),
    destination,
    updatedAt: now,
    revision: schedule.revision + 1,
  };
  if (isEnded(schedule) || pending === null || !deliveryLife.isPending(pending.status)) {
    return { schedule: edited, pending: null, sweep: null };
  }
  const refitted = deliveryLife.applyEdit(pending, {
    target: targetAfterEdit(pending.target, destination),
    ttl: edited.ttl,
    retryPolicy: changes.retryPolicy === undefined ? pending.retryPolicy : retryPolicyOf(edited, profile),
    notify: changes.notify === undefined ? pending.notify : notifyOf(edited, profile),
  });
  return { schedule: edited, pending: refitted, sweep: null };
}

/**
 * The URL of an inline destination follows the schedule. A delivery to a profile keeps the URL of its version, because
 * the headers of that version belong to it. Its schedule may be inline by now, if the delivery has had an attempt.
 */
export function targetAfterEdit(target: Target, destination: Destination): Target {
  if (destination.kind === 'profile' || target.endpointId !== null) return target;
  return { ...target, url: destination.url, method: destination.method };
}

function labelDigestsAfter(
  schedule: Schedule,
  { name = schedule.name, metadata = schedule.metadata }: Pick<ScheduleEdit, 'name' | 'metadata'>,
): readonly LabelDigest[] {
  const isSame = name === schedule.name && metadata === schedule.metadata;
  return isSame ? schedule.labelDigests : labelDigests(metadata, name);
}

/**
 * Moves the fire time. For a recurring schedule, an instant moves only its next occurrence. A cron expression makes any
 * schedule recur. Returns null when the delivery is being sent, because it cannot be moved then.
 */
export function reschedule(view: ScheduleView, timing: Timing, now: Instant): ScheduleChange | null {
  const { schedule, pending } = view;
  if (isEnded(schedule) || pending === null || !deliveryLife.isPending(pending.status)) return null;

  const isMoveOfNext = schedule.timing.kind === 'recurring' && timing.kind === 'one_shot';
  const target = occurrenceOf(schedule, timing, resumePoint(schedule, now), now);
  if (target === null) return null;
  const rescheduled: Schedule = {
    ...schedule,
    timing: isMoveOfNext ? schedule.timing : timing,
    cronAt: timing.kind === 'recurring' ? target.nominal : schedule.cronAt,
    updatedAt: now,
    revision: schedule.revision + 1,
  };
  return {
    schedule: rescheduled,
    pending: movedTo(rescheduled, pending, target, isMoveOfNext ? schedule.cronAt : null),
    sweep: null,
  };
}

/** `movedFrom`: the instant of the recurrence that the next occurrence is moved away from. */
export function movedTo(
  schedule: Schedule,
  pending: Delivery,
  { nominal, firesAt }: Occurrence,
  movedFrom: Instant | null = null,
): Delivery {
  const occurrence = distinct(nominal, schedule);
  return deliveryLife.move(pending, {
    occurrence,
    movedFrom,
    scheduledFor: firesAt,
    idempotencyKey: keyOf(schedule, pending.id, occurrence),
  });
}

export function pause(view: ScheduleView, now: Instant): ScheduleChange | null {
  const schedule = transition(view.schedule, 'pause', now);
  if (schedule === null) return null;
  const { pending } = view;
  return {
    schedule,
    pending: pending && deliveryLife.isWaiting(pending.status) ? deliveryLife.pause(pending, now) : null,
    sweep: deliveryLife.sweep('pause', now),
  };
}

/**
 * A one-shot whose instant passed in the meantime is due at once, or expires. A recurring schedule keeps its pending
 * instant if that is still ahead, and otherwise skips the missed occurrences.
 */
export function resume(view: ScheduleView, now: Instant): ScheduleChange | null {
  const schedule = transition(view.schedule, 'resume', now);
  if (schedule === null) return null;
  const sweep = deliveryLife.sweep('resume', now);
  const { pending } = view;
  if (pending?.status !== 'paused') return { schedule, pending: null, sweep };

  if (schedule.timing.kind === 'one_shot') {
    const resumed = deliveryLife.resume(pending, now);
    return { ...completing(schedule, resumed, now), sweep };
  }
  // The deadline is checked when the delivery is due. The recurrence then continues after it.
  const isMissed = pending.dueAt !== null && pending.dueAt <= now;
  if (!isMissed) return { schedule, pending: deliveryLife.unpause(pending, now), sweep };
  const last = instant(Math.max(pending.occurrence ?? now, resumePoint(schedule, now)));
  const next = occurrenceOf(schedule, schedule.timing, last, now);
  if (next === null) return { schedule, pending: deliveryLife.unpause(pending, now), sweep };
  const caughtUp = movedTo(schedule, pending, next);
  return {
    schedule: { ...schedule, cronAt: next.nominal },
    // The two transitions are one stored change, so they have one revision.
    pending: { ...deliveryLife.unpause(caughtUp, now), revision: caughtUp.revision },
    sweep,
  };
}

export function cancel(view: ScheduleView, now: Instant): ScheduleChange | null {
  const schedule = transition(view.schedule, 'cancel', now);
  if (schedule === null) return null;
  const { pending } = view;
  return {
    schedule,
    pending: pending && deliveryLife.isPending(pending.status) ? deliveryLife.cancel(pending, now) : null,
    sweep: deliveryLife.sweep('cancel', now),
  };
}

function transition<S extends FiringSchedule>(schedule: S, event: ScheduleEvent, now: Instant): S | null {
  const state = SCHEDULE_TRANSITIONS[schedule.state][event];
  if (state === undefined) return null;
  return {
    ...schedule,
    state,
    updatedAt: now,
    endedAt: state === 'canceled' || state === 'completed' ? now : null,
    revision: schedule.revision + 1,
  };
}

/** The end of its delivery completes a one-shot. A recurring schedule never completes by itself. */
function completing(
  schedule: Schedule,
  delivery: Delivery,
  now: Instant,
): { readonly schedule: Schedule; readonly pending: Delivery } {
  const completed = completedBy(schedule, delivery, now);
  return {
    schedule: completed === null ? schedule : { ...completed, revision: schedule.revision },
    pending: delivery,
  };
}

/** Returns the schedule after the engine ended its delivery, or null when that does not complete it. */
export function completedBy<S extends FiringSchedule>(
  schedule: S | null,
  delivery: Delivery,
  now: Instant,
): S | null {
  if (schedule === null) return null;
  const ends =
    schedule.timing.kind === 'one_shot' &&
    schedule.pendingId === delivery.id &&
    deliveryLife.isReplayable(delivery.status);
  return ends ? transition(schedule, 'complete', now) : null;
}

/** Creates a delivery of a recurring schedule that is due now, beside its recurrence. */
export function trigger(
  { schedule, profile }: Pick<ScheduleView, 'schedule' | 'profile'>,
  id: DeliveryId,
  now: Instant,
): Delivery {
  return deliveryLife.materialize({
    ...materialization(schedule, profile, id, now),
    occurrence: null,
    scheduledFor: now,
    idempotencyKey: `${schedule.idempotencyKey ?? schedule.id}:${id}`,
  });
}

/** Makes the delivery of a one-shot due now. */
export function fireNow({ schedule }: ScheduleView, pending: Delivery, now: Instant): ScheduleChange {
  const moved = deliveryLife.move(pending, {
    occurrence: null,
    movedFrom: null,
    scheduledFor: now,
    idempotencyKey: pending.idempotencyKey,
  });
  return {
    schedule: { ...schedule, updatedAt: now, revision: schedule.revision + 1 },
    pending: moved,
    sweep: null,
  };
}

export interface Claimed {
  readonly delivery: InFlightDelivery;
  readonly advanced: Advance | null;
}

/** The next occurrence of a recurring schedule, materialized from the current profile. */
export interface Advance {
  readonly schedule: FiringSchedule;
  readonly next: Delivery;
  readonly profile: FiringProfile | null;
}

/**
 * Claims a due delivery. If it is the pending one of a recurring schedule, the next one is materialized in the same
 * step.
 */
export function claim(
  delivery: Delivery,
  { schedule, profile }: { readonly schedule: FiringSchedule | null; readonly profile: FiringProfile | null },
  node: string,
  ids: { readonly attempt: AttemptId; readonly delivery: DeliveryId },
  now: Instant,
): Claimed {
  return {
    delivery: deliveryLife.claim(delivery, node, ids.attempt, now),
    advanced: advance(schedule, profile, delivery, ids.delivery, now),
  };
}

/** Materializes the next occurrence of a recurring schedule whose pending delivery was claimed or ended. */
export function advance(
  schedule: FiringSchedule | null,
  profile: FiringProfile | null,
  taken: Delivery,
  nextId: DeliveryId,
  now: Instant,
): Advance | null {
  if (schedule?.timing.kind !== 'recurring' || schedule.pendingId !== taken.id || isEnded(schedule))
    return null;
  const recurrence = recurrenceOf(schedule.id, schedule.timing, schedule.jitter);
  const occurrence = nextOccurrenceOf(recurrence, schedule.cronAt ?? taken.occurrence ?? now, now);
  if (occurrence === null) return null;
  const advanced: FiringSchedule = {
    ...schedule,
    pendingId: nextId,
    cronAt: occurrence.nominal,
    lastOccurrence: taken.occurrence ?? schedule.lastOccurrence,
    revision: schedule.revision + 1,
  };
  return { schedule: advanced, next: pendingFor(advanced, profile, nextId, occurrence, now), profile };
}

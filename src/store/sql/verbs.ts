/**
 * The verbs that change data, each as a list of steps. They are the same for every store that speaks SQL, and each
 * store has a statement for every name.
 *
 * Steps that can fail come first, so nothing has to be undone when they do.
 */

import type { Delivery } from '#src/domain/delivery.ts';
import { sweep as sweepOf } from '#src/domain/delivery-lifecycle.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { LabelDigest } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import {
  type FiringSchedule,
  isEnded,
  SCHEDULE_STATES,
  type Schedule,
  type ScheduleState,
} from '#src/domain/schedule.ts';
import { SCHEDULE_TRANSITIONS } from '#src/domain/schedule-lifecycle.ts';
import { type Fence, type Slot, slotOf } from '#src/domain/slot.ts';
import { cachedEndpointKey } from '#src/ports/endpoint-cache.ts';
import type {
  ClaimWrite,
  EndWrite,
  PayloadReplacement,
  Receipt,
  ReplayAddition,
  SavedGate,
  ScheduleAddition,
  ScheduleReplacement,
  SettleWrite,
  TriggeredAddition,
} from '#src/ports/store.ts';
import { PROFILE_VERBS, profilesAtRevision } from './profile-verbs.ts';
import { DELIVERY, SCHEDULE } from './rows.ts';
import {
  advanceSchedule,
  changeName,
  claimDelivery,
  completeSchedule,
  deferDelivery,
  giveUpName,
  guard,
  insertAttempt,
  insertReceipt,
  insertResponse,
  type Parameter,
  replaceSchedule,
  type Step,
  settleDelivery,
  takeName,
} from './steps.ts';
import { beginSweep, SWEEP_BATCH_MAX } from './sweep-verbs.ts';

/** States in which the end of a delivery can complete a schedule. */
const COMPLETABLE_STATES = SCHEDULE_STATES.filter(
  (state) => SCHEDULE_TRANSITIONS[state].complete !== undefined,
);

/** Identifies a row that is removed only if its revision is still the one that was read. */
interface Revised<Id> {
  readonly partition: Partition;
  readonly id: Id;
  readonly revision: number;
}

/** A delivery that retention removes. */
export interface RemovedDelivery extends Revised<DeliveryId> {
  /** Null for a notification. */
  readonly schedule_id: ScheduleId | null;
  readonly payload_version: number;
}

/** An earlier version of a payload, as it was read. */
export interface CheckedPayload {
  readonly partition: Partition;
  readonly schedule_id: ScheduleId;
  readonly version: number;
  readonly last_id: DeliveryId;
  readonly check_at: Instant;
}

function keyOf({ partition, schedule_id, version }: CheckedPayload) {
  return [partition, schedule_id, version] as const;
}

/** The version before is kept as an earlier one while a delivery names it. */
function replacePayload(
  before: FiringSchedule,
  { partition, id, payloadVersion }: Schedule,
  { sealed, sinceId, lastId }: PayloadReplacement,
): readonly Step[] {
  return [
    ['insertEarlierPayload', null, partition, id, before.payloadVersion, lastId],
    sealed === null
      ? ['removePayload', null, partition, id]
      : ['savePayload', null, partition, id, payloadVersion, sinceId, sealed],
  ];
}

/** How a store passes the keys of labels, and the additional key columns of deliveries and gates. */
export interface KeyParameters {
  label(digest: LabelDigest): Parameter;
  delivery(delivery: Delivery): readonly Parameter[];
  gate(endpoint: EndpointKey): readonly Parameter[];
}

export function makeVerbs(keyParameters: KeyParameters) {
  function insertSchedule(schedule: Schedule): readonly Step[] {
    return [['insertSchedule', null, ...SCHEDULE.values(schedule)], ...insertLabels(schedule)];
  }

  function insertLabels({ partition, id, state, timing, labelDigests }: Schedule): readonly Step[] {
    return labelDigests.map(
      (digest): Step => ['insertLabel', null, partition, keyParameters.label(digest), state, timing.kind, id],
    );
  }

  function deleteLabels(
    { partition, id }: Revised<ScheduleId>,
    digests: readonly LabelDigest[],
  ): readonly Step[] {
    return digests.map((digest): Step => ['deleteLabel', null, partition, keyParameters.label(digest), id]);
  }

  /** Most replacements change nothing that a label row repeats. */
  function replaceLabels(before: FiringSchedule, schedule: Schedule): readonly Step[] {
    const isSame =
      before.state === schedule.state &&
      before.timing.kind === schedule.timing.kind &&
      before.labelDigests.join() === schedule.labelDigests.join();
    return isSame ? [] : [...deleteLabels(before, before.labelDigests), ...insertLabels(schedule)];
  }

  /** `from`: states that the schedule may have had. */
  function completeLabels(
    { partition, id, state, timing, labelDigests }: FiringSchedule,
    from: readonly ScheduleState[],
  ): readonly Step[] {
    return labelDigests.flatMap((digest) => {
      const label = keyParameters.label(digest);
      return from.map((was): Step => ['completeLabel', null, state, partition, label, was, timing.kind, id]);
    });
  }

  function deliveryParameters(delivery: Delivery): readonly Parameter[] {
    return [...DELIVERY.values(delivery), ...keyParameters.delivery(delivery)];
  }

  function insertDelivery(delivery: Delivery): Step {
    return ['insertDelivery', null, ...deliveryParameters(delivery)];
  }

  function insertNotification({ notification = null }: Pick<EndWrite, 'notification'>): readonly Step[] {
    return notification === null ? [] : [insertDelivery(notification)];
  }

  function insertNextDelivery(delivery: Delivery): Step {
    return ['insertNextDelivery', 'stale', ...deliveryParameters(delivery)];
  }

  function replaceDelivery(delivery: Delivery): Step {
    const values = [...DELIVERY.mutable.values(delivery), ...keyParameters.delivery(delivery)];
    return ['replaceDelivery', 'stale', ...values, ...guard(delivery)];
  }

  function advance(advanced: ClaimWrite['advanced']): readonly Step[] {
    if (advanced === null) return [];
    const { schedule, next, profile } = advanced;
    return [...profilesAtRevision(profile), advanceSchedule(schedule), insertNextDelivery(next)];
  }

  return {
    addSchedule: (addition: ScheduleAddition): readonly Step[] => {
      const { schedule, pending, payload, profile, notified, receipt } = addition;
      return [
        ...profilesAtRevision(profile, notified),
        ...insertReceipt(schedule.partition, receipt),
        ...takeName('schedule', schedule),
        ...insertSchedule(schedule),
        ...(payload === null
          ? []
          : [['insertPayload', null, schedule.partition, schedule.id, payload] as const]),
        insertDelivery(pending),
      ];
    },

    /** `before`: the schedule as it was read. */
    replaceSchedule: (
      replacement: ScheduleReplacement,
      before: FiringSchedule,
      sweepBatchMax = SWEEP_BATCH_MAX,
    ): readonly Step[] => {
      const { schedule, pending, payload = null, profile, notified, sweep, receipt } = replacement;
      return [
        ...profilesAtRevision(profile, notified),
        replaceSchedule(schedule),
        ...changeName('schedule', before, schedule, isEnded(schedule)),
        ...(pending === null ? [] : [replaceDelivery(pending)]),
        ...insertReceipt(schedule.partition, receipt),
        ...(payload === null ? [] : replacePayload(before, schedule, payload)),
        ...insertNotification(replacement),
        ...replaceLabels(before, schedule),
        ...(sweep === null ? [] : beginSweep(schedule, sweep, sweepBatchMax)),
      ];
    },

    addReplay: ({ delivery, receipt }: ReplayAddition): readonly Step[] => [
      // Retention may have removed the schedule since the original was read. A delivery without its schedule would
      // never be sent.
      ...(delivery.scheduleId === null
        ? []
        : [['scheduleExists', 'stale', delivery.partition, delivery.scheduleId] as const]),
      // While the original is there, so is its payload. A notification quotes the delivery that it tells of.
      ...deliveriesExist(delivery.partition, delivery.replayOf, delivery.notificationOf),
      ...insertReceipt(delivery.partition, receipt),
      insertDelivery(delivery),
      // From now on the payload stays until this delivery is removed as well.
      ...(delivery.scheduleId === null
        ? []
        : [
            [
              'extendEarlierPayload',
              null,
              delivery.id,
              delivery.partition,
              delivery.scheduleId,
              delivery.payloadVersion,
            ] as const,
          ]),
    ],

    addTriggered: ({ delivery, schedule, profile, receipt }: TriggeredAddition): readonly Step[] => [
      ...profilesAtRevision(profile),
      ['scheduleAtRevision', 'stale', schedule.partition, schedule.id, schedule.revision],
      ...insertReceipt(delivery.partition, receipt),
      insertDelivery(delivery),
    ],

    replaceDelivery: (delivery: Delivery): readonly Step[] => [replaceDelivery(delivery)],

    ...PROFILE_VERBS,

    addReceipt: (partition: Partition, receipt: Receipt): readonly Step[] =>
      insertReceipt(partition, receipt),

    claim: ({ delivery, advanced }: ClaimWrite, fence?: Fence): readonly Step[] => [
      ...slotHeld(delivery, fence),
      // The first claim of a notification also takes the version of its profile.
      isFirstOfNotification(delivery) ? replaceDelivery(delivery) : claimDelivery(delivery),
      ...advance(advanced),
    ],

    settle: (write: SettleWrite): readonly Step[] => {
      const { delivery, attempt, decidedUnder, completed, response } = write;
      return [
        ...settledSchedule(write),
        settleDelivery(delivery, attempt.id),
        insertAttempt(attempt),
        ...insertResponse(attempt, response),
        ...insertNotification(write),
        ...(completed === null || decidedUnder === null
          ? []
          : [...giveUpName('schedule', completed), ...completeLabels(completed, [decidedUnder])]),
        // Nobody can resume the other deliveries of a schedule that has ended.
        ...(completed === null || decidedUnder !== 'paused'
          ? []
          : beginSweep(completed, sweepOf('resume', attempt.finishedAt), SWEEP_BATCH_MAX)),
      ];
    },

    endUnsent: (write: EndWrite, fence?: Fence): readonly Step[] => {
      const { delivery, completed, advanced } = write;
      return [
        ...slotHeld(delivery, fence),
        settleDelivery(delivery, null),
        ...(completed === null ? [] : [completeSchedule(completed)]),
        ...advance(advanced),
        ...insertNotification(write),
        ...(completed === null ? [] : giveUpName('schedule', completed)),
        ...(completed === null ? [] : completeLabels(completed, COMPLETABLE_STATES)),
      ];
    },

    defer: (delivery: Delivery, fence?: Fence): readonly Step[] => [
      ...slotHeld(delivery, fence),
      deferDelivery(delivery),
    ],

    saveGate: ({ partition, endpoint, gate, savedAt }: SavedGate, fence?: Fence): readonly Step[] => [
      ...(fence === undefined ? [] : [held(slotOf(partition, endpoint), fence)]),
      gate === null
        ? ['removeGate', null, partition, endpoint, ...keyParameters.gate(endpoint)]
        : [
            'saveGate',
            null,
            partition,
            endpoint,
            JSON.stringify(gate),
            savedAt,
            ...keyParameters.gate(endpoint),
          ],
    ],

    removeDelivery: (removed: RemovedDelivery): readonly Step[] => [
      ['removeDelivery', 'stale', removed.partition, removed.id, removed.revision],
      ['removeAttempts', null, removed.partition, removed.id],
      ['removeResponses', null, removed.partition, removed.id],
      // It may have been the last that names the version.
      ...(removed.schedule_id === null
        ? []
        : [
            [
              'checkEarlierPayload',
              null,
              removed.partition,
              removed.schedule_id,
              removed.payload_version,
            ] as const,
          ]),
    ],

    removeEarlierPayload: (checked: CheckedPayload): readonly Step[] => [
      ['removeEarlierPayload', null, ...keyOf(checked), checked.last_id],
    ],

    /** `checkAt`: null if the payload is checked when one of its deliveries is removed. */
    keepEarlierPayload: (checked: CheckedPayload, checkAt: Instant | null): readonly Step[] => [
      ['keepEarlierPayload', null, checkAt, ...keyOf(checked), checked.check_at],
    ],

    removeSchedule: (schedule: Revised<ScheduleId>, labels: readonly LabelDigest[]): readonly Step[] => [
      ['removeSchedule', 'stale', schedule.partition, schedule.id, schedule.revision],
      ['removePayload', null, schedule.partition, schedule.id],
      ['removeEarlierPayloads', null, schedule.partition, schedule.id],
      ...deleteLabels(schedule, labels),
    ],

    removeReceipt: (partition: Partition, key: string, before: Instant): readonly Step[] => [
      ['removeReceipt', null, partition, key, before],
    ],

    removeGate: (partition: Partition, endpoint: EndpointKey, before: Instant): readonly Step[] => [
      ['removeOldGate', null, partition, endpoint, before, ...keyParameters.gate(endpoint)],
    ],
  };
}

function deliveriesExist(partition: Partition, ...ids: readonly (DeliveryId | null)[]): readonly Step[] {
  return ids.flatMap((id) => (id === null ? [] : [['deliveryExists', 'stale', partition, id] as const]));
}

function isFirstOfNotification({ notificationOf, attemptCount }: Delivery): boolean {
  return notificationOf !== null && attemptCount === 1;
}

/** A schedule that is completed has its revision checked, which also guards its state. */
function settledSchedule({ delivery, decidedUnder, completed }: SettleWrite): readonly Step[] {
  if (completed !== null) return [completeSchedule(completed)];
  if (delivery.scheduleId === null) return [];
  return [['scheduleInState', 'stale', delivery.partition, delivery.scheduleId, decidedUnder]];
}

/** Checks that the node still owns the slot of the delivery, in the epoch of its fence. */
function slotHeld({ partition, target }: Delivery, fence: Fence | undefined): readonly Step[] {
  return fence === undefined ? [] : [held(slotOf(partition, cachedEndpointKey(target)), fence)];
}

const NEVER = -1;

/** Checks that the node still owns the slot, in the epoch of its fence. */
export function held(slot: Slot, { node, epochs }: Fence): Step {
  return ['slotHeld', 'stale', slot, node, epochs.get(slot) ?? NEVER];
}

/**
 * The verbs that change data, each as a list of steps. They are the same for every store that speaks SQL, and each
 * store has a statement for every name.
 *
 * Steps that can fail come first, so nothing has to be undone when they do.
 */

import type { Delivery } from '#src/domain/delivery.ts';
import { sweep as sweepOf } from '#src/domain/delivery-lifecycle.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
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
  ProfileReplacement,
  ProfileWrite,
  Receipt,
  ReplayAddition,
  SavedGate,
  ScheduleAddition,
  ScheduleReplacement,
  SettleWrite,
  TriggeredAddition,
} from '#src/ports/store.ts';
import { DELIVERY, PROFILE_HEAD, SCHEDULE } from './rows.ts';
import {
  advanceSchedule,
  changeName,
  claimDelivery,
  completeSchedule,
  deferDelivery,
  giveUpName,
  guard,
  insertAttempt,
  insertProfileVersion,
  insertReceipt,
  insertResponse,
  type Parameter,
  profileAtRevision,
  replaceProfileHead,
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
  readonly schedule_id: ScheduleId;
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
    return [
      ...(profile === null ? [] : [profileAtRevision(profile)]),
      advanceSchedule(schedule),
      insertNextDelivery(next),
    ];
  }

  return {
    addSchedule: ({ schedule, pending, payload, profile, receipt }: ScheduleAddition): readonly Step[] => [
      ...(profile === null ? [] : [profileAtRevision(profile)]),
      ...insertReceipt(schedule.partition, receipt),
      ...takeName('schedule', schedule),
      ...insertSchedule(schedule),
      ...(payload === null
        ? []
        : [['insertPayload', null, schedule.partition, schedule.id, payload] as const]),
      insertDelivery(pending),
    ],

    /** `before`: the schedule as it was read. */
    replaceSchedule: (
      { schedule, pending, payload = null, profile = null, sweep, receipt }: ScheduleReplacement,
      before: FiringSchedule,
      sweepBatchMax = SWEEP_BATCH_MAX,
    ): readonly Step[] => [
      ...(profile === null ? [] : [profileAtRevision(profile)]),
      replaceSchedule(schedule),
      ...changeName('schedule', before, schedule, isEnded(schedule)),
      ...(pending === null ? [] : [replaceDelivery(pending)]),
      ...insertReceipt(schedule.partition, receipt),
      ...(payload === null ? [] : replacePayload(before, schedule, payload)),
      ...replaceLabels(before, schedule),
      ...(sweep === null ? [] : beginSweep(schedule, sweep, sweepBatchMax)),
    ],

    addReplay: ({ delivery, receipt }: ReplayAddition): readonly Step[] => [
      // Retention may have removed the schedule since the original was read. A delivery without a schedule would
      // never be sent.
      ['scheduleExists', 'stale', delivery.partition, delivery.scheduleId],
      // While the original is there, so is its payload.
      ...(delivery.replayOf === null
        ? []
        : [['deliveryExists', 'stale', delivery.partition, delivery.replayOf] as const]),
      ...insertReceipt(delivery.partition, receipt),
      insertDelivery(delivery),
      // From now on the payload stays until this delivery is removed as well.
      [
        'extendEarlierPayload',
        null,
        delivery.id,
        delivery.partition,
        delivery.scheduleId,
        delivery.payloadVersion,
      ],
    ],

    addTriggered: ({ delivery, schedule, profile, receipt }: TriggeredAddition): readonly Step[] => [
      ...(profile === null ? [] : [profileAtRevision(profile)]),
      ['scheduleAtRevision', 'stale', schedule.partition, schedule.id, schedule.revision],
      ...insertReceipt(delivery.partition, receipt),
      insertDelivery(delivery),
    ],

    replaceDelivery: (delivery: Delivery): readonly Step[] => [replaceDelivery(delivery)],

    addProfile: (write: ProfileWrite): readonly Step[] => [
      ...insertReceipt(write.profile.partition, write.receipt),
      ...takeName('endpoint', write.profile),
      ['insertProfile', null, ...PROFILE_HEAD.values(write.profile)],
      insertProfileVersion(write),
    ],

    replaceProfile: (write: ProfileReplacement): readonly Step[] => [
      replaceProfileHead(write.profile),
      ...insertReceipt(write.profile.partition, write.receipt),
      ...changeName(
        'endpoint',
        { ...write.profile, name: write.nameBefore ?? null },
        write.profile,
        write.profile.archived,
      ),
      insertProfileVersion(write),
    ],

    archiveProfile: (profile: EndpointProfile): readonly Step[] => [
      ['profileUnused', 'in_use', profile.partition, profile.id],
      replaceProfileHead(profile),
      ...giveUpName('endpoint', profile),
    ],

    addReceipt: (partition: Partition, receipt: Receipt): readonly Step[] =>
      insertReceipt(partition, receipt),

    claim: ({ delivery, advanced }: ClaimWrite, fence?: Fence): readonly Step[] => [
      ...slotHeld(delivery, fence),
      claimDelivery(delivery),
      ...advance(advanced),
    ],

    settle: ({ delivery, attempt, decidedUnder, completed, response }: SettleWrite): readonly Step[] => [
      // A schedule that is completed has its revision checked, which also guards its state.
      completed === null
        ? ['scheduleInState', 'stale', delivery.partition, delivery.scheduleId, decidedUnder]
        : completeSchedule(completed),
      settleDelivery(delivery, attempt.id),
      insertAttempt(attempt),
      ...insertResponse(attempt, response),
      ...(completed === null ? [] : giveUpName('schedule', completed)),
      ...(completed === null ? [] : completeLabels(completed, [decidedUnder])),
      // Nobody can resume the other deliveries of a schedule that has ended.
      ...(completed === null || decidedUnder !== 'paused'
        ? []
        : beginSweep(completed, sweepOf('resume', attempt.finishedAt), SWEEP_BATCH_MAX)),
    ],

    endUnsent: ({ delivery, completed, advanced }: EndWrite, fence?: Fence): readonly Step[] => [
      ...slotHeld(delivery, fence),
      settleDelivery(delivery, null),
      ...(completed === null ? [] : [completeSchedule(completed)]),
      ...advance(advanced),
      ...(completed === null ? [] : giveUpName('schedule', completed)),
      ...(completed === null ? [] : completeLabels(completed, COMPLETABLE_STATES)),
    ],

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
      ['checkEarlierPayload', null, removed.partition, removed.schedule_id, removed.payload_version],
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

/** Checks that the node still owns the slot of the delivery, in the epoch of its fence. */
function slotHeld({ partition, target }: Delivery, fence: Fence | undefined): readonly Step[] {
  return fence === undefined ? [] : [held(slotOf(partition, cachedEndpointKey(target)), fence)];
}

const NEVER = -1;

function held(slot: Slot, { node, epochs }: Fence): Step {
  return ['slotHeld', 'stale', slot, node, epochs.get(slot) ?? NEVER];
}

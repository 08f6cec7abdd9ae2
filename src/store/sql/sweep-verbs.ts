/**
 * Sweeps change all waiting deliveries of a schedule, in batches of bounded size, each in a transaction of its own.
 * The verb that pauses, resumes or cancels the schedule changes the first few deliveries. If there are more, it
 * stores the unfinished sweep in the same transaction.
 *
 * Later batches follow the ids, so none has to skip what was swept before. They apply only while the schedule is
 * still in a state that the action led to. When no delivery is left, the stored sweep is removed.
 */
import {
  type Sweep,
  type SweepCursor,
  sweep as sweepOf,
  type UnfinishedSweep,
} from '#src/domain/delivery-lifecycle.ts';
import type { FiringSchedule, ScheduleState } from '#src/domain/schedule.ts';
import { STATES_AFTER_ACTION } from '#src/domain/schedule-lifecycle.ts';
import type { Parameter, Step } from './steps.ts';

/** Deliveries of one status that a batch changes. Batches run one at a time (`sweep-queue.ts`). */
export const SWEEP_BATCH_MAX = 100;
/** Deliveries of one status that the action itself changes. Hundreds of actions may share a transaction. */
export const SWEEP_FIRST_BATCH_MAX = 10;

/** The number of statuses that a statement has parameters for. No action changes more. */
const STATUSES_MAX = 3;

/**
 * The part of the action that changes the first deliveries, and stores the sweep if there are more. It replaces an
 * earlier sweep.
 */
export function beginSweep(
  { partition, id }: Pick<FiringSchedule, 'partition' | 'id'>,
  sweep: Sweep,
  batchMax: number,
): readonly Step[] {
  const { action, requestedAt, from } = sweep;
  const firstMax = Math.min(batchMax, SWEEP_FIRST_BATCH_MAX);
  return [
    ...from.map((status): Step => {
      return ['sweepFirstDeliveries', null, partition, id, status, firstMax, ...outcomes(sweep)];
    }),
    ['removeSweep', null, partition, id],
    ['insertSweep', null, partition, id, action, requestedAt, ...statuses(sweep)],
  ];
}

/** A further batch: the deliveries of this status between two ids. The caller makes sure that they are not too many. */
export function continueSweep(
  unfinished: UnfinishedSweep,
  { status, id: upTo }: SweepCursor,
  after: string,
  state: ScheduleState,
): readonly Step[] {
  const { partition, scheduleId, action, requestedAt } = unfinished;
  const sweep = sweepOf(action, requestedAt);
  return [
    scheduleStillInState(unfinished, state),
    ['sweepDeliveries', null, partition, scheduleId, status, after, upTo, ...outcomes(sweep)],
  ];
}

/** Removes a sweep that is complete. Only another action brings deliveries back into a status that was swept. */
export function endSweep(unfinished: UnfinishedSweep, state: ScheduleState): readonly Step[] {
  const { partition, scheduleId, action, requestedAt } = unfinished;
  return [
    scheduleStillInState(unfinished, state),
    ['endSweep', null, partition, scheduleId, action, requestedAt],
  ];
}

/**
 * Removes a sweep whose schedule is no longer in one of its states. The caller has found it in none of them. It can
 * still have reached the last of them, but never an earlier one without another action, which replaces the sweep.
 */
export function removeStaleSweep(unfinished: UnfinishedSweep): readonly Step[] {
  const { partition, scheduleId, action, requestedAt } = unfinished;
  const [first, last = first] = STATES_AFTER_ACTION[action];
  return [['removeStaleSweep', null, partition, scheduleId, action, requestedAt, last]];
}

function scheduleStillInState({ partition, scheduleId }: UnfinishedSweep, state: ScheduleState): Step {
  return ['scheduleInState', 'stale', partition, scheduleId, state];
}

function outcomes({ unattemptedTo, attemptedTo, finalizedAt }: Sweep): readonly Parameter[] {
  return [unattemptedTo, attemptedTo, finalizedAt];
}

function statuses({ from }: Sweep): readonly Parameter[] {
  return Array.from({ length: STATUSES_MAX }, (_, index) => from[index] ?? null);
}

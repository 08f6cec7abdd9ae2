/**
 * Sweeper, in pieces: each changes a bounded number of deliveries, in a transaction of its own. The action itself reaches
 * a few deliveries and, where these were not all, leaves a mark in the same transaction. Later pieces walk along the
 * ids, so that none of them has to find its way past what was swept before. They hold only while the schedule is in
 * the state that the action led to. At the end the mark is removed.
 */
import {
  type Sweep,
  type SweepCursor,
  sweep as sweepOf,
  type UnfinishedSweep,
} from '#src/domain/delivery-lifecycle.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import { STATE_AFTER_ACTION } from '#src/domain/schedule-lifecycle.ts';
import type { Parameter, Step } from './steps.ts';

/** Deliveries of one status that a piece changes. Pieces take turns. */
export const SWEPT_TOGETHER_MAX = 100;
/** Deliveries of one status that the action itself changes. Orders take no turns: hundreds may share a transaction. */
export const SWEPT_WITH_ORDER_MAX = 10;

/** As many as an action can change, for statements whose parameters have fixed places. */
const STATUSES_MAX = 3;

/** Holds for a delivery that no unfinished sweep will pause or cancel. A resume lets what waits go on. */
export function notToBeSwept(deliveries: string): string {
  return `NOT EXISTS (SELECT 1 FROM sweeps w WHERE w.partition = ${deliveries}.partition
    AND w.schedule_id = ${deliveries}.schedule_id AND w.ordered <> 'resume' AND ${deliveries}.id <= w.last_id)`;
}

export const SWEEP_COLUMNS = ['partition', 'schedule_id', 'ordered', 'ordered_at', 'last_id'] as const;

export interface SweepRow {
  readonly partition: Partition;
  readonly schedule_id: ScheduleId;
  readonly ordered: UnfinishedSweep['action'];
  readonly ordered_at: Instant;
  readonly last_id: DeliveryId;
}

export function fromSweepRow(row: SweepRow): UnfinishedSweep {
  return {
    partition: row.partition,
    scheduleId: row.schedule_id,
    action: row.ordered,
    requestedAt: row.ordered_at,
    lastId: row.last_id,
  };
}

/** Part of the order: its first deliveries, and a mark if there are more. It takes the place of an action before it. */
export function beginSweep({ partition, id }: Schedule, sweep: Sweep, togetherMax: number): readonly Step[] {
  const { action, requestedAt, from } = sweep;
  const firstMax = Math.min(togetherMax, SWEPT_WITH_ORDER_MAX);
  return [
    ...from.map((status): Step => {
      return ['sweepFirstDeliveries', null, partition, id, status, firstMax, ...outcomes(sweep)];
    }),
    ['removeSweep', null, partition, id],
    ['markSweep', null, partition, id, action, requestedAt, ...statuses(sweep)],
  ];
}

/** A further piece: what has this status between two ids, of which there are no more than a piece may have. */
export function continueSweep(
  unfinished: UnfinishedSweep,
  { status, id: upTo }: SweepCursor,
  after: string,
): readonly Step[] {
  const { partition, scheduleId, action, requestedAt } = unfinished;
  const sweep = sweepOf(action, requestedAt);
  return [
    isStillOrdered(unfinished),
    ['sweepDeliveries', null, partition, scheduleId, status, after, upTo, ...outcomes(sweep)],
  ];
}

/** It has come to the end. Deliveries never come back into a status that was swept, but by another action. */
export function endSweep(unfinished: UnfinishedSweep): readonly Step[] {
  const { partition, scheduleId, action, requestedAt } = unfinished;
  return [isStillOrdered(unfinished), ['endSweep', null, partition, scheduleId, action, requestedAt]];
}

/** The schedule has moved on without taking the mark along. No action does that; such a mark would stay for ever. */
export function removeStaleSweep(unfinished: UnfinishedSweep): readonly Step[] {
  const { partition, scheduleId, action, requestedAt } = unfinished;
  return [['removeStaleSweep', null, partition, scheduleId, action, requestedAt, STATE_AFTER_ACTION[action]]];
}

function isStillOrdered({ partition, scheduleId, action }: UnfinishedSweep): Step {
  return ['scheduleInState', 'stale', partition, scheduleId, STATE_AFTER_ACTION[action]];
}

function outcomes({ unattemptedTo, attemptedTo, finalizedAt }: Sweep): readonly Parameter[] {
  return [unattemptedTo, attemptedTo, finalizedAt];
}

function statuses({ from }: Sweep): readonly Parameter[] {
  return Array.from({ length: STATUSES_MAX }, (_, index) => from[index] ?? null);
}

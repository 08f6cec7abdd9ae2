/**
 * Sweeps, in pieces: each changes a bounded number of deliveries, in a transaction of its own. The order itself carries
 * out the first piece and, where that was not all, leaves a mark in the same transaction. Later pieces hold only while
 * the schedule is in the state that the order led to; the last of them removes the mark.
 */
import { type Sweep, sweep as sweepOf, type UnfinishedSweep } from '#src/domain/delivery-life.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import { SWEPT_UNDER } from '#src/domain/schedule-life.ts';
import { PAST_EVERY_ID } from './id-ranges.ts';
import type { Parameter, Step } from './steps.ts';

/** Deliveries of one status that a transaction changes. */
export const SWEPT_TOGETHER_MAX = 250;

/** As many as an order can change, for statements whose parameters have fixed places. */
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
  readonly ordered: UnfinishedSweep['order'];
  readonly ordered_at: Instant;
  readonly last_id: DeliveryId;
}

export function fromSweepRow(row: SweepRow): UnfinishedSweep {
  return {
    partition: row.partition,
    scheduleId: row.schedule_id,
    order: row.ordered,
    orderedAt: row.ordered_at,
    lastId: row.last_id,
  };
}

/** Part of the order: a first piece, and a mark if there is more. It takes the place of an order before it. */
export function beginSweep({ partition, id }: Schedule, sweep: Sweep, togetherMax: number): readonly Step[] {
  const { order, orderedAt } = sweep;
  return [
    ...piece(partition, id, sweep, PAST_EVERY_ID, togetherMax),
    ['removeSweep', null, partition, id],
    ['markSweep', null, partition, id, order, orderedAt, ...statuses(sweep)],
  ];
}

/** A further piece. */
export function carryOnSweep(unfinished: UnfinishedSweep, togetherMax: number): readonly Step[] {
  const { partition, scheduleId, order, orderedAt, lastId } = unfinished;
  const sweep = sweepOf(order, orderedAt);
  return [
    ['scheduleInState', 'stale', partition, scheduleId, SWEPT_UNDER[order]],
    ...piece(partition, scheduleId, sweep, lastId, togetherMax),
    ['endSweep', null, partition, scheduleId, order, orderedAt, ...statuses(sweep)],
  ];
}

/** The schedule has moved on without taking the mark along, as an older version of the program does it. */
export function removeStaleSweep(unfinished: UnfinishedSweep): readonly Step[] {
  const { partition, scheduleId, order, orderedAt } = unfinished;
  return [['removeStaleSweep', null, partition, scheduleId, order, orderedAt, SWEPT_UNDER[order]]];
}

function piece(
  partition: Partition,
  scheduleId: ScheduleId,
  { from, untriedTo, triedTo, finalizedAt }: Sweep,
  lastId: string,
  togetherMax: number,
): readonly Step[] {
  return from.map((status) => [
    'sweepDeliveries',
    null,
    partition,
    scheduleId,
    status,
    lastId,
    togetherMax,
    untriedTo,
    triedTo,
    finalizedAt,
  ]);
}

function statuses({ from }: Sweep): readonly Parameter[] {
  return Array.from({ length: STATUSES_MAX }, (_, index) => from[index] ?? null);
}

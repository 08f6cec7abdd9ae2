/**
 * The table of unfinished sweeps, for the statements. The writing thread loads this file, but not the life cycles that
 * `sweep-verbs.ts` needs: with cron and time zones, they take a quarter of the time that the thread needs to start.
 */
import type { UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';

/** SQL: no unfinished sweep will pause or cancel this delivery. A resume does not stop deliveries that wait. */
export function notAwaitingSweep(deliveries: string): string {
  return `NOT EXISTS (SELECT 1 FROM sweeps w WHERE w.partition = ${deliveries}.partition
    AND w.schedule_id = ${deliveries}.schedule_id AND w.action <> 'resume' AND ${deliveries}.id <= w.last_id)`;
}

export const SWEEP_COLUMNS = ['partition', 'schedule_id', 'action', 'requested_at', 'last_id'] as const;

export interface SweepRow {
  readonly partition: Partition;
  readonly schedule_id: ScheduleId;
  readonly action: UnfinishedSweep['action'];
  readonly requested_at: Instant;
  readonly last_id: DeliveryId;
}

export function fromSweepRow(row: SweepRow): UnfinishedSweep {
  return {
    partition: row.partition,
    scheduleId: row.schedule_id,
    action: row.action,
    requestedAt: row.requested_at,
    lastId: row.last_id,
  };
}

/**
 * The table of unfinished sweeps, for the statements. The writing thread loads this file, but not the life cycles that
 * `sweep-verbs.ts` needs: with cron and time zones, they take a quarter of the time that the thread needs to start.
 */
import type { UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import { mapping, plain } from './mapping.ts';

/** SQL: no unfinished sweep will pause or cancel this delivery. A resume does not stop deliveries that wait. */
export function notAwaitingSweep(deliveries: string): string {
  return `NOT EXISTS (SELECT 1 FROM sweeps w WHERE w.partition = ${deliveries}.partition
    AND w.schedule_id = ${deliveries}.schedule_id AND w.action <> 'resume' AND ${deliveries}.id <= w.last_id)`;
}

export const SWEEP = mapping<UnfinishedSweep>({
  partition: plain,
  scheduleId: plain,
  action: plain,
  requestedAt: plain,
  lastId: plain,
});

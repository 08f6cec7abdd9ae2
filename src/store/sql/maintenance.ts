/** Finishes sweeps, and keeps the trusted time. */
import type { DeliveryStatus } from '#src/domain/delivery.ts';
import { type SweepCursor, sweep, type UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { ScheduleState } from '#src/domain/schedule.ts';
import { STATES_AFTER_ACTION } from '#src/domain/schedule-lifecycle.ts';
import type { Store } from '#src/ports/store.ts';
import type { Row } from './mapping.ts';
import { BEFORE_EVERY_ID } from './page-bounds.ts';
import type { SqlRunner, Step } from './steps.ts';
import { SweepQueue } from './sweep-queue.ts';
import { SWEEP } from './sweep-rows.ts';
import { continueSweep, endSweep, removeStaleSweep } from './sweep-verbs.ts';

interface TrustedTimeRow {
  readonly seen_at: Instant;
  readonly trusted_at: Instant;
  readonly believed_from: Instant | null;
}

const SWEEPS = `SELECT ${SWEEP.columns.join(', ')} FROM sweeps`;
const SWEEP_OF_SCHEDULE = `${SWEEPS} WHERE partition = $1 AND schedule_id = $2`;
/** Sorts by age within each customer first. A customer with many unfinished sweeps does not hide those of others. */
const OLDEST_SWEEPS = `SELECT ${SWEEP.columns.join(', ')} FROM (
    SELECT w.*, row_number() OVER (PARTITION BY partition ORDER BY requested_at, schedule_id) AS position FROM sweeps w
  ) AS ranked ORDER BY position, requested_at LIMIT $1`;
const NEXT_BATCH = `SELECT id FROM deliveries
  WHERE partition = $1 AND schedule_id = $2 AND status = $3 AND id > $4 AND id <= $5 ORDER BY id LIMIT $6`;
const TRUSTED_TIME = 'SELECT seen_at, trusted_at, believed_from FROM trusted_time';

type Maintenance = Pick<
  Store,
  'findSweep' | 'listSweeps' | 'continueSweep' | 'findTrustedTime' | 'saveTrustedTime'
>;

/** `sweepBatchMax`: how many deliveries of one status a batch changes. */
export function maintenance(sql: SqlRunner, sweepBatchMax: number): Maintenance {
  const queue = new SweepQueue();

  async function sweepBatch(
    unfinished: UnfinishedSweep,
    after: SweepCursor | null,
  ): Promise<SweepCursor | null> {
    const { from } = sweep(unfinished.action, unfinished.requestedAt);
    for (const status of after === null ? from : from.slice(from.indexOf(after.status))) {
      const afterId = after?.status === status ? after.id : BEFORE_EVERY_ID;
      const upTo = await batchEnd(unfinished, status, afterId);
      if (upTo === null) continue;
      const isDone = await inItsState(unfinished, (state) => continueSweep(unfinished, upTo, afterId, state));
      return isDone ? upTo : null;
    }
    await inItsState(unfinished, (state) => endSweep(unfinished, state));
    return null;
  }

  /** Returns whether the schedule is in one of the states of the sweep. If not, the sweep is removed. */
  async function inItsState(
    unfinished: UnfinishedSweep,
    steps: (state: ScheduleState) => readonly Step[],
  ): Promise<boolean> {
    for (const state of STATES_AFTER_ACTION[unfinished.action]) {
      if ((await sql.run<'stale'>(steps(state))) === 'done') return true;
    }
    await sql.run(removeStaleSweep(unfinished));
    return false;
  }

  /** The last delivery of the next batch; null if no delivery of this status is left. */
  async function batchEnd(
    { partition, scheduleId, lastId }: UnfinishedSweep,
    status: DeliveryStatus,
    after: string,
  ): Promise<SweepCursor | null> {
    const key = [partition, scheduleId, status, after, lastId] as const;
    const rows = await sql.query<{ readonly id: DeliveryId }>(NEXT_BATCH, ...key, sweepBatchMax);
    const last = rows.at(-1);
    return last === undefined ? null : { status, id: last.id };
  }

  return {
    findSweep: async (partition, id) => {
      const [row] = await sql.query<Row>(SWEEP_OF_SCHEDULE, partition, id);
      return row === undefined ? null : SWEEP.from(row);
    },
    listSweeps: async (limit) => (await sql.query<Row>(OLDEST_SWEEPS, limit)).map(SWEEP.from),
    continueSweep: (unfinished, after) =>
      queue.run(unfinished.partition, () => sweepBatch(unfinished, after)),
    findTrustedTime: async () => {
      const [row] = await sql.query<TrustedTimeRow>(TRUSTED_TIME);
      if (row === undefined) return null;
      return { seenAt: row.seen_at, trustedAt: row.trusted_at, believedFrom: row.believed_from };
    },
    saveTrustedTime: async ({ seenAt, trustedAt, believedFrom }) => {
      await sql.run([['saveTrustedTime', null, seenAt, trustedAt, believedFrom]]);
    },
  };
}

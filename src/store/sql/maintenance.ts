/** The part of both stores that lists attempts, finishes sweeps and stores the trusted time. */
import type { Attempt, DeliveryStatus } from '#src/domain/delivery.ts';
import { type SweepCursor, sweep, type UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { TrustedTime } from '#src/domain/trusted-time.ts';
import { fromAttemptRow, LIST_ATTEMPTS, type ListedAttemptRow } from './attempt-rows.ts';
import { BEFORE_EVERY_ID } from './page-bounds.ts';
import type { SqlRunner } from './steps.ts';
import { SweepQueue } from './sweep-queue.ts';
import { fromSweepRow, SWEEP_COLUMNS, type SweepRow } from './sweep-rows.ts';
import { SWEEP_BATCH_MAX } from './sweep-verbs.ts';
import type { makeVerbs } from './verbs.ts';

interface TrustedTimeRow {
  readonly seen_at: Instant;
  readonly trusted_at: Instant;
  readonly believed_from: Instant | null;
}

const SWEEPS = `SELECT ${SWEEP_COLUMNS.join(', ')} FROM sweeps`;
const SWEEP = `${SWEEPS} WHERE partition = $1 AND schedule_id = $2`;
/** Sorts by age within each customer first. A customer with many unfinished sweeps does not hide those of others. */
const OLDEST_SWEEPS = `SELECT ${SWEEP_COLUMNS.join(', ')} FROM (
    SELECT w.*, row_number() OVER (PARTITION BY partition ORDER BY requested_at, schedule_id) AS position FROM sweeps w
  ) AS ranked ORDER BY position, requested_at LIMIT $1`;
const NEXT_BATCH = `SELECT id FROM deliveries
  WHERE partition = $1 AND schedule_id = $2 AND status = $3 AND id > $4 AND id <= $5 ORDER BY id LIMIT $6`;
const TRUSTED_TIME = 'SELECT seen_at, trusted_at, believed_from FROM trusted_time';

type Verbs = Pick<
  ReturnType<typeof makeVerbs>,
  'continueSweep' | 'endSweep' | 'removeStaleSweep' | 'saveTrustedTime'
>;

export abstract class SqlMaintenance {
  readonly #sql: SqlRunner;
  readonly #verbs: Verbs;
  readonly #sweepQueue = new SweepQueue();
  protected readonly sweepBatchMax: number;

  /** `sweepBatchMax`: how many deliveries of one status a batch changes. */
  constructor(sql: SqlRunner, verbs: Verbs, sweepBatchMax = SWEEP_BATCH_MAX) {
    this.#sql = sql;
    this.#verbs = verbs;
    this.sweepBatchMax = sweepBatchMax;
  }

  async listAttempts(
    partition: Partition,
    id: DeliveryId,
    afterAttemptNo: number,
    limit: number,
  ): Promise<readonly Attempt[]> {
    const after = [partition, id, afterAttemptNo];
    const rows = await this.#sql.lookUp<ListedAttemptRow>(LIST_ATTEMPTS, ...after, ...after, limit);
    return rows.map(fromAttemptRow);
  }

  async findSweep(partition: Partition, id: ScheduleId): Promise<UnfinishedSweep | null> {
    const [row] = await this.#sql.query<SweepRow>(SWEEP, partition, id);
    return row === undefined ? null : fromSweepRow(row);
  }

  async listSweeps(limit: number): Promise<readonly UnfinishedSweep[]> {
    return (await this.#sql.query<SweepRow>(OLDEST_SWEEPS, limit)).map(fromSweepRow);
  }

  continueSweep(unfinished: UnfinishedSweep, after: SweepCursor | null): Promise<SweepCursor | null> {
    return this.#sweepQueue.run(unfinished.partition, () => this.#sweepBatch(unfinished, after));
  }

  async #sweepBatch(unfinished: UnfinishedSweep, after: SweepCursor | null): Promise<SweepCursor | null> {
    const { continueSweep, endSweep, removeStaleSweep } = this.#verbs;
    const { from } = sweep(unfinished.action, unfinished.requestedAt);
    for (const status of after === null ? from : from.slice(from.indexOf(after.status))) {
      const afterId = after?.status === status ? after.id : BEFORE_EVERY_ID;
      const upTo = await this.#batchEnd(unfinished, status, afterId);
      if (upTo === null) continue;
      const answer = await this.#sql.run<'stale'>(continueSweep(unfinished, upTo, afterId));
      if (answer === 'done') return upTo;
      await this.#sql.run(removeStaleSweep(unfinished));
      return null;
    }
    if ((await this.#sql.run<'stale'>(endSweep(unfinished))) === 'stale') {
      await this.#sql.run(removeStaleSweep(unfinished));
    }
    return null;
  }

  /** The last delivery of the next batch; null if no delivery of this status is left. */
  async #batchEnd(
    { partition, scheduleId, lastId }: UnfinishedSweep,
    status: DeliveryStatus,
    after: string,
  ): Promise<SweepCursor | null> {
    const rows = await this.#sql.query<{ readonly id: DeliveryId }>(
      NEXT_BATCH,
      partition,
      scheduleId,
      status,
      after,
      lastId,
      this.sweepBatchMax,
    );
    const last = rows.at(-1);
    return last === undefined ? null : { status, id: last.id };
  }

  async findTrustedTime(): Promise<TrustedTime | null> {
    const [row] = await this.#sql.query<TrustedTimeRow>(TRUSTED_TIME);
    if (row === undefined) return null;
    return { seenAt: row.seen_at, trustedAt: row.trusted_at, believedFrom: row.believed_from };
  }

  async saveTrustedTime(trusted: TrustedTime): Promise<void> {
    await this.#sql.run(this.#verbs.saveTrustedTime(trusted));
  }
}

/**
 * What is old enough to be forgotten. A page of candidates is read here, each is removed by the writing
 * thread only if it is still what was read: nothing that moved on meanwhile is lost, and the reader never
 * waits for the disk.
 *
 * A schedule goes after its deliveries. One that ended long ago may still have some, a replay among them:
 * such schedules are looked at and left, and the next page begins after them, so that however many there
 * are, a page costs what a page holds. Where the walk has come to is kept until it has come to the end.
 */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { Prunable } from '#src/ports/store.ts';
import {
  type DeliveryKey,
  ENDED_STATES,
  type Removals,
  TERMINAL_STATUSES,
} from '#src/store/sql/retention.ts';
import type { Db } from './connection.ts';
import { Questions } from './questions.ts';
import { verbs } from './verbs.ts';

interface EndedSchedule {
  readonly partition: Partition;
  readonly id: ScheduleId;
  readonly revision: number;
  readonly metadata: string;
  readonly ended_at: Instant;
  readonly is_free: number;
}

const THE_BEGINNING = { ended_at: Number.MIN_SAFE_INTEGER, id: '' };

export class Retention {
  readonly #ask: Questions;
  #schedulesAfter: { readonly ended_at: number; readonly id: string } = THE_BEGINNING;

  constructor(db: Db) {
    this.#ask = new Questions(db);
  }

  removals(what: Prunable, before: Instant, limit: number): Removals {
    switch (what) {
      case 'deliveries':
        return this.#deliveries(before, limit);
      case 'schedules':
        return this.#schedules(before, limit);
      case 'receipts':
        return this.#receipts(before, limit);
      case 'gates':
        return this.#gates(before, limit);
    }
  }

  #deliveries(before: Instant, limit: number): Removals {
    const rows = this.#ask.all<DeliveryKey>(
      `SELECT partition, id, revision FROM deliveries INDEXED BY deliveries_finalized
       WHERE finalized_at < ? AND status IN (${TERMINAL_STATUSES}) ORDER BY finalized_at LIMIT ?`,
      before,
      limit,
    );
    return { looked: rows.length, verbs: rows.map(verbs.removeDelivery) };
  }

  #schedules(before: Instant, limit: number): Removals {
    const after = this.#schedulesAfter;
    const rows = this.#ask.all<EndedSchedule>(
      `SELECT partition, id, revision, metadata, ended_at,
         NOT EXISTS (SELECT 1 FROM deliveries d INDEXED BY deliveries_of_schedule
           WHERE d.partition = schedules.partition AND d.schedule_id = schedules.id) AS is_free
       FROM schedules INDEXED BY schedules_ended
       WHERE (ended_at, id) > (?, ?) AND ended_at < ? AND state IN (${ENDED_STATES})
       ORDER BY ended_at, id LIMIT ?`,
      after.ended_at,
      after.id,
      before,
      limit,
    );
    const last = rows.at(-1);
    this.#schedulesAfter = last === undefined || rows.length < limit ? THE_BEGINNING : last;
    return {
      looked: rows.length,
      verbs: rows
        .filter((row) => row.is_free === 1)
        .map((row) => verbs.removeSchedule(row, JSON.parse(row.metadata) as Labels)),
    };
  }

  #receipts(before: Instant, limit: number): Removals {
    const rows = this.#ask.all<{ readonly partition: Partition; readonly key: string }>(
      'SELECT partition, key FROM receipts WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
      before,
      limit,
    );
    const remove = rows.map(({ partition, key }) => verbs.removeReceipt(partition, key, before));
    return { looked: rows.length, verbs: remove };
  }

  #gates(before: Instant, limit: number): Removals {
    const rows = this.#ask.all<{ readonly partition: Partition; readonly endpoint: EndpointKey }>(
      'SELECT partition, endpoint FROM gates WHERE saved_at < ? ORDER BY saved_at LIMIT ?',
      before,
      limit,
    );
    const remove = rows.map(({ partition, endpoint }) => verbs.removeGate(partition, endpoint, before));
    return { looked: rows.length, verbs: remove };
  }
}

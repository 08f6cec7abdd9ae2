/**
 * What is old enough to be forgotten. A page of candidates is read here, each is removed by the writer only if
 * it is still what was read: nothing that moved on meanwhile is lost, whichever node removes it.
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
import type { makeVerbs } from '#src/store/sql/verbs.ts';
import type { Reader } from './reader.ts';

interface EndedSchedule {
  readonly partition: Partition;
  readonly id: ScheduleId;
  readonly revision: number;
  readonly metadata: string;
  readonly ended_at: Instant;
  readonly is_free: boolean;
}

const THE_BEGINNING = { ended_at: Number.MIN_SAFE_INTEGER, id: '' };

type Verbs = Pick<
  ReturnType<typeof makeVerbs>,
  'removeDelivery' | 'removeSchedule' | 'removeReceipt' | 'removeGate'
>;

export class Retention {
  readonly #reader: Reader;
  readonly #verbs: Verbs;
  #schedulesAfter: { readonly ended_at: number; readonly id: string } = THE_BEGINNING;

  constructor(reader: Reader, verbs: Verbs) {
    this.#reader = reader;
    this.#verbs = verbs;
  }

  removals(what: Prunable, before: Instant, limit: number): Promise<Removals> {
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

  async #deliveries(before: Instant, limit: number): Promise<Removals> {
    const rows = await this.#reader.ask<DeliveryKey>(
      `SELECT partition, id, revision FROM deliveries
       WHERE finalized_at < $1 AND status IN (${TERMINAL_STATUSES}) ORDER BY finalized_at LIMIT $2`,
      before,
      limit,
    );
    return { looked: rows.length, verbs: rows.map(this.#verbs.removeDelivery) };
  }

  async #schedules(before: Instant, limit: number): Promise<Removals> {
    const after = this.#schedulesAfter;
    // Said twice, the second time as a range: what is only equal the planner may gather for all schedules at once.
    const rows = await this.#reader.ask<EndedSchedule>(
      `SELECT s.partition, s.id, s.revision, s.metadata, s.ended_at,
         NOT EXISTS (SELECT 1 FROM deliveries d
           WHERE d.partition = s.partition AND d.schedule_id = s.id AND d.schedule_id >= s.id) AS is_free
       FROM schedules s
       WHERE (s.ended_at, s.id) > ($1, $2) AND s.ended_at < $3 AND s.state IN (${ENDED_STATES})
       ORDER BY s.ended_at, s.id LIMIT $4`,
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
        .filter((row) => row.is_free)
        .map((row) => this.#verbs.removeSchedule(row, JSON.parse(row.metadata) as Labels)),
    };
  }

  async #receipts(before: Instant, limit: number): Promise<Removals> {
    const rows = await this.#reader.ask<{ readonly partition: Partition; readonly key: string }>(
      'SELECT partition, key FROM receipts WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2',
      before,
      limit,
    );
    const remove = rows.map(({ partition, key }) => this.#verbs.removeReceipt(partition, key, before));
    return { looked: rows.length, verbs: remove };
  }

  async #gates(before: Instant, limit: number): Promise<Removals> {
    const rows = await this.#reader.ask<{ readonly partition: Partition; readonly endpoint: EndpointKey }>(
      'SELECT partition, endpoint FROM gates WHERE saved_at < $1 ORDER BY saved_at LIMIT $2',
      before,
      limit,
    );
    const remove = rows.map(({ partition, endpoint }) => this.#verbs.removeGate(partition, endpoint, before));
    return { looked: rows.length, verbs: remove };
  }
}

/**
 * Reads what is due, in the order of (due_at, id).
 *
 * Each slot that a node holds is walked along an index that begins with the slot, and the walks are merged. Rows of
 * other nodes' slots are never looked at, however many of them are due.
 *
 * The work of all customers but some is read customer by customer, along an index that begins with the partition: from
 * each customer that has anything waiting to the next. Rows of the others are never looked at either.
 *
 * Citus cannot walk each slot or each customer on its own. There every worker looks for the rows by itself.
 */
import type { Due } from '#src/domain/due.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/partition.ts';
import { SLOTS, type Slot } from '#src/domain/slot.ts';
import type { DuePage } from '#src/ports/store.ts';
import { BEFORE_EVERYTHING, type DueRow, type Place, toDue } from '#src/store/sql/due-rows.ts';
import { mergedWalks, type Round } from '#src/store/sql/merged-walks.ts';
import type { Reader } from './reader.ts';

const COLUMNS = 'partition, id, due_at, deadline, endpoint_id, url, payload_bytes';
const WAITING = "status IN ('scheduled', 'retry_scheduled')";

const OF_SLOTS = 'AND slot = ANY($5::integer[])';

function distributedDue(condition: string): string {
  return `SELECT ${COLUMNS} FROM deliveries
    WHERE ${WAITING} AND (due_at, id) > ($1, $2) AND due_at <= $3 ${condition}
    ORDER BY due_at, id LIMIT $4`;
}

const DISTRIBUTED_DUE = distributedDue(OF_SLOTS);
const DISTRIBUTED_DUE_OF_OTHERS = distributedDue(`${OF_SLOTS} AND partition <> ALL($6::bigint[])`);

const DUE_OF_WALKS = `SELECT found.*
  FROM unnest($1::integer[], $2::bigint[], $3::text[]) AS walk (slot, due_at, id)
  CROSS JOIN LATERAL (
    SELECT slot, ${COLUMNS} FROM deliveries d
    WHERE ${WAITING} AND d.slot = walk.slot AND (d.due_at, d.id) > (walk.due_at, walk.id) AND d.due_at <= $4
    ORDER BY d.due_at, d.id LIMIT $5
  ) found
  ORDER BY found.due_at, found.id LIMIT $6`;

const DUE_OF_OTHERS = `WITH RECURSIVE customers AS (
    (SELECT partition FROM deliveries WHERE ${WAITING} ORDER BY partition LIMIT 1)
    UNION ALL
    SELECT (
      SELECT d.partition FROM deliveries d WHERE ${WAITING} AND d.partition > c.partition
      ORDER BY d.partition LIMIT 1
    ) FROM customers c WHERE c.partition IS NOT NULL
  )
  SELECT found.* FROM (SELECT partition FROM customers WHERE partition <> ALL($6::bigint[])) c
  CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM deliveries d
    WHERE ${WAITING} AND d.partition = c.partition AND (d.due_at, d.id) > ($1, $2) AND d.due_at <= $3
      -- A sum is in no index: the planner must not walk the slots of everybody.
      AND d.slot + 0 = ANY($5::integer[])
    ORDER BY d.due_at, d.id LIMIT $4
  ) found
  ORDER BY due_at, id LIMIT $4`;

interface WalkedRow extends DueRow {
  readonly slot: Slot;
}

const EVERY_SLOT: ReadonlySet<Slot> = new Set(Array.from({ length: SLOTS }, (_, slot) => slot as Slot));

export class DueReads {
  readonly #reader: Reader;
  readonly #distributed: boolean;

  constructor(reader: Reader, distributed: boolean) {
    this.#reader = reader;
    this.#distributed = distributed;
  }

  /** Without slots: the due rows of everybody. */
  async list(
    after: Place | null,
    until: Instant,
    limit: number,
    slots: ReadonlySet<Slot> = EVERY_SLOT,
  ): Promise<readonly Due[]> {
    const { dueAt, id } = after ?? BEFORE_EVERYTHING;
    const rows = await (this.#distributed
      ? this.#reader.ask<DueRow>(DISTRIBUTED_DUE, dueAt, id, until, limit, [...slots])
      : this.#merged(slots, { dueAt, id }, until, limit));
    return rows.map(toDue);
  }

  async listOfOthers(
    without: ReadonlySet<Partition>,
    after: Place | null,
    until: Instant,
    limit: number,
    slots: ReadonlySet<Slot> = EVERY_SLOT,
  ): Promise<DuePage> {
    const { dueAt, id } = after ?? BEFORE_EVERYTHING;
    const sql = this.#distributed ? DISTRIBUTED_DUE_OF_OTHERS : DUE_OF_OTHERS;
    const rows = await this.#reader.ask<DueRow>(sql, dueAt, id, until, limit, [...slots], [...without]);
    const due = rows.map(toDue);
    return { due, next: due.length < limit ? null : (due.at(-1) ?? null) };
  }

  async #merged(
    slots: ReadonlySet<Slot>,
    { dueAt, id }: { readonly dueAt: number; readonly id: string },
    until: Instant,
    limit: number,
  ): Promise<readonly DueRow[]> {
    const walks = [...slots].map((key) => ({ key, dueAt, id }));
    const merging = mergedWalks<Slot, WalkedRow>(walks, until, limit, ({ slot }) => slot);
    let asked = merging.next();
    while (!asked.done) asked = merging.next(await this.#walk(asked.value, limit));
    return asked.value;
  }

  #walk({ walks, until, share }: Round<Slot>, limit: number): Promise<readonly WalkedRow[]> {
    return this.#reader.ask<WalkedRow>(
      DUE_OF_WALKS,
      walks.map(({ key }) => key),
      walks.map(({ dueAt }) => dueAt),
      walks.map(({ id }) => id),
      until,
      share,
      limit,
    );
  }
}

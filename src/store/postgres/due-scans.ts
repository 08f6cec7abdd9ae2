/**
 * Scans of due deliveries on one server.
 *
 * Each slot that a node owns is scanned by an index that begins with the slot, and the scans are merged. Customers
 * are scanned one by one within each slot, by an index that begins with slot and partition. Rows of other nodes'
 * slots and of other customers are never read, however many are due.
 */
import type { Instant } from '#src/domain/instant.ts';
import type { Slot } from '#src/domain/slot.ts';
import type { CustomerCursor } from '#src/ports/store.ts';
import type { DueRow } from '#src/store/sql/due-rows.ts';
import { BEFORE_EVERY_DELIVERY, BEFORE_EVERY_PARTITION } from '#src/store/sql/page-bounds.ts';
import type { Reader } from './read-pool.ts';
import { mergeSlotScans, type SlotRow } from './slot-scans.ts';

/** A scan begins behind this position. */
export type DueBound = Readonly<typeof BEFORE_EVERY_DELIVERY>;

export interface DueScans {
  /** Due deliveries of all customers in the order of (due_at, id). */
  ofSlots(
    slots: ReadonlySet<Slot>,
    after: DueBound,
    until: Instant,
    limit: number,
  ): Promise<readonly DueRow[]>;
  /** Customers that have waiting deliveries. */
  customers(
    slots: ReadonlySet<Slot>,
    after: CustomerCursor | null,
    limit: number,
  ): Promise<readonly CustomerCursor[]>;
  /** Due deliveries behind each cursor. */
  ofCustomers(
    cursors: readonly CustomerCursor[],
    until: Instant,
    limitEach: number,
  ): Promise<readonly SlotRow[]>;
}

export const DUE_COLUMNS = 'partition, id, due_at, deadline, endpoint_id, url, payload_bytes';
const WAITING = "status IN ('scheduled', 'retry_scheduled')";
/** The condition of the indexes that begin with slot or partition (see the schema). */
export const WAITING_ANYWHERE = `${WAITING} AND id <> ''`;

const DUE_OF_SLOTS = `SELECT found.*
  FROM unnest($1::integer[], $2::bigint[], $3::text[]) AS scan (slot, due_at, id)
  CROSS JOIN LATERAL (
    SELECT slot, ${DUE_COLUMNS} FROM deliveries d
    WHERE ${WAITING_ANYWHERE} AND d.slot = scan.slot AND (d.due_at, d.id) > (scan.due_at, scan.id) AND d.due_at <= $4
    ORDER BY d.due_at, d.id LIMIT $5
  ) found
  ORDER BY found.due_at, found.id LIMIT $6`;

const CUSTOMERS = `SELECT s.slot, c.partition
  FROM unnest($1::integer[], $2::bigint[]) AS s (slot, after)
  CROSS JOIN LATERAL (
    WITH RECURSIVE customers AS (
      (SELECT d.partition FROM deliveries d WHERE ${WAITING} AND d.slot = s.slot AND d.partition > s.after
       ORDER BY d.partition LIMIT 1)
      UNION ALL
      SELECT (
        SELECT d.partition FROM deliveries d
        WHERE ${WAITING} AND d.slot = s.slot AND d.partition > customers.partition
        ORDER BY d.partition LIMIT 1
      ) FROM customers WHERE customers.partition IS NOT NULL
    )
    SELECT partition FROM customers WHERE partition IS NOT NULL LIMIT $3
  ) c
  ORDER BY s.slot, c.partition LIMIT $3`;

const DUE_OF_CUSTOMERS = `SELECT found.*
  FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::text[]) AS scan (slot, partition, due_at, id)
  CROSS JOIN LATERAL (
    SELECT slot, ${DUE_COLUMNS} FROM deliveries d
    WHERE ${WAITING} AND d.slot = scan.slot AND d.partition = scan.partition
      AND (d.due_at, d.id) > (scan.due_at, scan.id) AND d.due_at <= $5
    ORDER BY d.due_at, d.id LIMIT $6
  ) found`;

/** One statement looks for customers in this many slots. */
const SLOTS_PER_STATEMENT = 64;

export class SlotDueScans implements DueScans {
  readonly #reader: Reader;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  ofSlots(
    slots: ReadonlySet<Slot>,
    { dueAt, id }: DueBound,
    until: Instant,
    limit: number,
  ): Promise<readonly DueRow[]> {
    const scans = [...slots].map((slot) => ({ slot, dueAt, id }));
    return mergeSlotScans(scans, until, limit, (round) =>
      this.#reader.query<SlotRow>(
        DUE_OF_SLOTS,
        round.scans.map(({ slot }) => slot),
        round.scans.map((scan) => scan.dueAt),
        round.scans.map((scan) => scan.id),
        round.until,
        round.share,
        limit,
      ),
    );
  }

  async customers(
    slots: ReadonlySet<Slot>,
    after: CustomerCursor | null,
    limit: number,
  ): Promise<readonly CustomerCursor[]> {
    const found: CustomerCursor[] = [];
    const from = after?.slot ?? 0;
    const left = [...slots].filter((slot) => slot >= from).toSorted((one, other) => one - other);
    while (found.length < limit && left.length > 0) {
      const chosen = left.splice(0, SLOTS_PER_STATEMENT);
      const afters = chosen.map((slot) => (slot === after?.slot ? after.partition : BEFORE_EVERY_PARTITION));
      const rows = await this.#reader.query<Pick<SlotRow, 'slot' | 'partition'>>(
        CUSTOMERS,
        chosen,
        afters,
        limit - found.length,
      );
      found.push(...rows.map(({ slot, partition }) => ({ partition, slot, after: null })));
    }
    return found;
  }

  ofCustomers(
    cursors: readonly CustomerCursor[],
    until: Instant,
    limitEach: number,
  ): Promise<readonly SlotRow[]> {
    return this.#reader.query<SlotRow>(
      DUE_OF_CUSTOMERS,
      cursors.map(({ slot }) => slot),
      cursors.map(({ partition }) => partition),
      cursors.map(({ after }) => (after ?? BEFORE_EVERY_DELIVERY).dueAt),
      cursors.map(({ after }) => (after ?? BEFORE_EVERY_DELIVERY).id),
      until,
      limitEach,
    );
  }
}

/**
 * Reads due deliveries: of all customers in the order of (due_at, id), or customer by customer.
 *
 * On one server, each slot that a node owns is scanned by an index that begins with the slot, and the scans are merged.
 * Customers are scanned one by one within each slot, by an index that begins with slot and partition. Rows of other
 * nodes' slots and of other customers are never read, however many are due.
 */
import type { Instant } from '#src/domain/instant.ts';
import { ALL_SLOTS, type Slot } from '#src/domain/slot.ts';
import type { CustomerCursor, Store } from '#src/ports/store.ts';
import { DUE_COLUMNS, type DueRow, toDue, WAITING } from '#src/store/sql/due-rows.ts';
import { BEFORE_EVERY_DELIVERY, BEFORE_EVERY_PARTITION } from '#src/store/sql/page-bounds.ts';
import type { Reader } from './read-pool.ts';
import { byDueInstant, mergeSlotScans, type SlotRow } from './slot-scans.ts';

/** A scan begins behind this position. */
type DueBound = Readonly<typeof BEFORE_EVERY_DELIVERY>;
type Slots = ReadonlySet<Slot>;
type Cursors = readonly CustomerCursor[];

export interface DueScans {
  /** Due deliveries of all customers in the order of (due_at, id). */
  ofSlots(slots: Slots, after: DueBound, until: Instant, limit: number): Promise<readonly DueRow[]>;
  /** Customers that have deliveries which are due at `until` at the latest. Others may be listed too. */
  customers(slots: Slots, after: CustomerCursor | null, until: Instant, limit: number): Promise<Cursors>;
  /** Due deliveries behind each cursor. */
  ofCustomers(cursors: Cursors, until: Instant, limitEach: number): Promise<readonly SlotRow[]>;
}

const EVERY_SLOT: Slots = new Set(ALL_SLOTS);

/** Without slots, due deliveries of all slots are read. */
export function dueReads(
  scans: DueScans,
): Pick<Store, 'listDue' | 'listWaitingCustomers' | 'listDueOfCustomers'> {
  return {
    listDue: async (after, until, limit, slots = EVERY_SLOT) =>
      (await scans.ofSlots(slots, after ?? BEFORE_EVERY_DELIVERY, until, limit)).map(toDue),
    listWaitingCustomers: (after, until, limit, slots = EVERY_SLOT) =>
      scans.customers(slots, after, until, limit),
    listDueOfCustomers: async (cursors, until, limitEach, slots = EVERY_SLOT) => {
      const rows = await scans.ofCustomers(cursors, until, limitEach);
      const unfinished = cursors.flatMap((cursor) => {
        const found = rows.filter((row) => isBehind(row, cursor));
        const last = found.length < limitEach ? undefined : found.toSorted(byDueInstant).at(-1);
        return last === undefined ? [] : [{ ...cursor, after: { dueAt: last.due_at, id: last.id } }];
      });
      return { due: rows.filter(({ slot }) => slots.has(slot)).map(toDue), unfinished };
    },
  };
}

function isBehind(row: SlotRow, { partition, slot }: CustomerCursor): boolean {
  return row.partition === partition && (slot === null || row.slot === slot);
}

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

export function slotDueScans(reader: Reader): DueScans {
  return {
    ofSlots: (slots, { dueAt, id }, until, limit) => {
      const scans = [...slots].map((slot) => ({ slot, dueAt, id }));
      return mergeSlotScans(scans, until, limit, (round) =>
        reader.query<SlotRow>(
          DUE_OF_SLOTS,
          round.scans.map(({ slot }) => slot),
          round.scans.map((scan) => scan.dueAt),
          round.scans.map((scan) => scan.id),
          round.until,
          round.share,
          limit,
        ),
      );
    },
    customers: async (slots, after, _until, limit) => {
      const found: CustomerCursor[] = [];
      const from = after?.slot ?? 0;
      const left = [...slots].filter((slot) => slot >= from).toSorted((one, other) => one - other);
      while (found.length < limit && left.length > 0) {
        const chosen = left.splice(0, SLOTS_PER_STATEMENT);
        const rows = await reader.query<Pick<SlotRow, 'slot' | 'partition'>>(
          CUSTOMERS,
          chosen,
          chosen.map((slot) => (slot === after?.slot ? after.partition : BEFORE_EVERY_PARTITION)),
          limit - found.length,
        );
        found.push(...rows.map(({ slot, partition }) => ({ partition, slot, after: null })));
      }
      return found;
    },
    ofCustomers: (cursors, until, limitEach) => {
      const afters = cursors.map(({ after }) => after ?? BEFORE_EVERY_DELIVERY);
      return reader.query<SlotRow>(
        DUE_OF_CUSTOMERS,
        cursors.map(({ slot }) => slot),
        cursors.map(({ partition }) => partition),
        afters.map(({ dueAt }) => dueAt),
        afters.map(({ id }) => id),
        until,
        limitEach,
      );
    },
  };
}

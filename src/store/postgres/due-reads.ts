/**
 * Reads due deliveries: of all customers in the order of (due_at, id), or customer by customer.
 *
 * Each slot that a node owns is scanned by an index that begins with the slot, and the scans are merged. Customers
 * are scanned one by one within each slot, by an index that begins with slot and partition. Rows of other nodes'
 * slots and of other customers are never read, however many are due.
 *
 * Citus cannot scan several slots or customers separately in one statement. There each worker finds due rows of all
 * customers, and each customer takes a statement of its own.
 */
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { Instant } from '#src/domain/instant.ts';
import { SLOTS, type Slot } from '#src/domain/slot.ts';
import type { CustomerCursor, CustomersPage } from '#src/ports/store.ts';
import { type DueRow, toDue } from '#src/store/sql/due-rows.ts';
import { BEFORE_EVERY_DELIVERY, BEFORE_EVERY_PARTITION, type DueCursor } from '#src/store/sql/page-bounds.ts';
import type { Reader } from './read-pool.ts';
import { byDueInstant, mergeSlotScans, type SlotRow } from './slot-scans.ts';

const COLUMNS = 'partition, id, due_at, deadline, endpoint_id, url, payload_bytes';
const WAITING = "status IN ('scheduled', 'retry_scheduled')";
/** The condition of the indexes that begin with slot or partition (see the migration). */
const WAITING_ANYWHERE = `${WAITING} AND id <> ''`;

const DISTRIBUTED_DUE = `SELECT ${COLUMNS} FROM deliveries
  WHERE ${WAITING_ANYWHERE} AND (due_at, id) > ($1, $2) AND due_at <= $3 AND slot = ANY($5::integer[])
  ORDER BY due_at, id LIMIT $4`;

const DISTRIBUTED_CUSTOMERS = `SELECT DISTINCT partition FROM deliveries
  WHERE ${WAITING_ANYWHERE} AND partition > $1 ORDER BY partition LIMIT $2`;

const DISTRIBUTED_DUE_OF_CUSTOMER = `SELECT ${COLUMNS}, slot FROM deliveries
  WHERE ${WAITING_ANYWHERE} AND partition = $1 AND (due_at, id) > ($2, $3) AND due_at <= $4
  ORDER BY due_at, id LIMIT $5`;

const DUE_OF_SLOTS = `SELECT found.*
  FROM unnest($1::integer[], $2::bigint[], $3::text[]) AS scan (slot, due_at, id)
  CROSS JOIN LATERAL (
    SELECT slot, ${COLUMNS} FROM deliveries d
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
    SELECT slot, ${COLUMNS} FROM deliveries d
    WHERE ${WAITING} AND d.slot = scan.slot AND d.partition = scan.partition
      AND (d.due_at, d.id) > (scan.due_at, scan.id) AND d.due_at <= $5
    ORDER BY d.due_at, d.id LIMIT $6
  ) found`;

/** One statement looks for customers in this many slots. */
const SLOTS_PER_STATEMENT = 64;

const EVERY_SLOT: ReadonlySet<Slot> = new Set(Array.from({ length: SLOTS }, (_, slot) => slot as Slot));

export class DueReads {
  readonly #reader: Reader;
  readonly #distributed: boolean;

  constructor(reader: Reader, distributed: boolean) {
    this.#reader = reader;
    this.#distributed = distributed;
  }

  /** Without `slots`, returns due deliveries of all slots. */
  async list(
    after: DueCursor | null,
    until: Instant,
    limit: number,
    slots: ReadonlySet<Slot> = EVERY_SLOT,
  ): Promise<readonly DueDelivery[]> {
    const { dueAt, id } = after ?? BEFORE_EVERY_DELIVERY;
    const rows = await (this.#distributed
      ? this.#reader.query<DueRow>(DISTRIBUTED_DUE, dueAt, id, until, limit, [...slots])
      : this.#merged(slots, { dueAt, id }, until, limit));
    return rows.map(toDue);
  }

  async customers(
    after: CustomerCursor | null,
    limit: number,
    slots: ReadonlySet<Slot> = EVERY_SLOT,
  ): Promise<readonly CustomerCursor[]> {
    if (this.#distributed) return this.#distributedCustomers(after, limit);
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

  async listOfCustomers(
    cursors: readonly CustomerCursor[],
    until: Instant,
    limitEach: number,
    slots: ReadonlySet<Slot> = EVERY_SLOT,
  ): Promise<CustomersPage> {
    const rows = await (this.#distributed
      ? this.#distributedOfCustomers(cursors, until, limitEach)
      : this.#reader.query<SlotRow>(
          DUE_OF_CUSTOMERS,
          cursors.map(({ slot }) => slot),
          cursors.map(({ partition }) => partition),
          cursors.map(({ after }) => (after ?? BEFORE_EVERY_DELIVERY).dueAt),
          cursors.map(({ after }) => (after ?? BEFORE_EVERY_DELIVERY).id),
          until,
          limitEach,
        ));
    const unfinished = cursors.flatMap((cursor) => {
      const found = rows.filter((row) => isBehind(row, cursor));
      const last = found.length < limitEach ? undefined : found.toSorted(byDueInstant).at(-1);
      return last === undefined ? [] : [{ ...cursor, after: { dueAt: last.due_at, id: last.id } }];
    });
    return { due: rows.filter(({ slot }) => slots.has(slot)).map(toDue), unfinished };
  }
  #merged(
    slots: ReadonlySet<Slot>,
    { dueAt, id }: { readonly dueAt: number; readonly id: string },
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

  async #distributedCustomers(
    after: CustomerCursor | null,
    limit: number,
  ): Promise<readonly CustomerCursor[]> {
    const rows = await this.#reader.query<Pick<DueRow, 'partition'>>(
      DISTRIBUTED_CUSTOMERS,
      after?.partition ?? BEFORE_EVERY_PARTITION,
      limit,
    );
    return rows.map(({ partition }) => ({ partition, slot: null, after: null }));
  }

  async #distributedOfCustomers(
    cursors: readonly CustomerCursor[],
    until: Instant,
    limitEach: number,
  ): Promise<readonly SlotRow[]> {
    const found: SlotRow[] = [];
    for (const { partition, after } of cursors) {
      const { dueAt, id } = after ?? BEFORE_EVERY_DELIVERY;
      const parameters = [partition, dueAt, id, until, limitEach] as const;
      found.push(...(await this.#reader.query<SlotRow>(DISTRIBUTED_DUE_OF_CUSTOMER, ...parameters)));
    }
    return found;
  }
}

function isBehind(row: SlotRow, { partition, slot }: CustomerCursor): boolean {
  return row.partition === partition && (slot === null || row.slot === slot);
}

/** Reads due deliveries: of all customers in the order of (due_at, id), or customer by customer. */
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { Instant } from '#src/domain/instant.ts';
import { SLOTS, type Slot } from '#src/domain/slot.ts';
import type { CustomerCursor, CustomersPage } from '#src/ports/store.ts';
import { toDue } from '#src/store/sql/due-rows.ts';
import { BEFORE_EVERY_DELIVERY, type DueCursor } from '#src/store/sql/page-bounds.ts';
import type { DueScans } from './due-scans.ts';
import { byDueInstant, type SlotRow } from './slot-scans.ts';

const EVERY_SLOT: ReadonlySet<Slot> = new Set(Array.from({ length: SLOTS }, (_, slot) => slot as Slot));

export class DueReads {
  readonly #scans: DueScans;

  constructor(scans: DueScans) {
    this.#scans = scans;
  }

  /** Without `slots`, returns due deliveries of all slots. */
  async list(
    after: DueCursor | null,
    until: Instant,
    limit: number,
    slots: ReadonlySet<Slot> = EVERY_SLOT,
  ): Promise<readonly DueDelivery[]> {
    const rows = await this.#scans.ofSlots(slots, after ?? BEFORE_EVERY_DELIVERY, until, limit);
    return rows.map(toDue);
  }

  customers(
    after: CustomerCursor | null,
    limit: number,
    slots: ReadonlySet<Slot> = EVERY_SLOT,
  ): Promise<readonly CustomerCursor[]> {
    return this.#scans.customers(slots, after, limit);
  }

  async listOfCustomers(
    cursors: readonly CustomerCursor[],
    until: Instant,
    limitEach: number,
    slots: ReadonlySet<Slot> = EVERY_SLOT,
  ): Promise<CustomersPage> {
    const rows = await this.#scans.ofCustomers(cursors, until, limitEach);
    const unfinished = cursors.flatMap((cursor) => {
      const found = rows.filter((row) => isBehind(row, cursor));
      const last = found.length < limitEach ? undefined : found.toSorted(byDueInstant).at(-1);
      return last === undefined ? [] : [{ ...cursor, after: { dueAt: last.due_at, id: last.id } }];
    });
    return { due: rows.filter(({ slot }) => slots.has(slot)).map(toDue), unfinished };
  }
}

function isBehind(row: SlotRow, { partition, slot }: CustomerCursor): boolean {
  return row.partition === partition && (slot === null || row.slot === slot);
}

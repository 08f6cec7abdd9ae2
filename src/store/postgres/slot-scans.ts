/**
 * A page of due rows, in the order of (due_at, id), out of one walk for each slot, all of which have this order.
 *
 * Nobody knows ahead of time how the rows of a page are spread over the slots. Each walk therefore begins with a few
 * rows. A walk goes on only when it may still hold a row of the page, and then with a larger share. All rows that an
 * unfinished walk has found belong to the page, so the number of such walks falls at least by half in every round.
 */
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Slot } from '#src/domain/slot.ts';
import type { DueRow } from '#src/store/sql/due-rows.ts';

/** Rows of one walk in a round, at least. */
const SHARE_MIN = 4;

export interface SlotRow extends DueRow {
  readonly slot: Slot;
}

/** A walk, and the place behind which it goes on. */
export interface SlotScan {
  readonly slot: Slot;
  readonly dueAt: number;
  readonly id: string;
}

export interface Round {
  readonly scans: readonly SlotScan[];
  /** Rows due later do not belong to the page. */
  readonly until: Instant;
  /** How many rows of each walk are wanted. */
  readonly share: number;
}

export async function mergeSlotScans(
  walks: readonly SlotScan[],
  until: Instant,
  limit: number,
  ask: (round: Round) => Promise<readonly SlotRow[]>,
): Promise<readonly SlotRow[]> {
  // A delivery that moves between two rounds may be seen in both: the newer row counts.
  const found = new Map<DeliveryId, SlotRow>();
  let page: readonly SlotRow[] = [];
  let open = walks;
  /** The last row of a full page: nothing behind it belongs to the page. */
  let end: SlotRow | null = null;
  while (open.length > 0) {
    const share = Math.min(limit, Math.max(SHARE_MIN, Math.ceil((2 * limit) / open.length)));
    const rows: readonly SlotRow[] = await ask({ scans: open, until: end?.due_at ?? until, share });
    for (const row of rows) found.set(row.id, row);
    page = [...found.values()].toSorted(byDueInstant).slice(0, limit);
    end = page.length < limit ? null : (page.at(-1) ?? null);
    open = unfinished(rows, share, end);
  }
  return page;
}

/** The walks that may hold further rows of the page. `end`: the last row of a full page. */
function unfinished(rows: readonly SlotRow[], share: number, end: SlotRow | null): readonly SlotScan[] {
  return [...Map.groupBy(rows, ({ slot }) => slot)].flatMap(([slot, own]): readonly SlotScan[] => {
    const last = own.toSorted(byDueInstant).at(-1);
    if (last === undefined || own.length < share) return [];
    return end !== null && byDueInstant(last, end) >= 0 ? [] : [{ slot, dueAt: last.due_at, id: last.id }];
  });
}

/** Ids are ASCII: their order here is the order of their bytes. */
export function byDueInstant(one: DueRow, other: DueRow): number {
  if (one.due_at !== other.due_at) return one.due_at - other.due_at;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}

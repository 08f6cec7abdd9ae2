/**
 * Reads a page of due rows in the order of (due_at, id) from one scan for each slot, each of which has this order.
 *
 * It is not known how the rows of a page are spread over the slots, so each scan begins with a few rows. A scan
 * continues only while it may have more rows of the page, and then reads more. All rows that an unfinished scan has
 * found belong to the page. The number of unfinished scans therefore at least halves in every round.
 */
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Slot } from '#src/domain/slot.ts';
import type { DueRow } from '#src/store/sql/due-rows.ts';

/** The least number of rows that a scan reads in a round. */
const SHARE_MIN = 4;

export interface SlotRow extends DueRow {
  readonly slot: Slot;
}

/** A scan of one slot, and the row after which it continues. */
export interface SlotScan {
  readonly slot: Slot;
  readonly dueAt: number;
  readonly id: string;
}

export interface Round {
  readonly scans: readonly SlotScan[];
  /** Rows that are due later do not belong to the page. */
  readonly until: Instant;
  /** How many rows each scan reads. */
  readonly share: number;
}

export async function mergeSlotScans(
  scans: readonly SlotScan[],
  until: Instant,
  limit: number,
  read: (round: Round) => Promise<readonly SlotRow[]>,
): Promise<readonly SlotRow[]> {
  // A delivery that changes between two rounds may be read twice. The newer row counts.
  const found = new Map<DeliveryId, SlotRow>();
  let page: readonly SlotRow[] = [];
  let open = scans;
  /** The last row of a full page. Rows after it do not belong to the page. */
  let end: SlotRow | null = null;
  while (open.length > 0) {
    const share = Math.min(limit, Math.max(SHARE_MIN, Math.ceil((2 * limit) / open.length)));
    const rows: readonly SlotRow[] = await read({ scans: open, until: end?.due_at ?? until, share });
    for (const row of rows) found.set(row.id, row);
    page = [...found.values()].toSorted(byDueInstant).slice(0, limit);
    end = page.length < limit ? null : (page.at(-1) ?? null);
    open = unfinished(rows, share, end);
  }
  return page;
}

/** The scans that may have more rows of the page. `end`: the last row of a full page. */
function unfinished(rows: readonly SlotRow[], share: number, end: SlotRow | null): readonly SlotScan[] {
  return [...Map.groupBy(rows, ({ slot }) => slot)].flatMap(([slot, own]): readonly SlotScan[] => {
    const last = own.toSorted(byDueInstant).at(-1);
    if (last === undefined || own.length < share) return [];
    return end !== null && byDueInstant(last, end) >= 0 ? [] : [{ slot, dueAt: last.due_at, id: last.id }];
  });
}

/** Ids are ASCII, so this order equals the order of bytes in the database. */
export function byDueInstant(one: DueRow, other: DueRow): number {
  if (one.due_at !== other.due_at) return one.due_at - other.due_at;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}

/**
 * A page of due rows, in the order of (due_at, id), out of several walks that each have this order: one for each
 * customer, or for each slot.
 *
 * Nobody knows ahead of time how the rows of a page are spread over the walks. Each walk therefore begins with a few
 * rows. A walk goes on only when it may still hold a row of the page, and then with a larger share. All rows that an
 * unfinished walk has found belong to the page, so the number of such walks falls at least by half in every round.
 *
 * A generator, since one store answers at once and another later: it asks for a round of walks and is given their rows.
 */
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { DueRow } from './due-rows.ts';

/** Rows of one walk in a round, at least. */
const SHARE_MIN = 4;

/** A walk, and the place behind which it goes on. */
export interface Walk<Key> {
  readonly key: Key;
  readonly dueAt: number;
  readonly id: string;
}

export interface Round<Key> {
  readonly walks: readonly Walk<Key>[];
  /** Rows due later do not belong to the page. */
  readonly until: Instant;
  /** How many rows of each walk are wanted. */
  readonly share: number;
}

export function* mergedWalks<Key, Row extends DueRow>(
  walks: readonly Walk<Key>[],
  until: Instant,
  limit: number,
  keyOf: (row: Row) => Key,
): Generator<Round<Key>, readonly Row[], readonly Row[]> {
  // A delivery that moves between two rounds may be seen in both: the newer row counts.
  const found = new Map<DeliveryId, Row>();
  let page: readonly Row[] = [];
  let open = walks;
  /** The last row of a full page: nothing behind it belongs to the page. */
  let end: Row | null = null;
  while (open.length > 0) {
    const share = Math.min(limit, Math.max(SHARE_MIN, Math.ceil((2 * limit) / open.length)));
    const rows: readonly Row[] = yield { walks: open, until: end?.due_at ?? until, share };
    for (const row of rows) found.set(row.id, row);
    page = [...found.values()].toSorted(byPlace).slice(0, limit);
    end = page.length < limit ? null : (page.at(-1) ?? null);
    open = unfinished(rows, share, end, keyOf);
  }
  return page;
}

/** The walks that may hold further rows of the page. `end`: the last row of a full page. */
function unfinished<Key, Row extends DueRow>(
  rows: readonly Row[],
  share: number,
  end: Row | null,
  keyOf: (row: Row) => Key,
): readonly Walk<Key>[] {
  return [...Map.groupBy(rows, keyOf)].flatMap(([key, own]): readonly Walk<Key>[] => {
    const last = own.toSorted(byPlace).at(-1);
    if (last === undefined || own.length < share) return [];
    return end !== null && byPlace(last, end) >= 0 ? [] : [{ key, dueAt: last.due_at, id: last.id }];
  });
}

/** Ids are ASCII: their order here is the order of their bytes. */
function byPlace(one: DueRow, other: DueRow): number {
  if (one.due_at !== other.due_at) return one.due_at - other.due_at;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}

/** Pages of lists: what to ask the store for, and the envelope around what it gives. */
import { type IdKind, parseId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/partition.ts';
import { decodeCursor, encodeCursor, type List } from './cursor.ts';
import { readLimit, readText } from './query.ts';

export interface PageRequest<Position> {
  readonly list: List;
  readonly limit: number;
  /** One row more than is shown says whether there is more. */
  readonly rows: { readonly before: Position | null; readonly limit: number };
}

type PositionOf<K extends IdKind | 'attempt_no'> = K extends IdKind
  ? NonNullable<ReturnType<typeof parseId<K>>>
  : number;

export function readPage<K extends IdKind | 'attempt_no'>(
  query: URLSearchParams,
  partition: Partition,
  name: string,
  kind: K,
): PageRequest<PositionOf<K>> {
  const list: List = { partition, name };
  const limit = readLimit(query);
  const cursor = readText(query, 'cursor');
  const before = cursor === null ? null : decodeCursor(list, cursor, (text) => positionOf(kind, text));
  return { list, limit, rows: { before: before as PositionOf<K> | null, limit: limit + 1 } };
}

function positionOf(kind: IdKind | 'attempt_no', text: string): string | number | null {
  if (kind !== 'attempt_no') return parseId(kind, text);
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) : null;
}

export function listed<Row extends { readonly id: string | number }, Item>(
  page: PageRequest<string | number>,
  rows: readonly Row[],
  present: (row: Row) => Item,
) {
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  const hasMore = rows.length > page.limit;
  return {
    object: 'list' as const,
    data: shown.map(present),
    has_more: hasMore,
    next_cursor: hasMore && last !== undefined ? encodeCursor(page.list, String(last.id)) : null,
  };
}

/** Pages of lists: where a page starts, what goes on it, and the envelope around it. */
import type { Finished } from '#src/commands/command.ts';
import { type IdKind, parseId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/partition.ts';
import { decodeCursor, encodeCursor, type List } from './cursor.ts';
import { readLimit, readText } from './query.ts';

/** A page of very large items ends early: labels may be as long as a request, and others wait meanwhile. */
const PAGE_CHARACTERS_MAX = 4 * 1_048_576;
const ROWS_AT_ONCE = 10;

export interface PageRequest<Position> {
  readonly list: List;
  readonly limit: number;
  /** The last item of the page before. */
  readonly after: Position | null;
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
  const cursor = readText(query, 'cursor');
  const after = cursor === null ? null : decodeCursor(list, cursor, (text) => positionOf(kind, text));
  return { list, limit: readLimit(query), after: after as PositionOf<K> | null };
}

function positionOf(kind: IdKind | 'attempt_no', text: string): string | number | null {
  if (kind !== 'attempt_no') return parseId(kind, text);
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) : null;
}

/** What a list shows of a row, and where it stands in it. */
export interface Item<Position> {
  readonly position: Position;
  readonly resource: object;
}

/** Fills a page from `fetch`, which gives so many rows after a position, and answers it. */
export async function answerPage<Row, Position extends string | number>(
  { list, limit, after }: PageRequest<Position>,
  fetch: (after: Position | null, limit: number) => Promise<readonly Row[]>,
  show: (row: Row) => Item<Position>,
): Promise<Finished> {
  const shown: string[] = [];
  let characters = 0;
  let last = after;
  for (;;) {
    // One row more than is shown says whether there is more.
    const wanted = Math.min(ROWS_AT_ONCE, limit + 1 - shown.length);
    const rows = await fetch(last, wanted);
    for (const row of rows) {
      const { position, resource } = show(row);
      const text = JSON.stringify(resource);
      const isFull = shown.length === limit || characters + text.length > PAGE_CHARACTERS_MAX;
      if (isFull && shown.length > 0) return envelope(shown, encodeCursor(list, String(last)));
      shown.push(text);
      characters += text.length;
      last = position;
    }
    if (rows.length < wanted) return envelope(shown, null);
  }
}

/**
 * Answers what a search has found, a few rows at a time. `find` answers null for what is gone since. The page may be
 * short, or empty, and the list still go on: `next` says where.
 */
export async function answerFound<Row, Position extends string>(
  { list }: Pick<PageRequest<Position>, 'list'>,
  { found, next }: { readonly found: readonly Position[]; readonly next: Position | null },
  find: (position: Position) => Promise<Row | null>,
  show: (row: Row) => Item<Position>,
): Promise<Finished> {
  const shown: string[] = [];
  let characters = 0;
  let last: Position | null = null;
  for (let at = 0; at < found.length; at += ROWS_AT_ONCE) {
    for (const row of await Promise.all(found.slice(at, at + ROWS_AT_ONCE).map(find))) {
      if (row === null) continue;
      const { position, resource } = show(row);
      const text = JSON.stringify(resource);
      if (last !== null && characters + text.length > PAGE_CHARACTERS_MAX) {
        return envelope(shown, encodeCursor(list, last));
      }
      shown.push(text);
      characters += text.length;
      last = position;
    }
  }
  return envelope(shown, next === null ? null : encodeCursor(list, next));
}

function envelope(items: readonly string[], nextCursor: string | null): Finished {
  const rest = JSON.stringify({ has_more: nextCursor !== null, next_cursor: nextCursor }).slice(1);
  return { status: 200, body: `{"object":"list","data":[${items.join(',')}],${rest}` };
}

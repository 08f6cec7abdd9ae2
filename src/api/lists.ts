/** Pages of lists: where a page starts, what goes on it, and the envelope around it. */
import type { RenderedAnswer } from '#src/commands/command.ts';
import type { PauseLength } from '#src/commands/pauses.ts';
import { type IdKind, parseId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Listed } from '#src/ports/store.ts';
import { LongAnswer } from './answer-budget.ts';
import { decodeCursor, encodeCursor, type List } from './cursor.ts';
import { readLimit, readText } from './query.ts';

/** A page that has grown to this is not filled further: labels may be as long as a request, and others wait. */
const PAGE_BYTES_MAX = 2 * 1_048_576;
/** At most this many characters are shown without a pause: the thread that works here also fires. */
const TOGETHER_CHARACTERS_MAX = 131_072;
/** The next runs of an item are worked out too, which takes as long as so many characters. */
const ITEM_CHARACTERS = 5_000;

/** A page that is being answered. */
export interface BoundedPage<Position> extends PageRequest<Position> {
  /** A page that has more bytes is a LongAnswer. */
  readonly bytesMax: number;
}

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
  /** Null: it is left out. */
  readonly resource: object | null;
}

/** Gives at most so many rows after a position, at least one unless that is the end. */
type Fetch<Row, Position> = (after: Position | null, limit: number) => Promise<Listed<Row>>;
type Show<Row, Position> = (row: Row) => Item<Position>;

interface Filled<Position> {
  readonly shown: readonly string[];
  /** The last item that was looked at. */
  readonly last: Position | null;
  readonly hasMore: boolean;
}

type ListPause = (length?: PauseLength) => Promise<void>;

/** Reads and shows a part at a time, with pauses. */
async function fill<Row, Position>(
  { limit, after, bytesMax }: Pick<BoundedPage<Position>, 'limit' | 'after' | 'bytesMax'>,
  fetch: Fetch<Row, Position>,
  show: Show<Row, Position>,
  pause: ListPause,
): Promise<Filled<Position>> {
  const shown: string[] = [];
  let bytes = 0;
  let together = 0;
  let last = after;
  // Whoever asks for one page after the other leaves a turn to everything else.
  await pause('long');
  for (let rest = limit; ; ) {
    const { items, hasMore } = await fetch(last, rest);
    for (const row of items) {
      if (together >= TOGETHER_CHARACTERS_MAX) {
        await pause();
        together = 0;
      }
      const { position, resource } = show(row);
      last = position;
      together += ITEM_CHARACTERS;
      if (resource === null) continue;
      const text = JSON.stringify(resource);
      shown.push(text);
      bytes += Buffer.byteLength(text);
      if (bytes > bytesMax) throw new LongAnswer();
      together += text.length;
    }
    rest -= items.length;
    const isEnd = !hasMore || rest <= 0 || bytes >= PAGE_BYTES_MAX;
    // Before the next part is read, and before what is long is put together.
    if (!isEnd || together >= TOGETHER_CHARACTERS_MAX) {
      await pause();
      together = 0;
    }
    if (isEnd) return { shown, last, hasMore };
  }
}

/** Fills a page from `fetch`, and answers it. */
export async function answerPage<Row, Position extends string | number>(
  page: BoundedPage<Position>,
  fetch: Fetch<Row, Position>,
  show: Show<Row, Position>,
  pause: ListPause,
): Promise<RenderedAnswer> {
  const { shown, last, hasMore } = await fill(page, fetch, show, pause);
  return envelope(shown, hasMore ? encodeCursor(page.list, String(last)) : null);
}

/** The same for rows that are small: one row more than is shown says whether there is more. */
export async function answerSmallPage<Row, Position extends string | number>(
  page: BoundedPage<Position>,
  fetch: (after: Position | null, limit: number) => Promise<readonly Row[]>,
  show: Show<Row, Position>,
  pause: ListPause,
): Promise<RenderedAnswer> {
  const listed = async (after: Position | null, limit: number) => {
    const rows = await fetch(after, limit + 1);
    return { items: rows.slice(0, limit), hasMore: rows.length > limit };
  };
  return answerPage(page, listed, show, pause);
}

/**
 * Answers what a search has found. The page may be short, or empty, and the list still go on: `next` says where.
 */
export async function answerFound<Row, Position extends string>(
  { list, bytesMax }: Pick<BoundedPage<Position>, 'list' | 'bytesMax'>,
  { found, next }: { readonly found: readonly Position[]; readonly next: Position | null },
  find: (positions: readonly Position[]) => Promise<Listed<Row>>,
  show: Show<Row, Position>,
  pause: ListPause,
): Promise<RenderedAnswer> {
  // Newest first: what lies after an item has a smaller id.
  const fetch = (after: Position | null) => find(found.filter((id) => after === null || id < after));
  const { shown, last, hasMore } = await fill(
    { limit: found.length, after: null, bytesMax },
    fetch,
    show,
    pause,
  );
  const position = hasMore ? last : next;
  return envelope(shown, position === null ? null : encodeCursor(list, position));
}

function envelope(items: readonly string[], nextCursor: string | null): RenderedAnswer {
  const rest = JSON.stringify({ has_more: nextCursor !== null, next_cursor: nextCursor }).slice(1);
  return { status: 200, body: `{"object":"list","data":[${items.join(',')}],${rest}` };
}

/** Builds pages of lists: where a page starts, which items it has, and its envelope. */
import type { RenderedAnswer } from '#src/commands/command.ts';
import type { PauseLength } from '#src/commands/pauses.ts';
import { type IdKind, parseId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { AttemptPosition, Listed } from '#src/ports/lists.ts';
import { AnswerTooLong } from './answer-budget.ts';
import { decodeCursor, encodeCursor, type List } from './cursor.ts';
import { readLimit, readText } from './query.ts';

/** A page of this size gets no more items. Labels can be as long as a request, and other work waits. */
const PAGE_BYTES_MAX = 2 * 1_048_576;
/** The characters that are built without a pause, because the same thread also sends deliveries. */
const UNPAUSED_CHARACTERS_MAX = 131_072;
/** Computing the next runs of an item takes as long as this many characters. */
const ITEM_COST_CHARACTERS = 5_000;

export interface BoundedPage<Position> extends PageRequest<Position> {
  /** A page with more bytes throws AnswerTooLong. */
  readonly bytesMax: number;
}

export interface PageRequest<Position> {
  readonly list: List;
  readonly limit: number;
  /** The position of the last item of the previous page. */
  readonly after: Position | null;
}

/** Where an attempt is in the list of all that ended: `<finished_at in ms>/<id>`. */
export type AttemptEnd = string & { readonly __brand: 'AttemptEnd' };

type PositionKind = IdKind | 'attempt_no' | 'attempt_end';
type PositionOf<K extends PositionKind> = K extends IdKind
  ? NonNullable<ReturnType<typeof parseId<K>>>
  : K extends 'attempt_end'
    ? AttemptEnd
    : number;

export function readPage<K extends PositionKind>(
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

export function attemptEnd({ finishedAt, id }: AttemptPosition): AttemptEnd {
  return `${finishedAt}/${id}` as AttemptEnd;
}

/** Returns null if the text is no such position. */
export function parseAttemptEnd(text: string): AttemptPosition | null {
  const [, ms = '', idText = ''] = /^(0|[1-9]\d{0,14})\/(.+)$/.exec(text) ?? [];
  const id = parseId('att', idText);
  return id === null ? null : { finishedAt: instant(Number(ms)), id };
}

function positionOf(kind: PositionKind, text: string): string | number | null {
  if (kind === 'attempt_end') return parseAttemptEnd(text) && text;
  if (kind !== 'attempt_no') return parseId(kind, text);
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) : null;
}

/** One row of a list: its presentation and its position. */
export interface Item<Position> {
  readonly position: Position;
  /** Null if the row is not shown. */
  readonly resource: object | null;
}

/** Returns up to `limit` rows after a position, and at least one unless that is the end. */
type Fetch<Row, Position> = (after: Position | null, limit: number) => Promise<Listed<Row>>;
type Show<Row, Position> = (row: Row) => Item<Position>;

interface FilledPage<Position> {
  readonly shown: readonly string[];
  /** The position of the last row that was read. */
  readonly last: Position | null;
  readonly hasMore: boolean;
}

type ListPause = (length?: PauseLength) => Promise<void>;

/** Reads and presents rows in parts, with pauses in between. */
async function fillPage<Row, Position>(
  { limit, after, bytesMax }: Pick<BoundedPage<Position>, 'limit' | 'after' | 'bytesMax'>,
  fetch: Fetch<Row, Position>,
  show: Show<Row, Position>,
  pause: ListPause,
): Promise<FilledPage<Position>> {
  const shown: string[] = [];
  let bytes = 0;
  let unpaused = 0;
  let last = after;
  // A client that reads one page after the other leaves time for all other work.
  await pause('long');
  for (let rest = limit; ; ) {
    const { items, hasMore } = await fetch(last, rest);
    for (const row of items) {
      if (unpaused >= UNPAUSED_CHARACTERS_MAX) {
        await pause();
        unpaused = 0;
      }
      const { position, resource } = show(row);
      last = position;
      unpaused += ITEM_COST_CHARACTERS;
      if (resource === null) continue;
      const text = JSON.stringify(resource);
      shown.push(text);
      bytes += Buffer.byteLength(text);
      if (bytes > bytesMax) throw new AnswerTooLong();
      unpaused += text.length;
    }
    rest -= items.length;
    const isEnd = !hasMore || rest <= 0 || bytes >= PAGE_BYTES_MAX;
    // Pauses before the next part is read, and before a long page is joined.
    if (!isEnd || unpaused >= UNPAUSED_CHARACTERS_MAX) {
      await pause();
      unpaused = 0;
    }
    if (isEnd) return { shown, last, hasMore };
  }
}

export async function answerPage<Row, Position extends string | number>(
  page: BoundedPage<Position>,
  fetch: Fetch<Row, Position>,
  show: Show<Row, Position>,
  pause: ListPause,
): Promise<RenderedAnswer> {
  const { shown, last, hasMore } = await fillPage(page, fetch, show, pause);
  return envelope(shown, hasMore ? encodeCursor(page.list, String(last)) : null);
}

/** Answers a page of small rows. It reads one row more than the page to know whether there are more. */
export async function answerSmallPage<Row, Position extends string | number>(
  page: BoundedPage<Position>,
  fetch: (after: Position | null, limit: number) => Promise<readonly Row[]>,
  show: Show<Row, Position>,
  pause: ListPause,
): Promise<RenderedAnswer> {
  const fetchListed = async (after: Position | null, limit: number) => {
    const rows = await fetch(after, limit + 1);
    return { items: rows.slice(0, limit), hasMore: rows.length > limit };
  };
  return answerPage(page, fetchListed, show, pause);
}

/** Answers a request with the result of a search. The page may be short or empty although the list goes on at `next`. */
export async function answerFound<Row, Position extends string>(
  { list, bytesMax }: Pick<BoundedPage<Position>, 'list' | 'bytesMax'>,
  { found, next }: { readonly found: readonly Position[]; readonly next: Position | null },
  find: (positions: readonly Position[]) => Promise<Listed<Row>>,
  show: Show<Row, Position>,
  pause: ListPause,
): Promise<RenderedAnswer> {
  // The newest come first, so the items after a position have smaller ids.
  const fetch = (after: Position | null) => find(found.filter((id) => after === null || id < after));
  const { shown, last, hasMore } = await fillPage(
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

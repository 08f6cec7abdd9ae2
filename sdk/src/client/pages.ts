/**
 * A list of the service, read page by page. The first request is sent when the list is first read. A further page is
 * requested only when the page before it is used up.
 *
 *     for await (const schedule of sched.schedules.list({ state: 'active' })) …
 */
import { describeValue, isFields } from '../describe-value.ts';
import { toApiQuery } from './convenient.ts';
import { unexpectedAnswer } from './errors.ts';
import { checkFilters, type ListName } from './filters.ts';
import type { CallOptions } from './options.ts';
import type { Transport } from './transport.ts';

/** One page of a list, as the service returns it. */
export interface List<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** A list that is read on demand: as items, as pages, or as an array. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #read: (cursor: string | undefined) => Promise<List<T>>;

  constructor(read: (cursor: string | undefined) => Promise<List<T>>) {
    this.#read = read;
  }

  /** Reads one page: the page of the query's `cursor`, or the first page. */
  page(): Promise<List<T>> {
    return this.#read(undefined);
  }

  /** Iterates over the pages. */
  async *pages(): AsyncGenerator<List<T>, void, undefined> {
    const cursors = new Set<string>();
    let page = await this.page();
    yield page;
    while (page.has_more) {
      const cursor = page.next_cursor;
      // A missing or repeated cursor would make the loop endless.
      if (cursor === null || cursors.has(cursor)) {
        throw unexpectedAnswer(200, null, 'but the list repeats a page.');
      }
      cursors.add(cursor);
      page = await this.#read(cursor);
      yield page;
    }
  }

  /** Iterates over the items of all pages. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** Reads at most `max` items, and requests only the pages needed for them. */
  async toArray(max: number): Promise<T[]> {
    if (!(max >= 0)) {
      throw new TypeError('toArray needs the largest number of items, such as toArray(100).');
    }
    const items: T[] = [];
    if (max < 1) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= max) break;
    }
    return items;
  }
}

/**
 * `path` and `query` are evaluated late, so that an invalid id or filter rejects like every other mistake. JavaScript
 * callers may pass null for no query.
 */
export function list<T>(
  transport: Transport,
  call: ListName,
  path: () => string,
  query?: object | null,
  options?: CallOptions,
): Pages<T> {
  return new Pages(async (cursor) => {
    const parameters = searchOf({
      ...checkQuery(call, query ?? {}),
      ...(cursor !== undefined && { cursor }),
    });
    return transport.call<List<T>>(
      { method: 'GET', path: path(), query: parameters, answers: 'list' },
      options,
    );
  });
}

type Query = Readonly<Record<string, unknown>>;

function checkQuery(call: ListName, query: object): Query {
  if (!isFields(query)) {
    throw new TypeError(
      `A list takes an object with filters, such as { limit: 50 }. It got ${describeValue(query)}.`,
    );
  }
  checkFilters(call, query);
  return toApiQuery(query);
}

const LABELS = 'metadata';

/** `{ metadata: { team: 'billing' } }` becomes `metadata[team]=billing`. */
function searchOf(query: Query): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (isAbsent(value)) continue;
    if (name !== LABELS) append(search, name, value);
    else
      for (const [label, text] of Object.entries(checkLabels(value)))
        append(search, `${name}[${label}]`, checkLabel(`${name}[${label}]`, text));
  }
  return search;
}

function checkLabels(value: unknown): Query {
  if (isFields(value)) return value;
  throw new TypeError(
    `metadata must be an object, such as { team: 'billing' }. It got ${describeValue(value)}.`,
  );
}

/** A label that lost its value would match everything. A filter that is undefined is left out on purpose. */
function checkLabel(name: string, text: unknown): unknown {
  if (!isAbsent(text)) return text;
  throw new TypeError(
    `${name} must be a text. It got ${describeValue(text)}. Leave the label out to match everything.`,
  );
}

const WITHOUT_LABEL = `${LABELS}[]`;

/** The service ignores an empty or unknown filter. A filter that lost its value would then match everything. */
function append(search: URLSearchParams, name: string, value: unknown): void {
  if (value === '' || name === WITHOUT_LABEL) {
    throw new TypeError(`${name} must not be empty. Leave it out to match everything.`);
  }
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw new TypeError(`${name} must be a single value. It got ${describeValue(value)}.`);
  }
  search.append(name, String(value));
}

/** A value of undefined or null is left out. */
function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

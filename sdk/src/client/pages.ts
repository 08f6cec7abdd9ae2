/**
 * A list of the service, read page by page. The first request is sent when the list is first read. A further page is
 * requested only when the page before it is used up.
 *
 *     for await (const schedule of sched.schedules.list({ state: 'active' })) …
 */
import { unexpectedAnswer } from './errors.ts';
import type { CallOptions } from './options.ts';
import type { Transport } from './transport.ts';

/** One page of a list, as the service returns it. */
export interface List<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

type Scalar = string | number | boolean;

/** A value of undefined or null is left out. JavaScript callers may pass null. */
export type Query = Readonly<Record<string, Scalar | Readonly<Record<string, string>> | null | undefined>>;

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
    if (!(max >= 0)) throw new TypeError('max must be a number of at least 0.');
    const items: T[] = [];
    if (max < 1) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= max) break;
    }
    return items;
  }
}

/** `path` is evaluated late, so that an invalid id rejects like every other mistake. */
export function list<T>(
  transport: Transport,
  path: () => string,
  query: Query = {},
  options: CallOptions = {},
): Pages<T> {
  return new Pages(async (cursor) => {
    const parameters = searchOf(cursor === undefined ? query : { ...query, cursor });
    return transport.call<List<T>>(
      { method: 'GET', path: path(), query: parameters, answers: 'list' },
      options,
    );
  });
}

/** `{ metadata: { team: 'billing' } }` becomes `metadata[team]=billing`. */
function searchOf(query: Query): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'object' || value === null) append(search, name, value);
    else for (const [label, text] of Object.entries(value)) append(search, `${name}[${label}]`, text);
  }
  return search;
}

const WITHOUT_LABEL = 'metadata[]';

/** The service ignores an empty filter. A filter that lost its value would then match everything. */
function append(search: URLSearchParams, name: string, value: Scalar | null | undefined): void {
  if (value === undefined || value === null) return;
  if (value === '' || name === WITHOUT_LABEL) {
    throw new TypeError(`${name} must not be empty. Leave it out to match everything.`);
  }
  search.append(name, String(value));
}

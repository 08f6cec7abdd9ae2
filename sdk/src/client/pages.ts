/**
 * A list of the service, page by page. Nothing is asked for until somebody wants to see it, and a further page
 * only when the one before is used up.
 *
 *     for await (const schedule of sched.schedules.list({ state: 'active' })) …
 */
import { unexpectedAnswer } from './errors.ts';
import type { CallOptions } from './options.ts';
import type { Transport } from './transport.ts';

/** One page, as the service answers it. */
export interface List<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

type Scalar = string | number | boolean;

/** From JavaScript a value may also be null: it is left out too. */
export type Query = Readonly<Record<string, Scalar | Readonly<Record<string, string>> | null | undefined>>;

export class Pages<T> implements AsyncIterable<T> {
  readonly #read: (cursor: string | undefined) => Promise<List<T>>;

  constructor(read: (cursor: string | undefined) => Promise<List<T>>) {
    this.#read = read;
  }

  /** The first page: that of the query's `cursor`, where it has one. */
  page(): Promise<List<T>> {
    return this.#read(undefined);
  }

  /** One page after the other. */
  async *pages(): AsyncGenerator<List<T>, void, undefined> {
    const cursors = new Set<string>();
    let page = await this.page();
    yield page;
    while (page.has_more) {
      const cursor = page.next_cursor;
      // A list that stands still, or goes round in a circle, would never end.
      if (cursor === null || cursors.has(cursor)) {
        throw unexpectedAnswer(200, null, 'but the list does not move on.');
      }
      cursors.add(cursor);
      page = await this.#read(cursor);
      yield page;
    }
  }

  /** One item after the other. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** At most `max` items; no page is asked for that is not needed for them. */
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

/** `path` is asked for late, so that an id that is none rejects like every other mistake. */
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

/** `{ metadata: { team: 'billing' } }` is `metadata[team]=billing`. */
function searchOf(query: Query): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'object' || value === null) append(search, name, value);
    else for (const [label, text] of Object.entries(value)) append(search, `${name}[${label}]`, text);
  }
  return search;
}

const WITHOUT_LABEL = 'metadata[]';

/** The service passes over what is empty: a filter whose value was lost would let everything through. */
function append(search: URLSearchParams, name: string, value: Scalar | null | undefined): void {
  if (value === undefined || value === null) return;
  if (value === '' || name === WITHOUT_LABEL) {
    throw new TypeError(`${name} must not be empty; leave it out where it does not matter.`);
  }
  search.append(name, String(value));
}

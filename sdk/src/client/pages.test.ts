import { describe, expect, test } from 'vitest';
import type { ListName } from './filters.ts';
import { readOptions } from './options.ts';
import { type List, list, Pages } from './pages.ts';
import { SYSTEM_DEPENDENCIES, Transport } from './transport.ts';

function page(data: readonly number[], next: string | null): List<number> {
  return { object: 'list', data, has_more: next !== null, next_cursor: next };
}

const PAGES_MAX = 10;

/** Pages by their cursor. The cursor of the first page is ''. */
function pagesOf(answers: Readonly<Record<string, List<number>>>) {
  const asked: string[] = [];
  const pages = new Pages<number>(async (cursor = '') => {
    asked.push(cursor);
    if (asked.length > PAGES_MAX) throw new Error('It would never end.');
    const answer = answers[cursor];
    if (answer === undefined) throw new Error(`no page ${cursor}`);
    return answer;
  });
  return { pages, asked };
}

const THREE = { '': page([1, 2], 'a'), a: page([], 'b'), b: page([3], null) };

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('a list', () => {
  test('is read to its end, even over an empty page', async () => {
    const { pages, asked } = pagesOf(THREE);
    expect(await all(pages)).toEqual([1, 2, 3]);
    expect(asked).toEqual(['', 'a', 'b']);
  });

  test('requests a page only when the page before it is used up', async () => {
    const { pages, asked } = pagesOf(THREE);
    const iteration = pages[Symbol.asyncIterator]();
    expect(asked).toEqual([]);
    await iteration.next();
    await iteration.next();
    expect(asked).toEqual(['']);
    await iteration.next();
    expect(asked).toEqual(['', 'a', 'b']);
  });

  test('two iterations do not affect each other', async () => {
    const { pages } = pagesOf(THREE);
    const [one, other] = [pages[Symbol.asyncIterator](), pages[Symbol.asyncIterator]()];
    expect([(await one.next()).value, (await one.next()).value, (await other.next()).value]).toEqual([
      1, 2, 1,
    ]);
  });

  test('an error ends the iteration after the items before it', async () => {
    const { pages } = pagesOf({ '': page([1], 'gone') });
    const found: number[] = [];
    const iterate = async () => {
      for await (const item of pages) found.push(item);
    };
    await expect(iterate()).rejects.toThrow('no page gone');
    expect(found).toEqual([1]);
  });

  test('that repeats its cursor is an error, not a loop', async () => {
    const { pages, asked } = pagesOf({ '': page([1], 'a'), a: page([2], 'a') });
    await expect(all(pages)).rejects.toMatchObject({ name: 'ApiError', code: 'unexpected_answer' });
    expect(asked).toEqual(['', 'a']);
  });

  test('that returns to an earlier cursor is an error', async () => {
    const { pages, asked } = pagesOf({ '': page([1], 'a'), a: page([2], 'b'), b: page([3], 'a') });
    await expect(all(pages)).rejects.toMatchObject({ name: 'ApiError', code: 'unexpected_answer' });
    expect(asked).toEqual(['', 'a', 'b']);
  });

  test('ends when has_more is false, even with a cursor', async () => {
    const { pages, asked } = pagesOf({ '': page([1], 'a'), a: { ...page([2], 'b'), has_more: false } });
    expect(await all(pages)).toEqual([1, 2]);
    expect(asked).toEqual(['', 'a']);
  });

  test('with has_more but without a cursor is an error', async () => {
    const { pages } = pagesOf({ '': { ...page([1], null), has_more: true } });
    await expect(all(pages)).rejects.toMatchObject({ code: 'unexpected_answer' });
  });
});

describe('a query', () => {
  async function sent(query: object, call: ListName = 'schedules.list'): Promise<string> {
    const urls: string[] = [];
    const fetch = async (url: string) => {
      urls.push(url);
      return Response.json(page([], null));
    };
    const settings = readOptions({ url: 'http://sched.example', apiKey: 'sk_test_0123456789', fetch });
    const transport = new Transport(settings, SYSTEM_DEPENDENCIES);
    const rejected = await list(transport, call, () => '/schedules', query)
      .page()
      .then(
        () => null,
        (error: Error) => error,
      );
    if (rejected === null) return urls.join();
    expect(urls).toEqual([]);
    return String(rejected);
  }

  const BASE = 'http://sched.example/v1/schedules';

  test.for<readonly [object, string, ListName?]>([
    [{}, ''],
    [{ state: 'active', limit: 5 }, '?state=active&limit=5'],
    [{ include_archived: false }, '?include_archived=false', 'endpoints.list'],
    [{ metadata: { 'a b': 'c&d' } }, '?metadata%5Ba+b%5D=c%26d'],
    // A variable that may be unset is common, so a known filter may have no value.
    [{ state: undefined, kind: null, metadata: undefined }, ''],
    [{ metadata: null }, ''],
  ])('%j is sent as %s', async ([query, search, call]) => {
    expect(await sent(query, call)).toBe(BASE + search);
  });

  test.for<readonly [string, object, ListName?]>([
    ['schedule_id', { schedule_id: '' }, 'deliveries.list'],
    ['status', { status: '' }, 'deliveries.list'],
    ['cursor', { cursor: '' }],
    ['metadata[team]', { metadata: { team: '' } }],
    ['metadata[]', { metadata: { '': 'billing' } }],
  ])('with an empty %s is refused, because it would match everything', async ([name, query, call]) => {
    expect(await sent(query, call)).toContain(`TypeError: ${name} must not be empty`);
  });

  test('has instants as dates', async () => {
    const after = new Date(Date.UTC(2027, 0, 1));
    expect(await sent({ created_after: after, created_before: null }, 'deliveries.list')).toBe(
      `${BASE}?created_after=2027-01-01T00%3A00%3A00.000Z`,
    );
  });

  // The service ignores filters that it does not know, such as `status[0]`, and would list everything.
  test.for<readonly [unknown, string, ListName?]>([
    ['active', 'A list takes an object with filters, such as { limit: 50 }. It got a text.'],
    [[], 'A list takes an object with filters, such as { limit: 50 }. It got an array.'],
    [{ metadata: 'billing' }, "metadata must be an object, such as { team: 'billing' }. It got a text."],
    [{ metadata: new Map([['team', 'billing']]) }, 'metadata must be an object'],
    [new Map([['state', 'active']]), 'A list takes an object with filters'],
    [{ metadata: { team: {} } }, 'metadata[team] must be a single value. It got an object.'],
    [
      { status: ['expired', 'canceled'] },
      'status must be a single value. It got an array.',
      'deliveries.list',
    ],
    [{ created_after: new Date('') }, 'created_after is an invalid Date.', 'deliveries.list'],
    [{ created_after: 5 }, 'created_after is a number. Pass a Date', 'deliveries.list'],
    [
      { metadata: { team: undefined } },
      'metadata[team] must be a text. It got undefined. Leave the label out to match everything.',
    ],
    [{ metadata: { team: null } }, 'metadata[team] must be a text. It got null.'],
    [
      { stat: 'paused' },
      'schedules.list has no filter "stat". Did you mean "state"? The filters are cursor, limit, state, kind, name, endpoint_id, q and metadata.',
    ],
    [{ status: 'paused' }, 'schedules.list has no filter "status". Did you mean "state"?'],
    [{ metdata: { team: 'x' } }, 'schedules.list has no filter "metdata". Did you mean "metadata"?'],
    [{ 'metadata[team]': 'x' }, 'schedules.list has no filter "metadata[team]". Did you mean "metadata"?'],
    [{ colour: undefined }, 'schedules.list has no filter "colour". The filters are cursor, limit,'],
    [{ ['x'.repeat(60)]: 1 }, `schedules.list has no filter "${'x'.repeat(40)}". The filters`],
    [{ constructor: 'x' }, 'schedules.list has no filter "constructor". The filters'],
    [
      { scheduleId: 'sch_1' },
      'deliveries.list has no filter "scheduleId". Did you mean "schedule_id"?',
      'deliveries.list',
    ],
    [{ createdAfter: 'x' }, 'Did you mean "created_after"?', 'deliveries.list'],
    [{ archived: true }, 'endpoints.list has no filter "archived". The filters', 'endpoints.list'],
    [{ status: 'expired' }, 'schedules.deliveries has no filter "status".', 'schedules.deliveries'],
  ])('%j is refused', async ([query, message, call]) => {
    const refused = await sent(query as object, call);
    expect(refused).toMatch(/^TypeError: /);
    expect(refused).toContain(message);
  });
});

describe('toArray', () => {
  test.each([
    [0, [], 0],
    [1, [1], 1],
    [2, [1, 2], 1],
    [3, [1, 2, 3], 3],
    [Number.POSITIVE_INFINITY, [1, 2, 3], 3],
  ])('%d', async (max, items, requests) => {
    const { pages, asked } = pagesOf(THREE);
    expect(await pages.toArray(max)).toEqual(items);
    expect(asked).toHaveLength(requests);
  });

  test.each([-1, Number.NaN])('%d is refused', async (max) => {
    await expect(pagesOf(THREE).pages.toArray(max)).rejects.toThrow(TypeError);
  });
});

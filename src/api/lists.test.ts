import { expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import { AnswerTooLong } from './answer-budget.ts';
import { answerFound, answerPage, answerSmallPage, type BoundedPage } from './lists.ts';

const MIB = 1_048_576;
const PAGE: BoundedPage<number> = {
  list: { partition: 1 as Partition, name: 'numbers' },
  limit: 100,
  after: null,
  bytesMax: Number.POSITIVE_INFINITY,
};

/** Items 1 to `count` of the given length. The store returns them in parts, as it does for large rows. */
function numbers(count: number, characters: number, partItems = 1) {
  let pauses = 0;
  const fetched: (number | null)[] = [];
  return {
    fetched,
    pauses: () => pauses,
    pause: async () => {
      pauses += 1;
    },
    fetch: async (after: number | null, limit: number) => {
      fetched.push(after);
      const rest = Array.from({ length: count }, (_, at) => at + 1).slice(after ?? 0);
      const items = rest.slice(0, Math.min(limit, partItems));
      return { items, hasMore: items.length < rest.length };
    },
    show: (id: number) => ({ position: id, resource: { id, text: 'x'.repeat(characters) } }),
  };
}

async function idsIn(answer: Promise<{ readonly body: string }>): Promise<readonly [number[], boolean]> {
  const { data, has_more } = JSON.parse((await answer).body) as {
    readonly data: readonly { readonly id: number }[];
    readonly has_more: boolean;
  };
  return [data.map(({ id }) => id), has_more];
}

test('a page ends when it has two megabytes, with a pause at the start and after each large item', async () => {
  const { fetch, show, pause, pauses, fetched } = numbers(9, MIB);
  expect(await idsIn(answerPage(PAGE, fetch, show, pause))).toEqual([[1, 2], true]);
  expect(fetched).toEqual([null, 1]);
  expect(pauses()).toBe(3);
});

test('an item that is larger than a page is a page of its own', async () => {
  const { fetch, show, pause } = numbers(2, 3 * MIB);
  expect(await idsIn(answerPage(PAGE, fetch, show, pause))).toEqual([[1], true]);
  expect(await idsIn(answerPage({ ...PAGE, after: 1 }, fetch, show, pause))).toEqual([[2], false]);
});

test('parts are joined until the page is full', async () => {
  const { fetch, show, pause } = numbers(50, 10, 7);
  const [ids, hasMore] = await idsIn(answerPage({ ...PAGE, limit: 20 }, fetch, show, pause));
  expect([ids.length, ids.at(-1), hasMore]).toEqual([20, 20, true]);
  const [all, more] = await idsIn(answerPage(PAGE, fetch, show, pause));
  expect([all.length, more]).toEqual([50, false]);
});

test('an ordinary page has one pause at the start, and a long one has more', async () => {
  const { show, pause, pauses } = numbers(0, 300);
  const rows = async (after: number | null, limit: number) =>
    Array.from({ length: limit }, (_, at) => at + 1 + (after ?? 0));
  await answerSmallPage({ ...PAGE, limit: 20 }, rows, show, pause);
  expect(pauses()).toBe(1);
  const [ids, hasMore] = await idsIn(answerSmallPage(PAGE, rows, show, pause));
  expect([ids.length, hasMore]).toEqual([100, true]);
  expect(pauses()).toBeGreaterThan(4);
});

test('a found item that has changed is not shown, and items that do not fit come on the next page', async () => {
  const page = { list: PAGE.list, bytesMax: PAGE.bytesMax };
  const found = { found: ['e', 'd', 'c', 'b', 'a'], next: null };
  const find = async (ids: readonly string[]) => ({ items: ids.slice(0, 1), hasMore: ids.length > 1 });
  const pause = async () => {};
  const show = (id: string) => ({
    position: id,
    resource: id === 'd' ? null : { id, text: 'x'.repeat(MIB) },
  });
  expect(await idsIn(answerFound(page, found, find, show, pause))).toEqual([['e', 'c'], true]);
  const rest = { found: ['b', 'a'], next: null };
  expect(await idsIn(answerFound(page, rest, find, show, pause))).toEqual([['b', 'a'], false]);
  const none = { found: [], next: 'a' };
  const nothing = async () => ({ items: [], hasMore: false });
  expect(await idsIn(answerFound(page, none, nothing, show, pause))).toEqual([[], true]);
});

test('reading stops when a page has more bytes than allowed', async () => {
  const { fetch, show, pause, fetched } = numbers(9, 1_000);
  const page = { ...PAGE, bytesMax: 2_500 };
  await expect(answerPage(page, fetch, show, pause)).rejects.toThrow(AnswerTooLong);
  expect(fetched).toEqual([null, 1, 2]);
  expect(await idsIn(answerPage({ ...page, limit: 2 }, fetch, show, pause))).toEqual([[1, 2], true]);
});

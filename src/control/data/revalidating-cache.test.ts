import { expect, test } from 'vitest';
import { RevalidatingCache } from './revalidating-cache.ts';

/** Numbered answers. Each takes a while by a clock that the test moves. */
function numberedAnswers(tookMs: number) {
  let nowMs = 0;
  let made = 0;
  const cache = new RevalidatingCache<number>({ elapsed: () => nowMs });
  const get = () =>
    cache.get('name', async () => {
      nowMs += tookMs;
      made += 1;
      return made;
    });
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { get, advance, cache };
}

test('requests within a moment share an answer', async () => {
  const { get, advance } = numberedAnswers(5);
  expect(await Promise.all([get(), get()])).toEqual([1, 1]);
  advance(400);
  expect(await get()).toBe(1);
  advance(200);
  expect(await get()).toBe(2);
});

test('an answer that takes long twice is cached for longer, and is returned while the next is computed', async () => {
  const { get, advance } = numberedAnswers(100);
  expect(await get()).toBe(1);
  advance(400);
  expect(await get()).toBe(1);
  expect(await get()).toBe(2);
  advance(4_800);
  expect(await get()).toBe(2);
  advance(200);
  expect(await get()).toBe(2);
  expect(await get()).toBe(3);
});

test('an answer that is too old is not returned', async () => {
  const { get, advance } = numberedAnswers(100);
  expect(await get()).toBe(1);
  advance(60_000);
  expect(await get()).toBe(2);
});

test('a failed answer is computed again', async () => {
  const { cache } = numberedAnswers(1);
  await expect(cache.get('other', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await cache.get('other', async () => 7)).toBe(7);
});

import { expect, test } from 'vitest';
import { RevalidatingCache } from './revalidating-cache.ts';

/** Answers that are numbered, each of which takes a while by a clock that the test moves. */
function numbered(tookMs: number) {
  let nowMs = 0;
  let made = 0;
  const shared = new RevalidatingCache<number>({ elapsed: () => nowMs });
  const ask = () =>
    shared.get('name', async () => {
      nowMs += tookMs;
      made += 1;
      return made;
    });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { ask, pass, failing: shared };
}

test('those who ask within a moment share an answer', async () => {
  const { ask, pass } = numbered(5);
  expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
  pass(400);
  expect(await ask()).toBe(1);
  pass(200);
  expect(await ask()).toBe(2);
});

test('one that takes long twice is kept for longer, and then given while the next is worked out', async () => {
  const { ask, pass } = numbered(100);
  expect(await ask()).toBe(1);
  pass(400);
  expect(await ask()).toBe(1);
  expect(await ask()).toBe(2);
  pass(4_800);
  expect(await ask()).toBe(2);
  pass(200);
  expect(await ask()).toBe(2);
  expect(await ask()).toBe(3);
});

test('one that nobody asked for in a long time is not given any more', async () => {
  const { ask, pass } = numbered(100);
  expect(await ask()).toBe(1);
  pass(60_000);
  expect(await ask()).toBe(2);
});

test('what failed is asked for anew', async () => {
  const { failing } = numbered(1);
  await expect(failing.get('other', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await failing.get('other', async () => 7)).toBe(7);
});

import { expect, it } from 'vitest';
import { MemoryStore } from './deduplication.ts';

it('a key is new once, in progress until it is done, and done until it expires', async () => {
  let now = 0;
  const store = new MemoryStore({ ttlMs: 1_000, now: () => now });
  expect(await store.begin('a')).toBe('new');
  expect(await store.begin('a')).toBe('in_progress');
  expect(await store.begin('b')).toBe('new');
  store.done('a');
  expect(await store.begin('a')).toBe('done');
  now = 999;
  expect(await store.begin('a')).toBe('done');
  now = 1_000;
  expect(await store.begin('a')).toBe('new');
  // A key in progress does not expire.
  now = 1e9;
  expect(await store.begin('b')).toBe('in_progress');
});

it('a forgotten key is new again', async () => {
  const store = new MemoryStore();
  expect(await store.begin('a')).toBe('new');
  store.forget('a');
  expect(await store.begin('a')).toBe('new');
});

it('a done key is kept for 24 hours by default', async () => {
  let now = 0;
  const store = new MemoryStore({ now: () => now });
  await store.begin('a');
  store.done('a');
  now = 86_399_999;
  expect(await store.begin('a')).toBe('done');
  now = 86_400_000;
  expect(await store.begin('a')).toBe('new');
});

it('beyond keysMax the oldest done keys are dropped, and never one in progress', async () => {
  const store = new MemoryStore({ keysMax: 3 });
  await store.begin('working');
  for (const key of ['a', 'b', 'c']) {
    await store.begin(key);
    store.done(key);
  }
  expect(store.size).toBe(3);
  const begun = await Promise.all(['working', 'b', 'c'].map((key) => store.begin(key)));
  expect(begun).toEqual(['in_progress', 'done', 'done']);
  expect(await store.begin('a')).toBe('new');
  expect(store.size).toBe(3);
  // No key can be dropped, so a new one is refused for now.
  expect(await store.begin('d')).toBe('new');
  expect(await store.begin('e')).toBe('in_progress');
  expect(store.size).toBe(3);
});

it('the store does not grow with the number of past keys', async () => {
  const store = new MemoryStore({ keysMax: 100 });
  for (let i = 0; i < 10_000; i++) {
    await store.begin(`${i}`);
    if (i % 3 === 1) store.forget(`${i}`);
    else store.done(`${i}`);
  }
  expect(store.size).toBe(100);
});

it.each([{ ttlMs: 0 }, { ttlMs: Number.NaN }, { keysMax: 0 }])('the option %j is refused', (options) => {
  expect(() => new MemoryStore(options)).toThrow(RangeError);
});

it('if several callers begin a key at the same moment, only one gets new', async () => {
  const store = new MemoryStore();
  const begun = await Promise.all(Array.from({ length: 3 }, () => store.begin('a')));
  expect(begun).toEqual(['new', 'in_progress', 'in_progress']);
});

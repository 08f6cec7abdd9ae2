import { expect, test } from 'vitest';
import { largeCache } from './large-cache.ts';

test('a large cache evicts the entry that was used longest ago', () => {
  const cache = largeCache<string, number>(3);
  for (const [at, key] of ['a', 'b', 'c'].entries()) cache.set(key, at);
  cache.get('a');
  cache.set('d', 3);
  expect([...cache.keys()]).toEqual(['d', 'a', 'c']);
});

test('a large cache never has more entries than its limit, also after entries were replaced and deleted', () => {
  const cache = largeCache<number, number>(100);
  let largest = 0;
  for (let at = 0; at < 10_000; at++) {
    cache.set((at * 37) % 251, at);
    if (at % 7 === 0) cache.delete((at * 11) % 251);
    largest = Math.max(largest, cache.size);
  }
  expect(largest).toBe(100);
  for (let key = 0; key < 100; key++) cache.set(key, key);
  expect(cache.size).toBe(100);
});

import { expect, test } from 'vitest';
import { RecentCache } from './recent-cache.ts';

test('the last half of the entries is always kept, and entries that are used stay', () => {
  const cache = new RecentCache<number, string>(10);
  cache.set(-1, 'used');
  for (let key = 0; key < 100; key++) {
    cache.set(key, `value ${key}`);
    expect(cache.get(-1)).toBe('used');
    for (let recent = Math.max(key - 3, 0); recent <= key; recent++) {
      expect(cache.get(recent)).toBe(`value ${recent}`);
    }
  }
});

test('an entry that is not used is forgotten after as many others', () => {
  const cache = new RecentCache<number, string>(10);
  for (let key = 0; key < 11; key++) cache.set(key, 'value');
  expect(cache.get(0)).toBeUndefined();
});

test('a value that is set again replaces the one of the older generation', () => {
  const cache = new RecentCache<string, number>(2);
  cache.set('a', 1);
  cache.set('b', 1);
  cache.set('a', 2);
  cache.set('b', 2);
  expect([cache.get('a'), cache.get('b')]).toEqual([2, 2]);
});

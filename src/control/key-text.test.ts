import { expect, test } from 'vitest';
import { systemRandom } from '#src/system/random.ts';
import { newApiKey, randomBase62 } from './key-text.ts';

test('each new key is its prefix and 32 other base62 characters', () => {
  const keys = Array.from({ length: 100 }, () => newApiKey('test', systemRandom()));
  for (const key of keys) expect(key).toMatch(/^sk_test_[0-9A-Za-z]{32}$/);
  expect(new Set(keys).size).toBe(100);
  expect(newApiKey('live', systemRandom())).toMatch(/^sk_live_[0-9A-Za-z]{32}$/);
});

test('every character is equally likely over all byte values', () => {
  const counts = new Map<string, number>();
  let next = 0;
  const everyByteInTurn = {
    bytes: (count: number) => Uint8Array.from({ length: count }, () => next++ % 256),
  };
  for (const character of randomBase62(everyByteInTurn, 248)) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  expect(counts.size).toBe(62);
  expect(new Set(counts.values())).toEqual(new Set([4]));
});

test('bytes that would make a character more likely are drawn again', () => {
  const draws = [Uint8Array.of(255, 248, 0), Uint8Array.of(250, 1), Uint8Array.of(61)];
  const scripted = { bytes: () => draws.shift() ?? Uint8Array.of() };
  expect(randomBase62(scripted, 3)).toBe('01z');
});

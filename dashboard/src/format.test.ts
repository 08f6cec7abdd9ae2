import { describe, expect, test } from 'vitest';
import { bytes, compact, middleCut, milliseconds, percent, plural } from './format.ts';

test.each([
  [0.44, '0.4 ms'],
  [3, '3 ms'],
  [999, '999 ms'],
  [1_250, '1.25 s'],
  [12_340, '12.3 s'],
  [185_000, '3 min 5 s'],
  [7_800_000, '2 h 10 min'],
  [259_200_000, '3 d'],
])('%d ms is %s', (ms, text) => {
  expect(milliseconds(ms)).toBe(text);
});

describe('a share', () => {
  test('is never rounded up to all, nor down to nothing', () => {
    expect(percent(999_999, 1_000_000)).toBe('>99.99%');
    expect(percent(1, 1_000_000)).toBe('<0.1%');
    expect(percent(9_995, 10_000)).toBe('99.95%');
    expect(percent(1, 3)).toBe('33.3%');
  });

  test('of nothing is none', () => {
    expect(percent(0, 0)).toBe('–');
    expect(percent(0, 5)).toBe('0%');
    expect(percent(5, 5)).toBe('100%');
  });
});

test('a long text keeps its two ends and whole characters', () => {
  expect(middleCut('short', 10)).toBe('short');
  const cut = middleCut('https://example.com/a/very/long/path?end', 20);
  expect(cut).toHaveLength(20);
  expect(cut.startsWith('https://exam')).toBe(true);
  expect(cut.endsWith('ath?end')).toBe(true);
  expect(middleCut('😀'.repeat(30), 10)).toBe(`${'😀'.repeat(6)}…${'😀'.repeat(3)}`);
});

test('counts speak', () => {
  expect(plural(1, 'attempt', 'attempts')).toBe('1 attempt');
  expect(plural(1_200, 'attempt', 'attempts')).toBe('1,200 attempts');
  expect(compact(9_999)).toBe('9,999');
  expect(compact(12_440)).toBe('12.4K');
  expect(bytes(1)).toBe('1 byte');
  expect(bytes(1_536)).toBe('1.5 KB');
});

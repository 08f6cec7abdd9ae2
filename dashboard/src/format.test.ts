import { describe, expect, test } from 'vitest';
import { formatBytes, formatCompact, formatMs, formatPercent, plural, truncateMiddle } from './format.ts';

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
  expect(formatMs(ms)).toBe(text);
});

describe('a percentage', () => {
  test('is never rounded up to 100% or down to 0%', () => {
    expect(formatPercent(999_999, 1_000_000)).toBe('>99.99%');
    expect(formatPercent(1, 1_000_000)).toBe('<0.1%');
    expect(formatPercent(9_995, 10_000)).toBe('99.95%');
    expect(formatPercent(1, 3)).toBe('33.3%');
  });

  test('of zero is a dash', () => {
    expect(formatPercent(0, 0)).toBe('–');
    expect(formatPercent(0, 5)).toBe('0%');
    expect(formatPercent(5, 5)).toBe('100%');
  });
});

test('a truncated text keeps both ends and whole characters', () => {
  expect(truncateMiddle('short', 10)).toBe('short');
  const cut = truncateMiddle('https://example.com/a/very/long/path?end', 20);
  expect(cut).toHaveLength(20);
  expect(cut.startsWith('https://exam')).toBe(true);
  expect(cut.endsWith('ath?end')).toBe(true);
  expect(truncateMiddle('😀'.repeat(30), 10)).toBe(`${'😀'.repeat(6)}…${'😀'.repeat(3)}`);
});

test('counts have units, and large ones are short', () => {
  expect(plural(1, 'attempt', 'attempts')).toBe('1 attempt');
  expect(plural(1_200, 'attempt', 'attempts')).toBe('1,200 attempts');
  expect(formatCompact(9_999)).toBe('9,999');
  expect(formatCompact(12_440)).toBe('12.4K');
  expect(formatBytes(1)).toBe('1 byte');
  expect(formatBytes(1_536)).toBe('1.5 KB');
});

import { expect, test } from 'vitest';
import { formatInstant, formatRelative } from './time.ts';

const NOW = Date.parse('2026-11-15T08:00:00.000Z');
const SECOND = 1_000;

test.each([
  [0, 'now'],
  [900, 'now'],
  [42 * SECOND, 'in 42 s'],
  [-42 * SECOND, '42 s ago'],
  [93 * SECOND, 'in 1 min 33 s'],
  [25 * 60 * SECOND, 'in 25 min'],
  [3_600 * SECOND, 'in 1 h'],
  [-(3_600 + 49 * 60) * SECOND, '1 h 49 min ago'],
  [26 * 3_600 * SECOND, 'in 1 d 2 h'],
  [40 * 86_400 * SECOND, 'in 40 d'],
])('%d ms from now is "%s"', (ms, text) => {
  expect(formatRelative(NOW + ms, NOW)).toBe(text);
});

test('an instant is shown in a zone', () => {
  const at = '2026-03-29T00:59:59.123Z';
  expect(formatInstant(at, 'UTC', 'second')).toMatch(/^29 Mar.*, 00:59:59$/);
  expect(formatInstant(at, 'Europe/Berlin', 'exact')).toBe('29 Mar 2026, 01:59:59.123');
  expect(formatInstant('2026-03-29T01:00:00.000Z', 'Europe/Berlin', 'time')).toBe('03:00');
});

test('a date in another year shows its year', () => {
  const year = new Date().getUTCFullYear();
  expect(formatInstant(`${year + 2}-03-28T01:30:00.000Z`, 'UTC', 'minute')).toBe(`28 Mar ${year + 2}, 01:30`);
  expect(formatInstant(`${year - 1}-03-28T01:30:05.000Z`, 'UTC', 'second')).toBe(
    `28 Mar ${year - 1}, 01:30:05`,
  );
  expect(formatInstant(`${year}-03-28T01:30:00.000Z`, 'UTC', 'minute')).toBe('28 Mar, 01:30');
  expect(formatInstant(`${year + 2}-03-28T01:30:00.000Z`, 'UTC', 'time')).toBe('01:30');
});

test('a text that is not an instant is shown as it is', () => {
  expect(formatInstant('soon', 'UTC')).toBe('soon');
  expect(formatRelative('soon', NOW)).toBe('');
});

import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { localText, relative, shortInstant } from './time-text.ts';

test.each([
  [0, 'now'],
  [-999, 'now'],
  [1_000, 'in 1 s'],
  [-59_999, '59 s ago'],
  [61_000, 'in 1 min 1 s'],
  [120_000, 'in 2 min'],
  [12_000_000, 'in 3 h 20 min'],
  [-(2 * 86_400_000 + 4 * 3_600_000), '2 d 4 h ago'],
  [86_400_000, 'in 1 d'],
  [30 * 86_400_000 + 3_600_000, 'in 30 d'],
])('%i ms away is %j', (distanceMs, text) => {
  expect(relative(1_000_000_000_000 + distanceMs, 1_000_000_000_000)).toBe(text);
});

test('instants and wall-clock times leave out what is zero', () => {
  expect(shortInstant(instant(0))).toBe('1970-01-01 00:00:00Z');
  expect(shortInstant(instant(1_005))).toBe('1970-01-01 00:00:01.005Z');
  expect(localText(0, 3_600_000)).toBe('Thu 1970-01-01 00:00 +01:00');
  expect(localText(15_000, -12_600_000)).toBe('Thu 1970-01-01 00:00:15 -03:30');
});

import { expect, test } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

test.each([
  ['5s', 5_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['.5ms', 0.5],
  ['250us', 0.25],
  [' 720h0m0s ', 2_592_000_000],
  ['0', 0],
])('the duration "%s" is %d ms long', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', 'soon', '5', '5 s', '1d', '-5s'])('"%s" is not a duration', (text) => {
  expect(parseDuration(text)).toBeNull();
});

test('a duration is shown in the units of the page, and other text as it is', () => {
  expect(formatDuration('720h0m0s')).toBe('30 d');
  expect(formatDuration('36h30m0s')).toBe('1 d 12 h');
  expect(formatDuration('for ever')).toBe('for ever');
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDuration } from '#src/domain/duration.ts';
import { durationFaultText } from './duration-fault-text.ts';

const HOUR_MS = 3_600_000;
const RULE = { minMs: 1_000, example: '5m' };

describe('a text that is not a duration', () => {
  test.each([
    ['1d', 'days are not a unit. Write "24h".'],
    ['1d12h', 'days are not a unit. Write "36h".'],
    ['1.5 days', 'days are not a unit. Write "36h".'],
    ['2 weeks', 'weeks are not a unit. Write "336h".'],
    ['30', 'it has no unit. Write "30s".'],
    ['1.5', 'it has no unit. Write "1.5s".'],
    ['PT30S', 'ISO 8601 is not supported. Write "30s".'],
    ['P1DT2H30M', 'ISO 8601 is not supported. Write "26h30m".'],
    ['P1M', 'ISO 8601 is not supported. Use h, m, s and ms, such as "5m".'],
    ['01:30:00', 'it is written like a clock. Write "1h30m".'],
    ['5min', '"min" is not a unit. Write "5m".'],
    ['10 SECONDS', '"SECONDS" is not a unit. Write "10s".'],
    ['30S', '"S" is not a unit. Write "30s".'],
    ['5M', '"M" is not a unit. Use h, m, s and ms, such as "5m".'],
    ['1 month', 'months and years are not units. Use h, m, s and ms, such as "5m".'],
    ['1y', 'months and years are not units. Use h, m, s and ms, such as "5m".'],
    ['1h 30m', 'it has a space. Write "1h30m".'],
    ['1,5h', 'it has a comma. Write "1h30m".'],
    ['1,500s', 'it has a comma. Use h, m, s and ms, such as "5m".'],
    ['', 'it is empty. Use h, m, s and ms, such as "5m".'],
    ['soon', 'it needs a number and a unit. Use h, m, s and ms, such as "5m".'],
    ['-1d', 'days are not a unit. Use h, m, s and ms, such as "5m".'],
    ['2562048h', 'it is too large. Use h, m, s and ms, such as "5m".'],
    ['1h-5m', 'its form is wrong. Use h, m, s and ms, such as "5m".'],
  ])('%s', (text, why) => {
    expect(durationFaultText(text, 'delay', RULE)).toBe(`delay "${text}" is not a duration: ${why}`);
  });

  test.each([
    [30, 'a string with a unit, not the number 30. Write "30s".'],
    [60_000, 'a string with a unit, not the number 60000. Write "60000ms" or "60000s".'],
    [-3, 'a string with a unit, not the number -3. Use h, m, s and ms, such as "5m".'],
    [null, 'a string such as "5m", not null.'],
    [{ seconds: 5 }, 'a string such as "5m", not an object.'],
  ])('%j', (value, must) => {
    expect(durationFaultText(value, 'delay', RULE)).toBe(`delay must be ${must}`);
  });
});

test('a duration out of its bounds, with the bounds', () => {
  const rule = { aboveMs: 0, maxMs: HOUR_MS, example: '10s' };
  expect(durationFaultText('2h', 'timeout', rule)).toBe(
    'timeout "2h" is out of bounds: it must be above 0 and at most 1h, such as "10s".',
  );
  // The correction of a text must be within the bounds too.
  expect(durationFaultText('1d', 'timeout', rule)).toMatch(/such as "10s"\.$/);
});

test('whatever is given, a correction is a duration within the bounds', () => {
  const unit = fc.constantFrom(
    'd',
    'h',
    'min',
    ' days',
    'w',
    'S',
    'M',
    'ms',
    ',5h',
    ':30',
    '',
    ' ',
    '-',
    '.',
  );
  const text = fc.array(fc.tuple(fc.nat(99), unit)).map((parts) => parts.flat().join(''));
  fc.assert(
    fc.property(fc.oneof(text, fc.string(), fc.double(), fc.integer()), (value) => {
      const message = durationFaultText(value, 'base', { minMs: 0, maxMs: 24 * HOUR_MS, example: '5s' });
      for (const [, corrected = ''] of message.matchAll(/(?:Write|or|such as) "([^"]*)"/g)) {
        const nanoseconds = parseDuration(corrected) ?? -1n;
        expect(nanoseconds >= 0n && nanoseconds <= 86_400_000_000_000n).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

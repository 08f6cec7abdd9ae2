import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instant, parseInstant } from '#src/domain/instant.ts';
import { parseLocalTime } from '#src/domain/zone.ts';
import { instantFaultText, localTimeFaultText } from './instant-fault-text.ts';

const NOW = instant(Date.UTC(2026, 10, 15, 23, 59));
const UTC = 'for UTC, or end with an offset such as +02:00.';

describe('a text that is not an instant', () => {
  test.each([
    ['2026-12-01T09:00:00', `has no offset. Write "2026-12-01T09:00:00Z" ${UTC}`],
    ['2026-12-01T09:00:00.123456', `has no offset. Write "2026-12-01T09:00:00.123Z" ${UTC}`],
    ['2026-12-01', `has no time. Write "2026-12-01T00:00:00Z" ${UTC}`],
    ['2026-12-01 09:00', `needs a T between date and time. Write "2026-12-01T09:00:00Z" ${UTC}`],
    ['2026-12-01T09:00Z', 'has no seconds. Write "2026-12-01T09:00:00Z".'],
    ['2026-12-01T09:00:00+02', 'has an offset of another form. Write "2026-12-01T09:00:00+02:00".'],
    ['2026-12-01T09:00:00 UTC', 'has an offset of another form. Write "2026-12-01T09:00:00Z".'],
    [
      '2026-12-01T09:00:00 Europe/Berlin',
      'has no valid offset. Write an instant such as "2026-11-16T09:00:00Z", or use local_fire_at with timezone.',
    ],
    [
      '2026-13-01T00:00:00Z',
      'does not exist: a month is 01 to 12. Write an instant such as "2026-11-16T09:00:00Z".',
    ],
    [
      '2027-02-29T00:00:00Z',
      'does not exist: this month has 28 days. Write an instant such as "2026-11-16T09:00:00Z".',
    ],
    [
      '2026-12-01T24:00:00Z',
      'does not exist: an hour is 00 to 23. Write an instant such as "2026-11-16T09:00:00Z".',
    ],
    ['12/01/2026', 'is not an RFC 3339 instant such as "2026-11-16T09:00:00Z".'],
    ['2026-12-01T09:00:00,5Z', 'is not an RFC 3339 instant such as "2026-11-16T09:00:00Z".'],
    [' 2026-12-01T09:00:00Z', 'has a space at an end. Write "2026-12-01T09:00:00Z".'],
  ])('%s', (text, why) => {
    expect(instantFaultText(text, 'fire_at', NOW)).toBe(`fire_at "${text}" ${why}`);
  });

  test.each([
    [1_795_176_000, 'fire_at is Unix time: the number 1795176000. Write "2026-11-20T12:00:00.000Z".'],
    [1_795_176_000_000, 'fire_at is Unix time: the number 1795176000000. Write "2026-11-20T12:00:00.000Z".'],
    ['1795176000', 'fire_at is Unix time: "1795176000". Write "2026-11-20T12:00:00.000Z".'],
    [1.5, 'fire_at must be a string such as "2026-11-16T09:00:00Z", not the number 1.5.'],
    [1e300, 'fire_at must be a string such as "2026-11-16T09:00:00Z", not the number 1e+300.'],
    [[], 'fire_at must be a string such as "2026-11-16T09:00:00Z", not an array.'],
  ])('%j', (value, message) => {
    expect(instantFaultText(value, 'fire_at', NOW)).toBe(message);
  });
});

describe('a text that is not a wall-clock time', () => {
  test.each([
    ['2026-12-01T09:00:00Z', 'has an offset. Write "2026-12-01T09:00:00" and give timezone, or use fire_at.'],
    ['2026-12-01T09:00:00.5', 'has a fraction of a second. Write "2026-12-01T09:00:00".'],
    ['2026-12-01t09:00:00', 'is not of the form YYYY-MM-DDTHH:MM:SS. Write "2026-12-01T09:00:00".'],
    ['2026-12-01 09:00:00', 'needs a T between date and time. Write "2026-12-01T09:00:00".'],
    ['2026-12-01', 'has no time. Write "2026-12-01T00:00:00".'],
    [
      '2026-04-31T00:00:00',
      'does not exist: this month has 30 days. Write a time such as "2026-11-16T09:00:00".',
    ],
    ['9 am', 'is not a date and time such as "2026-11-16T09:00:00".'],
  ])('%s', (text, why) => {
    expect(localTimeFaultText(text, 'local_fire_at', NOW)).toBe(`local_fire_at "${text}" ${why}`);
  });
});

test.each([
  [
    1_700_000_000,
    'is Unix time: the number 1700000000 (2023-11-14T22:13:20.000Z) is too early. Write an instant',
  ],
  ['2020-01-01', '"2020-01-01" has no time, and in UTC it is too early. Write an instant'],
  ['2020-01-01T00:00Z', '"2020-01-01T00:00Z" has no seconds, and it is too early. Write an instant'],
])('%j is not corrected to an instant that is out of bounds', (value, why) => {
  expect(instantFaultText(value, 'fire_at', NOW, () => 'too early')).toBe(
    `fire_at ${why} such as "2026-11-16T09:00:00Z".`,
  );
});

test('a wall-clock time is judged in its time zone', () => {
  const outOfBounds = (at: number) => (at === Date.UTC(2026, 11, 1, 8) ? 'too early' : null);
  expect(
    localTimeFaultText('2026-12-01 09:00', 'local_fire_at', NOW, { timezone: 'Europe/Berlin', outOfBounds }),
  ).toBe(
    'local_fire_at "2026-12-01 09:00" needs a T between date and time, and it is too early. Write a time such as "2026-11-16T09:00:00".',
  );
});

test('whatever is given, a correction is accepted by the parser', () => {
  const two = fc.nat(99).map((number) => String(number).padStart(2, '0'));
  const pieces = fc.tuple(
    fc.constantFrom('2026', '2028', '0000'),
    two,
    two,
    fc.constantFrom('T', ' ', 't', ''),
  );
  const rest = fc.tuple(
    two,
    two,
    fc.constantFrom('', ':00', ':60', ':00.5'),
    fc.constantFrom('', 'Z', '+2', '+02', '-9900', ' UTC'),
  );
  const text = fc
    .tuple(pieces, rest)
    .map(
      ([[year, month, day, t], [hour, minute, second, offset]]) =>
        `${year}-${month}-${day}${t}${hour}:${minute}${second}${offset}`,
    );
  fc.assert(
    fc.property(fc.oneof(text, fc.string(), fc.integer()), (value) => {
      const written = /(?:Write|such as) "([^"]*)"/;
      if (typeof value !== 'string' || parseInstant(value) === null) {
        const instantMessage = instantFaultText(value, 'fire_at', NOW);
        expect(parseInstant(written.exec(instantMessage)?.[1] ?? '')).not.toBeNull();
      }
      if (typeof value !== 'string' || parseLocalTime(value) === null) {
        const localMessage = localTimeFaultText(value, 'local_fire_at', NOW);
        expect(parseLocalTime(written.exec(localMessage)?.[1] ?? '')).not.toBeNull();
      }
    }),
    { numRuns: 500 },
  );
});

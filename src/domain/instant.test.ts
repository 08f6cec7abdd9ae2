import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { daysInMonth, epochDay, formatInstant, instant, parseInstant } from './instant.ts';

describe('an instant', () => {
  test.each([0, -1, 8.64e15, -8.64e15])('may be %d', (ms) => {
    expect(instant(ms)).toBe(ms);
  });

  test.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1, -8.64e15 - 1])('may not be %d', (ms) => {
    expect(() => instant(ms)).toThrow(RangeError);
  });
});

describe('reading RFC 3339', () => {
  test.each<readonly [string, string]>([
    ['2026-11-15T08:00:00Z', '2026-11-15T08:00:00.000Z'],
    ['2026-11-15t08:00:00z', '2026-11-15T08:00:00.000Z'],
    ['2026-11-15T08:00:00+00:00', '2026-11-15T08:00:00.000Z'],
    ['2026-11-15T08:00:00-00:00', '2026-11-15T08:00:00.000Z'],
    ['2026-11-15T08:00:00+05:30', '2026-11-15T02:30:00.000Z'],
    ['2026-11-15T08:00:00-03:30', '2026-11-15T11:30:00.000Z'],
    ['2026-11-15T08:00:00+23:59', '2026-11-14T08:01:00.000Z'],
    ['2026-12-31T23:00:00-02:00', '2027-01-01T01:00:00.000Z'],
    ['2026-11-15T08:00:00.1Z', '2026-11-15T08:00:00.100Z'],
    ['2026-11-15T08:00:00.12+01:00', '2026-11-15T07:00:00.120Z'],
    ['2026-11-15T08:00:00.123Z', '2026-11-15T08:00:00.123Z'],
    ['2026-11-15T08:00:00.1239999999Z', '2026-11-15T08:00:00.123Z'],
    ['2026-11-15T23:59:59.999999999Z', '2026-11-15T23:59:59.999Z'],
    ['1969-12-31T23:59:59.9999Z', '1969-12-31T23:59:59.999Z'],
    ['1960-01-01T00:00:00.0019Z', '1960-01-01T00:00:00.001Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
    ['0000-02-29T00:00:00Z', '0000-02-29T00:00:00.000Z'],
    ['0099-03-01T00:00:00Z', '0099-03-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    [`2026-11-15T08:00:00.${'9'.repeat(100_000)}Z`, '2026-11-15T08:00:00.999Z'],
  ])('%.40s', (text, utc) => {
    const at = parseInstant(text);
    expect(at === null ? null : formatInstant(at)).toBe(utc);
  });

  test.each([
    '',
    'now',
    '2026-11-15',
    '2026-11-15T08:00:00',
    '2026-11-15 08:00:00Z',
    '2026-11-15_08:00:00Z',
    '2026-11-15T08:00Z',
    '2026-11-15T08:00:00,5Z',
    '2026-11-15T08:00:00.Z',
    '2026-11-15T08:00:00.5',
    '2026-11-15T08:00:00.-5Z',
    '2026-11-15T08:00:00 Z',
    '2026-11-15T08:00:00ZZ',
    ' 2026-11-15T08:00:00Z',
    '2026-11-15T08:00:00Z ',
    '2026-11-15T08:00:00Z\n',
    '2026-11-15T08:00:00+0100',
    '2026-11-15T08:00:00+01',
    '2026-11-15T08:00:00+1:00',
    '2026-11-15T08:00:00+01:0',
    '2026-11-15T08:00:00+01:000',
    '2026-11-15T08:00:00+24:00',
    '2026-11-15T08:00:00+01:60',
    '2026-11-15T08:00:00\u221201:00',
    '2026-11-15T08:00:00 01:00',
    '2026-11-15T08:00:00Europe/Berlin',
    '2026-11-15T08:00:00Z[UTC]',
    '2026-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-11-00T00:00:00Z',
    '2026-11-32T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-13-10T00:00:00Z',
    '2026-11-15T24:00:00Z',
    '2026-11-15T08:60:00Z',
    '2016-12-31T23:59:60Z',
    '2x26-11-15T08:00:00Z',
    '-026-11-15T08:00:00Z',
    '+2026-11-15T08:00:00Z',
    '+002026-11-15T08:00:00Z',
    '26-11-15T08:00:00Z',
    '20261115T080000Z',
    '2026-11-15T08:00:00.1a3Z',
    '\uff12026-11-15T08:00:00Z',
    '1794729600',
    '1794729600000',
  ])('refused: "%s"', (text) => {
    expect(parseInstant(text)).toBeNull();
  });

  const wellFormed = fc
    .record({
      at: fc.integer({ min: Date.UTC(1, 0, 1), max: Date.UTC(9999, 11, 30) }),
      digits: fc.integer({ min: 0, max: 3 }),
      offset: fc.option(fc.integer({ min: -1_439, max: 1_439 })),
    })
    .map(({ at, digits, offset }) => {
      const wall = new Date(at).toISOString();
      const fraction = digits === 0 ? '' : wall.slice(19, 20 + digits);
      const minutes = Math.abs(offset ?? 0);
      const two = (value: number): string => String(value).padStart(2, '0');
      const sign = (offset ?? 0) < 0 ? '-' : '+';
      const zone = offset === null ? 'Z' : `${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
      return wall.slice(0, 19) + fraction + zone;
    });

  test('agrees with Date on what both accept', () => {
    fc.assert(
      fc.property(wellFormed, (text) => {
        expect(parseInstant(text), text).toBe(Date.parse(text));
      }),
      { numRuns: 2_000 },
    );
  });

  const SHAPE =
    /^(\d{4}-(\d\d)-(\d\d))[Tt](([01]\d|2[0-3]):[0-5]\d:[0-5]\d)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

  /** Checks the form with a regular expression and the calendar with Date. A date that Date moves does not exist. */
  function oracle(text: string): number | null {
    const [, date = '', month = '', day = '', time = '', , fraction = '', zone = ''] = SHAPE.exec(text) ?? [];
    if (date === '') return null;
    const midnight = new Date(`${date}T00:00:00Z`);
    const exists =
      !Number.isNaN(midnight.getTime()) &&
      midnight.getUTCMonth() + 1 === Number(month) &&
      midnight.getUTCDate() === Number(day);
    if (!exists) return null;
    return Date.parse(
      `${date}T${time}${fraction.padEnd(4, '0').slice(0, 4).replace(/^0000/, '.000')}${zone.toUpperCase()}`,
    );
  }

  test('a damaged timestamp is read as its new text, or refused', () => {
    const damage = fc.record({
      text: wellFormed,
      position: fc.nat(30),
      removed: fc.integer({ min: 0, max: 2 }),
      inserted: fc.string({ unit: fc.constantFrom(...'0123456789.:+-TtZz '.split('')), maxLength: 2 }),
    });
    fc.assert(
      fc.property(damage, ({ text, position, removed, inserted }) => {
        const damaged = text.slice(0, position) + inserted + text.slice(position + removed);
        expect(parseInstant(damaged), damaged).toBe(oracle(damaged));
      }),
      { numRuns: 10_000 },
    );
  });

  test('any other text is refused without an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        expect(parseInstant(text)).toBe(oracle(text));
      }),
    );
  });
});

test('an instant is written as Date writes it, also outside the years that RFC 3339 has', () => {
  fc.assert(
    fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), fc.boolean(), (ms, isNear) => {
      const at = isNear ? Math.trunc(ms / 35) : ms;
      expect(formatInstant(instant(at))).toBe(new Date(at).toISOString());
    }),
    { numRuns: 2_000 },
  );
  for (const at of [
    -62_167_219_200_001, -62_167_219_200_000, -1, 0, 253_402_300_799_999, 253_402_300_800_000,
  ])
    expect(formatInstant(instant(at))).toBe(new Date(at).toISOString());
});

test('what was written is read back', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), (ms) => {
      expect(parseInstant(formatInstant(instant(ms)))).toBe(ms);
    }),
    { numRuns: 2_000 },
  );
});

test('the calendar agrees with Date', () => {
  fc.assert(
    fc.property(fc.integer({ min: -719_528, max: 2_932_896 }), (day) => {
      const date = new Date(day * 86_400_000);
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
      expect(epochDay(year, month, date.getUTCDate())).toBe(day);
      expect(epochDay(year, month, daysInMonth(year, month)) + 1).toBe(
        month === 12 ? epochDay(year + 1, 1, 1) : epochDay(year, month + 1, 1),
      );
    }),
    { numRuns: 2_000 },
  );
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cron, cachedCron, nextOccurrence, parseCron } from './cron.ts';
import { type Instant, instant, parseInstant } from './instant.ts';
import { toLocal } from './zone.ts';

const FAR = instant(Date.UTC(2100, 0, 1));

function at(text: string): Instant {
  const parsed = parseInstant(text);
  if (parsed === null) throw new Error(`not an instant: ${text}`);
  return parsed;
}

function cron(text: string): Cron {
  const parsed = parseCron(text);
  if (parsed === null) throw new Error(`not an expression: ${text}`);
  return parsed;
}

/** Returns the next occurrences in the wall time of the zone. */
function runs(expression: string, zone: string, after: string, count: number): readonly string[] {
  const parsed = cron(expression);
  const found: string[] = [];
  let from = at(after);
  while (found.length < count) {
    const next = nextOccurrence(parsed, zone, from, FAR);
    if (next === null) break;
    found.push(new Date(toLocal(zone, next)).toISOString().slice(0, 16).replace('T', ' '));
    from = next;
  }
  return found;
}

/** Returns the time of day of each occurrence in a period, in UTC. */
function utcTimes(expression: string, zone: string, after: string, until: string): readonly string[] {
  const parsed = cron(expression);
  const found: string[] = [];
  let next = nextOccurrence(parsed, zone, at(after), at(until));
  while (next !== null) {
    found.push(new Date(next).toISOString().slice(11, 16));
    next = nextOccurrence(parsed, zone, next, at(until));
  }
  return found;
}

describe('the grammar', () => {
  test.each<readonly [string, readonly string[]]>([
    ['* * * * *', ['2026-11-15 08:01', '2026-11-15 08:02', '2026-11-15 08:03']],
    ['*/20 * * * *', ['2026-11-15 08:20', '2026-11-15 08:40', '2026-11-15 09:00']],
    [
      '5/15 * * * *',
      ['2026-11-15 08:05', '2026-11-15 08:20', '2026-11-15 08:35', '2026-11-15 08:50', '2026-11-15 09:05'],
    ],
    ['50/15 * * * *', ['2026-11-15 08:50', '2026-11-15 09:50']],
    ['10-30/10 * * * *', ['2026-11-15 08:10', '2026-11-15 08:20', '2026-11-15 08:30', '2026-11-15 09:10']],
    [
      '10-12,40,58-59 * * * *',
      [
        '2026-11-15 08:10',
        '2026-11-15 08:11',
        '2026-11-15 08:12',
        '2026-11-15 08:40',
        '2026-11-15 08:58',
        '2026-11-15 08:59',
        '2026-11-15 09:10',
      ],
    ],
    ['29,30,31 * * * *', ['2026-11-15 08:29', '2026-11-15 08:30', '2026-11-15 08:31', '2026-11-15 09:29']],
    ['0 9-11 * * *', ['2026-11-15 09:00', '2026-11-15 10:00', '2026-11-15 11:00', '2026-11-16 09:00']],
    ['0 20/2 * * *', ['2026-11-15 20:00', '2026-11-15 22:00', '2026-11-16 20:00']],
    ['0 8 * * *', ['2026-11-16 08:00', '2026-11-17 08:00']],
    ['05 09 * * *', ['2026-11-15 09:05', '2026-11-16 09:05']],
    ['0 0 31 * *', ['2026-12-31 00:00', '2027-01-31 00:00', '2027-03-31 00:00', '2027-05-31 00:00']],
    ['0 0 29 2 *', ['2028-02-29 00:00', '2032-02-29 00:00', '2036-02-29 00:00']],
    ['0 0 29 2 */7', ['2032-02-29 00:00', '2060-02-29 00:00', '2088-02-29 00:00']],
    ['59 23 31 12 *', ['2026-12-31 23:59', '2027-12-31 23:59']],
    ['0 0 1 JAN,jul *', ['2027-01-01 00:00', '2027-07-01 00:00', '2028-01-01 00:00']],
    ['0 0 1 Nov-DEC *', ['2026-12-01 00:00', '2027-11-01 00:00', '2027-12-01 00:00']],
    ['0 0 1 */5 *', ['2027-01-01 00:00', '2027-06-01 00:00', '2027-11-01 00:00', '2028-01-01 00:00']],
    [
      '0 0 * * MON-FRI',
      [
        '2026-11-16 00:00',
        '2026-11-17 00:00',
        '2026-11-18 00:00',
        '2026-11-19 00:00',
        '2026-11-20 00:00',
        '2026-11-23 00:00',
      ],
    ],
    ['0 0 * * 0', ['2026-11-22 00:00', '2026-11-29 00:00']],
    ['0 0 * * 7', ['2026-11-22 00:00', '2026-11-29 00:00']],
    ['0 0 * * Sun', ['2026-11-22 00:00', '2026-11-29 00:00']],
    ['0 0 * * 5-7', ['2026-11-20 00:00', '2026-11-21 00:00', '2026-11-22 00:00', '2026-11-27 00:00']],
    ['0 0 * * fri-sun', ['2026-11-20 00:00', '2026-11-21 00:00', '2026-11-22 00:00', '2026-11-27 00:00']],
    ['0 0 * * 7,SAT', ['2026-11-21 00:00', '2026-11-22 00:00', '2026-11-28 00:00']],
    ['0 0 * * 1-5/2', ['2026-11-16 00:00', '2026-11-18 00:00', '2026-11-20 00:00', '2026-11-23 00:00']],
    ['0 0 * * MON/2', ['2026-11-16 00:00', '2026-11-18 00:00', '2026-11-20 00:00', '2026-11-23 00:00']],
    ['0 0 * * 7/2', ['2026-11-22 00:00', '2026-11-29 00:00']],
    ['0 0 * * */2', ['2026-11-17 00:00', '2026-11-19 00:00', '2026-11-21 00:00', '2026-11-22 00:00']],
    ['*/90 * * * *', ['2026-11-15 09:00', '2026-11-15 10:00']],
    ['  0\t9   * *\t* ', ['2026-11-15 09:00', '2026-11-16 09:00']],
  ])('%s', (expression, expected) => {
    expect(runs(expression, 'UTC', '2026-11-15T08:00:00Z', expected.length)).toEqual(expected);
  });

  test.each<readonly [string, string, readonly string[]]>([
    [
      'either, when both are restricted',
      '0 0 13 * FRI',
      ['2026-11-20 00:00', '2026-11-27 00:00', '2026-12-04 00:00', '2026-12-11 00:00', '2026-12-13 00:00'],
    ],
    [
      'only the weekday, when the date is *',
      '0 0 * * FRI',
      ['2026-11-20 00:00', '2026-11-27 00:00', '2026-12-04 00:00'],
    ],
    ['only the date, when the weekday is *', '0 0 13 * *', ['2026-12-13 00:00', '2027-01-13 00:00']],
    [
      'both, when the date starts with *',
      '0 0 */10 * TUE',
      ['2026-12-01 00:00', '2027-05-11 00:00', '2027-06-01 00:00'],
    ],
    ['both, when the weekday starts with *', '0 0 13 * */5', ['2026-12-13 00:00', '2027-06-13 00:00']],
    [
      'every day, when a restricted list holds *',
      '0 0 13 * 1,*',
      ['2026-11-16 00:00', '2026-11-17 00:00', '2026-11-18 00:00'],
    ],
  ])('day of month and day of week: %s', (_rule, expression, expected) => {
    expect(runs(expression, 'UTC', '2026-11-15T08:00:00Z', expected.length)).toEqual(expected);
  });

  test.each([
    '',
    ' ',
    '*',
    '* * * *',
    '* * * * * *',
    '0 0 * * * 2027',
    '@daily',
    '@reboot',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 0 *',
    '* * * 13 *',
    '* * * * 8',
    '0-60 * * * *',
    '*/0 * * * *',
    '5/0 * * * *',
    '1-5/0 * * * *',
    '*/-1 * * * *',
    '*/ * * * *',
    '/5 * * * *',
    '*/5/5 * * * *',
    '*/a * * * *',
    '30-10 * * * *',
    '* 22-2 * * *',
    '* * 31-1 * *',
    '* * * NOV-FEB *',
    '* * * * FRI-MON',
    '* * * * 5-0',
    '* * * * 7-1',
    '* * * * 6-5',
    '1,,2 * * * *',
    ',1 * * * *',
    '1, * * * *',
    ', * * * *',
    '- * * * *',
    '1- * * * *',
    '-1 * * * *',
    '1-2-3 * * * *',
    '*-5 * * * *',
    '5-* * * * *',
    '** * * * *',
    '*5 * * * *',
    '+5 * * * *',
    '1.5 * * * *',
    '1e1 * * * *',
    '0x5 * * * *',
    '\u0665 * * * *',
    '* * L * *',
    '* * 15W * *',
    '* * * * 5L',
    '* * * * 5#2',
    '* * ? * *',
    '* * * * ?',
    'H * * * *',
    'JAN * * * *',
    '* MON * * *',
    '* * JAN * *',
    '* * * MON *',
    '* * * * JAN',
    '* * * JANUARY *',
    '* * * JA *',
    '* * * * MONDAY',
    '* * * * M',
    '* * * * MON2',
    '* * * * 1 MON',
    '*\n* * * *',
    '*\u00a0* * * *',
    '* * * * *\n',
    '* * * * *\0',
    'TZ=UTC * * * * *',
    '0 0 * * 1;',
    `${'0,'.repeat(1_000)}0 * * * *`,
    `*${' '.repeat(1_000_000)}* * * *`,
    '1,'.repeat(500_000),
  ])('refused: "%.40s"', (text) => {
    expect(parseCron(text)).toBeNull();
    expect(cachedCron(text)).toBeNull();
  });

  test('any other text is refused without an error', () => {
    const pieces = fc.constantFrom(
      '*',
      '/',
      '-',
      ',',
      ' ',
      '0',
      '1',
      '7',
      '59',
      'MON',
      'jan',
      'L',
      '?',
      '#',
      '@',
      '.',
    );
    const item = '(\\*|[0-9a-z]+(-[0-9a-z]+)?)(/[0-9]+)?';
    const shape = new RegExp(`^ *(${item}(,${item})*( +|$)){5}$`, 'i');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 24 }), (parts) => {
        const text = parts.join('');
        if (parseCron(text) !== null) expect(text).toMatch(shape);
      }),
      { numRuns: 5_000 },
    );
  });

  test('the cache of expressions changes nothing', () => {
    expect(cachedCron('*/5 9-17 * * MON-FRI')).toEqual(parseCron('*/5 9-17 * * MON-FRI'));
    expect(cachedCron('*/5 9-17 * * MON-FRI')).toBe(cachedCron('*/5 9-17 * * MON-FRI'));
  });

  test('the expression is kept as it was written', () => {
    expect(cron(' 0 9 * * mon ').expression).toBe(' 0 9 * * mon ');
  });
});

describe('the bounds', () => {
  const hourly = cron('0 * * * *');

  test('an occurrence is strictly after the start, to the millisecond', () => {
    const nine = at('2026-11-15T09:00:00Z');
    expect(nextOccurrence(hourly, 'UTC', at('2026-11-15T08:59:59.999Z'), FAR)).toBe(nine);
    expect(nextOccurrence(hourly, 'UTC', nine, FAR)).toBe(at('2026-11-15T10:00:00Z'));
    expect(nextOccurrence(hourly, 'UTC', at('2026-11-15T09:00:00.001Z'), FAR)).toBe(
      at('2026-11-15T10:00:00Z'),
    );
  });

  test('an occurrence is not after the end, which itself is included', () => {
    const after = at('2026-11-15T08:30:00Z');
    expect(nextOccurrence(hourly, 'UTC', after, at('2026-11-15T09:00:00Z'))).toBe(at('2026-11-15T09:00:00Z'));
    expect(nextOccurrence(hourly, 'UTC', after, at('2026-11-15T08:59:59.999Z'))).toBeNull();
    expect(nextOccurrence(hourly, 'UTC', after, after)).toBeNull();
    expect(nextOccurrence(hourly, 'UTC', after, at('2020-01-01T00:00:00Z'))).toBeNull();
  });

  test('occurrences before 1970 are found', () => {
    expect(runs('30 6 1 * *', 'UTC', '1969-11-15T00:00:00Z', 3)).toEqual([
      '1969-12-01 06:30',
      '1970-01-01 06:30',
      '1970-02-01 06:30',
    ]);
  });

  test.each(['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '* * 30-31 FEB *', '0 0 30 2 */2'])(
    '%s never occurs, and the search ends at once',
    (expression) => {
      const started = performance.now();
      for (let round = 0; round < 1_000; round += 1) {
        expect(
          nextOccurrence(cron(expression), 'Europe/Berlin', at('2026-11-15T08:00:00Z'), instant(8.64e15)),
        ).toBeNull();
      }
      expect(performance.now() - started).toBeLessThan(1_000);
    },
  );

  test('the search ends at the end of the time range', () => {
    const [first, last] = [instant(-8.64e15), instant(8.64e15)];
    for (const zone of ['UTC', 'Pacific/Kiritimati', 'Etc/GMT+12']) {
      expect(nextOccurrence(cron('0 0 1 1 *'), zone, instant(last - 1_000_000), last)).toBeNull();
      expect(nextOccurrence(hourly, zone, last, last)).toBeNull();
      expect(nextOccurrence(cron('0 0 1 1 *'), zone, first, instant(first + 1_000_000))).toBeNull();
    }
  });

  test('a date after the end is not found', () => {
    expect(
      nextOccurrence(cron('0 0 29 2 *'), 'UTC', at('2096-03-01T00:00:00Z'), at('2103-12-31T00:00:00Z')),
    ).toBeNull();
    expect(
      nextOccurrence(cron('0 0 29 2 *'), 'UTC', at('2096-03-01T00:00:00Z'), at('2104-12-31T00:00:00Z')),
    ).toBe(at('2104-02-29T00:00:00Z'));
  });
});

describe('when the clock jumps forward, the skipped minutes fire once, at the end of the gap', () => {
  test.each<readonly [string, string, string, readonly string[]]>([
    // Berlin, 2027-03-28: 02:00 becomes 03:00.
    [
      '30 2 * * *',
      'Europe/Berlin',
      '2027-03-27T00:00:00Z',
      ['2027-03-27 02:30', '2027-03-28 03:00', '2027-03-29 02:30'],
    ],
    ['0 2 * * *', 'Europe/Berlin', '2027-03-27T12:00:00Z', ['2027-03-28 03:00', '2027-03-29 02:00']],
    [
      '0 2,3 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00:00Z',
      ['2027-03-28 03:00', '2027-03-29 02:00', '2027-03-29 03:00'],
    ],
    ['10,20,50 2 * * *', 'Europe/Berlin', '2027-03-27T12:00:00Z', ['2027-03-28 03:00', '2027-03-29 02:10']],
    [
      '59 1,2,3 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00:00Z',
      ['2027-03-28 01:59', '2027-03-28 03:00', '2027-03-28 03:59', '2027-03-29 01:59'],
    ],
    [
      '*/30 * * * *',
      'Europe/Berlin',
      '2027-03-28T00:00:00Z',
      ['2027-03-28 01:30', '2027-03-28 03:00', '2027-03-28 03:30'],
    ],
    [
      '15/30 * * * *',
      'Europe/Berlin',
      '2027-03-28T00:00:00Z',
      ['2027-03-28 01:15', '2027-03-28 01:45', '2027-03-28 03:00', '2027-03-28 03:15'],
    ],
    ['*/15 2 * * *', 'Europe/Berlin', '2027-03-27T12:00:00Z', ['2027-03-28 03:00', '2027-03-29 02:00']],
    [
      '30 1-3 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00:00Z',
      ['2027-03-28 01:30', '2027-03-28 03:00', '2027-03-28 03:30', '2027-03-29 01:30'],
    ],
    ['30 2 28 3 *', 'Europe/Berlin', '2027-01-01T00:00:00Z', ['2027-03-28 03:00', '2028-03-28 02:30']],
    ['30 2 * * SUN', 'Europe/Berlin', '2027-03-22T00:00:00Z', ['2027-03-28 03:00', '2027-04-04 02:30']],
    ['30 2 * * MON', 'Europe/Berlin', '2027-03-27T00:00:00Z', ['2027-03-29 02:30', '2027-04-05 02:30']],
    // In Dublin summer time is called the standard time.
    ['30 1 * * *', 'Europe/Dublin', '2027-03-27T12:00:00Z', ['2027-03-28 02:00', '2027-03-29 01:30']],
    // Lord Howe moves by half an hour: 2027-10-03 02:00 becomes 02:30.
    ['15 2 * * *', 'Australia/Lord_Howe', '2027-10-02T00:00:00Z', ['2027-10-03 02:30', '2027-10-04 02:15']],
    [
      '*/10 2 3 10 *',
      'Australia/Lord_Howe',
      '2027-10-01T00:00:00Z',
      ['2027-10-03 02:30', '2027-10-03 02:40', '2027-10-03 02:50', '2028-10-03 02:00'],
    ],
    [
      '15,45 2 * * *',
      'Australia/Lord_Howe',
      '2027-10-02T00:00:00Z',
      ['2027-10-03 02:30', '2027-10-03 02:45', '2027-10-04 02:15'],
    ],
    // Midnight gaps: the day begins at 01:00.
    ['0 0 * * *', 'America/Santiago', '2027-09-04T12:00:00Z', ['2027-09-05 01:00', '2027-09-06 00:00']],
    ['30 0 5 9 *', 'America/Santiago', '2027-09-01T12:00:00Z', ['2027-09-05 01:00', '2028-09-05 00:30']],
    ['0 0,1 * * *', 'America/Santiago', '2027-09-04T12:00:00Z', ['2027-09-05 01:00', '2027-09-06 00:00']],
    ['0 0 * * *', 'Africa/Cairo', '2027-04-29T12:00:00Z', ['2027-04-30 01:00', '2027-05-01 00:00']],
    ['0 0 30 * *', 'Africa/Cairo', '2027-04-29T12:00:00Z', ['2027-04-30 01:00', '2027-05-30 00:00']],
    ['0 0 * * SUN', 'Asia/Beirut', '2027-03-26T12:00:00Z', ['2027-03-28 01:00', '2027-04-04 00:00']],
    // Apia had no 30 December 2011.
    ['0 12 30 12 *', 'Pacific/Apia', '2011-12-01T00:00:00Z', ['2011-12-31 00:00', '2012-12-30 12:00']],
    [
      '0 12 * * *',
      'Pacific/Apia',
      '2011-12-29T00:00:00Z',
      ['2011-12-29 12:00', '2011-12-31 00:00', '2011-12-31 12:00'],
    ],
  ])('%s in %s after %s', (expression, zone, after, expected) => {
    expect(runs(expression, zone, after, expected.length)).toEqual(expected);
  });

  test('the end of the gap is one occurrence, also when asked from just before it', () => {
    const end = at('2027-03-28T01:00:00Z');
    for (const expression of ['30 2 * * *', '0 3 * * *', '*/5 * * * *', '0 2,3 * * *']) {
      expect(nextOccurrence(cron(expression), 'Europe/Berlin', instant(end - 1), FAR)).toBe(end);
      expect(nextOccurrence(cron(expression), 'Europe/Berlin', end, FAR)).toBeGreaterThan(end);
      expect(
        nextOccurrence(cron(expression), 'Europe/Berlin', instant(end - 1), instant(end - 1)),
      ).toBeNull();
    }
  });
});

describe('when the clock is set back, fixed times fire once and intervals continue', () => {
  // New York, 2027-11-07: at 06:00Z 02:00 becomes 01:00 again.
  const DAY: readonly [string, string] = ['2027-11-07T04:59:00Z', '2027-11-07T08:00:00Z'];

  test.each<readonly [string, readonly string[]]>([
    ['30 1 * * *', ['05:30']],
    ['0 1 * * *', ['05:00']],
    ['0 2 * * *', ['07:00']],
    ['0,30 1,2 * * *', ['05:00', '05:30', '07:00', '07:30']],
    ['59 1 7 11 *', ['05:59']],
    ['*/30 1 * * *', ['05:00', '05:30', '06:00', '06:30']],
    ['0/30 1 * * *', ['05:00', '05:30', '06:00', '06:30']],
    ['0-30/30 1 * * *', ['05:00', '05:30', '06:00', '06:30']],
    ['30 * * * *', ['05:30', '06:30', '07:30']],
    ['30 1-2 * * *', ['05:30', '06:30', '07:30']],
    ['30 */1 * * *', ['05:30', '06:30', '07:30']],
    ['30 1 */7 * SUN', []],
    ['30 1 */6 * SUN', ['05:30']],
    ['30 1 * 10-12 0-6', ['05:30']],
  ])('%s in New York', (expression, expected) => {
    expect(utcTimes(expression, 'America/New_York', ...DAY)).toEqual(expected);
  });

  test('a fixed time does not fire again when asked from the second pass, or from between the passes', () => {
    const fixed = cron('30 1 * * *');
    const tomorrow = at('2027-11-08T06:30:00Z');
    for (const after of [
      '2027-11-07T05:30:00Z',
      '2027-11-07T05:59:00Z',
      '2027-11-07T06:00:00Z',
      '2027-11-07T06:10:00Z',
    ]) {
      expect(nextOccurrence(fixed, 'America/New_York', at(after), FAR)).toBe(tomorrow);
    }
  });

  test('an interval on that day continues in the second pass', () => {
    const once = cron('*/30 1 7 11 *');
    expect(nextOccurrence(once, 'America/New_York', at('2027-11-07T05:45:00Z'), FAR)).toBe(
      at('2027-11-07T06:00:00Z'),
    );
  });

  test.each<readonly [string, readonly string[]]>([
    // Lord Howe, 2027-04-04: at 15:00Z 02:00 becomes 01:30 again.
    ['45 1 * * *', ['14:45']],
    ['*/15 1 * * *', ['14:00', '14:15', '14:30', '14:45', '15:00', '15:15']],
    ['15,45 1 * * *', ['14:15', '14:45']],
  ])('%s in Lord Howe, set back by half an hour', (expression, expected) => {
    expect(
      utcTimes(expression, 'Australia/Lord_Howe', '2027-04-03T13:59:00Z', '2027-04-03T17:00:00Z'),
    ).toEqual(expected);
  });

  test('the hour before midnight that Santiago and Cairo repeat follows the same rules', () => {
    expect(runs('30 23 * * *', 'America/Santiago', '2027-04-03T12:00:00Z', 2)).toEqual([
      '2027-04-03 23:30',
      '2027-04-04 23:30',
    ]);
    expect(runs('30 23 * * *', 'Africa/Cairo', '2027-10-28T12:00:00Z', 2)).toEqual([
      '2027-10-28 23:30',
      '2027-10-29 23:30',
    ]);
    expect(runs('0 0 * * *', 'Africa/Cairo', '2027-10-28T12:00:00Z', 2)).toEqual([
      '2027-10-29 00:00',
      '2027-10-30 00:00',
    ]);
  });
});

/**
 * Compares `nextOccurrence` with a walk over every minute, near every clock change of many zones. The walk does not use
 * our own time zone blocks or bit sets. It asks Intl what the wall clock shows, and matches fields that were generated
 * together with their text.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cron, nextOccurrence, parseCron } from './cron.ts';
import { formatInstant, instant } from './instant.ts';

const MINUTE_MS = 60_000;
const HOUR = 60;
const DAY = 24 * HOUR;

/** UTC or wall time in whole minutes since the epoch. A wall time is read as if it were UTC. */
type Minute = number;

interface Field {
  readonly text: string;
  readonly values: ReadonlySet<number>;
  /** True when the text has a wildcard, a range or a step. */
  readonly interval: boolean;
}

interface Expression {
  readonly minute: Field;
  readonly hour: Field;
  readonly dayOfMonth: Field;
  readonly month: Field;
  readonly dayOfWeek: Field;
}

const FIRST_YEAR = 2026;
const LAST_YEAR = 2030;

const ZONES = [
  'Africa/Cairo',
  'Africa/Casablanca',
  'Africa/El_Aaiun',
  'Africa/Johannesburg',
  'Africa/Lagos',
  'America/Anchorage',
  'America/Argentina/Buenos_Aires',
  'America/Asuncion',
  'America/Bogota',
  'America/Chicago',
  'America/Denver',
  'America/Halifax',
  'America/Havana',
  'America/Los_Angeles',
  'America/Mexico_City',
  'America/Miquelon',
  'America/New_York',
  'America/Nuuk',
  'America/Phoenix',
  'America/Port-au-Prince',
  'America/Santiago',
  'America/Sao_Paulo',
  'America/Scoresbysund',
  'America/St_Johns',
  'America/Tijuana',
  'Antarctica/Troll',
  'Asia/Beirut',
  'Asia/Dubai',
  'Asia/Gaza',
  'Asia/Jerusalem',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Shanghai',
  'Asia/Tehran',
  'Asia/Tokyo',
  'Atlantic/Azores',
  'Australia/Adelaide',
  'Australia/Brisbane',
  'Australia/Eucla',
  'Australia/Lord_Howe',
  'Australia/Sydney',
  'EST5EDT',
  'Etc/GMT+12',
  'Europe/Berlin',
  'Europe/Chisinau',
  'Europe/Dublin',
  'Europe/Kyiv',
  'Europe/Lisbon',
  'Europe/London',
  'Europe/Moscow',
  'Pacific/Apia',
  'Pacific/Auckland',
  'Pacific/Chatham',
  'Pacific/Easter',
  'Pacific/Kiritimati',
  'Pacific/Norfolk',
  'US/Pacific',
  'UTC',
] as const;

/** Clock changes of earlier years that differ from the yearly ones. */
const ODD_YEARS: readonly (readonly [string, number, number])[] = [
  ['Africa/Casablanca', 2018, 2025], // summer time all year except in Ramadan
  ['Africa/Cairo', 2010, 2014],
  ['America/Caracas', 2007, 2016], // half an hour
  ['Antarctica/Casey', 2009, 2023], // three hours, and two hours
  ['Asia/Pyongyang', 2015, 2018],
  ['Asia/Gaza', 2010, 2025],
  ['Pacific/Apia', 2010, 2014], // a whole day
];

const formats = new Map<string, Intl.DateTimeFormat>();

/** A format is expensive to make, so each zone has one. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  formats.set(zone, format);
  return format;
}

/** Returns a function from a UTC minute to the wall clock of a zone. */
function wallClock(zone: string): (utc: Minute) => Minute {
  const format = formatOf(zone);
  return (utc) => Date.parse(`${format.format(utc * MINUTE_MS).replace(' ', 'T')}Z`) / MINUTE_MS;
}

/** Returns the wall clock at each of the minutes `from` to `to`. */
function wallMinutes(zone: string, from: Minute, to: Minute): readonly Minute[] {
  const clock = wallClock(zone);
  const walls: Minute[] = [];
  let wall = clock(from);
  while (from + walls.length <= to) {
    const start = from + walls.length;
    // A quarter of an hour that begins and ends with the same offset has no other offset in it.
    const quarterLater = clock(start + 15);
    const steady = quarterLater === wall + 15;
    const count = steady ? Math.min(15, to - start + 1) : 1;
    for (let minute = 0; minute < count; minute += 1) walls.push(wall + minute);
    wall = steady ? quarterLater : clock(start + 1);
  }
  return walls;
}

/** Returns the first minute of each new offset in a range of years. */
function clockChanges(zone: string, firstYear: number, lastYear: number): readonly Minute[] {
  const clock = wallClock(zone);
  const offset = (utc: Minute): number => clock(utc) - utc;
  const changes: Minute[] = [];
  const start = Date.UTC(firstYear, 0, 1) / MINUTE_MS;
  const end = Date.UTC(lastYear + 1, 0, 1) / MINUTE_MS;
  let offsetAfter = offset(start);
  for (let day = start; day < end; day += DAY) {
    let [before, after] = [day, day + DAY];
    const offsetBefore = offsetAfter;
    offsetAfter = offset(after);
    if (offsetBefore === offsetAfter) continue;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (offset(middle) === offsetAfter) after = middle;
      else before = middle;
    }
    changes.push(after);
  }
  return changes;
}

/** The date of the day that was asked for last. A walk asks for the minutes of a day one after another. */
let shown: { readonly day: number; readonly date: Date } = { day: 0, date: new Date(0) };

function dateOf(wall: Minute): Date {
  const day = Math.floor(wall / DAY);
  if (shown.day !== day) shown = { day, date: new Date(day * DAY * MINUTE_MS) };
  return shown.date;
}

/** Returns a function that tells whether the expression matches a wall clock. A walk calls it for every minute. */
function matcher(expression: Expression): (wall: Minute) => boolean {
  const isDueAt = new Uint8Array(DAY);
  for (const hour of expression.hour.values) {
    for (const minute of expression.minute.values) isDueAt[hour * HOUR + minute] = 1;
  }
  return (wall) => isDueAt[((wall % DAY) + DAY) % DAY] === 1 && matchesDay(expression, wall);
}

function matchesDay(expression: Expression, wall: Minute): boolean {
  const date = dateOf(wall);
  if (!expression.month.values.has(date.getUTCMonth() + 1)) return false;
  const dayOfMonth = expression.dayOfMonth.values.has(date.getUTCDate());
  const dayOfWeek = expression.dayOfWeek.values.has(date.getUTCDay());
  const star = expression.dayOfMonth.text.startsWith('*') || expression.dayOfWeek.text.startsWith('*');
  return star ? dayOfMonth && dayOfWeek : dayOfMonth || dayOfWeek;
}

/**
 * Returns the occurrences among the minutes from `from` on, whose wall clocks are `walls`. The first minute is context
 * only.
 */
function walk(expression: Expression, from: Minute, walls: readonly Minute[]): readonly Minute[] {
  const interval = expression.minute.interval || expression.hour.interval;
  const matches = matcher(expression);
  const found: Minute[] = [];
  let latest = walls[0] ?? 0;
  let previous = latest;
  for (let index = 1; index < walls.length; index += 1) {
    const wall = walls[index] ?? 0;
    let due = matches(wall) && (wall > latest || interval);
    for (let skipped = previous + 1; skipped < wall && !due; skipped += 1) due = matches(skipped);
    if (due) found.push(from + index);
    latest = Math.max(latest, wall);
    previous = wall;
  }
  return found;
}

function textOf(expression: Expression): string {
  const { minute, hour, dayOfMonth, month, dayOfWeek } = expression;
  return [minute, hour, dayOfMonth, month, dayOfWeek].map((field) => field.text).join(' ');
}

function parsed(expression: Expression): Cron {
  const cron = parseCron(textOf(expression));
  if (cron === null) throw new Error(`refused: ${textOf(expression)}`);
  return cron;
}

/** Returns all occurrences after `from` up to `to`, by our own code. */
function enumerate(cron: Cron, zone: string, from: Minute, to: Minute): readonly Minute[] {
  const until = instant(to * MINUTE_MS);
  const found: Minute[] = [];
  let next = nextOccurrence(cron, zone, instant(from * MINUTE_MS), until);
  while (next !== null) {
    found.push(next / MINUTE_MS);
    next = nextOccurrence(cron, zone, next, until);
  }
  return found;
}

function range(first: number, last: number, step = 1): readonly number[] {
  const values: number[] = [];
  for (let value = first; value <= last; value += step) values.push(value);
  return values;
}

/** Generates any field over [first, last]. A value may be written as one of `names`. */
function anyField(first: number, last: number, names: readonly string[] = []): fc.Arbitrary<Field> {
  const value = fc.integer({ min: first, max: last });
  const written = fc.tuple(value, fc.boolean()).map(([number, asName]) => ({
    number,
    text: (asName ? names[number - first] : undefined) ?? String(number),
  }));
  const ends = fc
    .tuple(written, written)
    .map(([a, b]) => (a.number <= b.number ? { low: a, high: b } : { low: b, high: a }));
  const step = fc.integer({ min: 1, max: last - first + 2 });
  const fixed = written.map(({ number, text }) => ({ text, values: [number], interval: false }));
  const item = fc.oneof(
    { weight: 3, arbitrary: fixed },
    ends.map(({ low, high }) => ({
      text: `${low.text}-${high.text}`,
      values: range(low.number, high.number),
      interval: true,
    })),
    fc.tuple(ends, step).map(([{ low, high }, n]) => ({
      text: `${low.text}-${high.text}/${n}`,
      values: range(low.number, high.number, n),
      interval: true,
    })),
    fc
      .tuple(written, step)
      .map(([a, n]) => ({ text: `${a.text}/${n}`, values: range(a.number, last, n), interval: true })),
    step.map((n) => ({ text: `*/${n}`, values: range(first, last, n), interval: true })),
  );
  const star = fc.constant<Field>({ text: '*', values: new Set(range(first, last)), interval: true });
  const list = fc.array(item, { minLength: 1, maxLength: 3 }).map(
    (items): Field => ({
      text: items.map(({ text }) => text).join(','),
      values: new Set(items.flatMap(({ values }) => values)),
      interval: items.some(({ interval }) => interval),
    }),
  );
  return fc.oneof(
    star,
    written.map(({ number, text }): Field => ({ text, values: new Set([number]), interval: false })),
    list,
  );
}

const MONTH_NAMES = ['JAN', 'feb', 'Mar', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'oct', 'NOV', 'DEC'];
const DAY_NAMES = ['SUN', 'mon', 'Tue', 'WED', 'THU', 'FRI', 'SAT'];

const anyExpression: fc.Arbitrary<Expression> = fc.record({
  minute: anyField(0, 59),
  hour: anyField(0, 23),
  dayOfMonth: anyField(1, 31),
  month: anyField(1, 12, MONTH_NAMES),
  dayOfWeek: anyField(0, 6, DAY_NAMES),
});

function fixed(...values: readonly number[]): Field {
  return { text: values.join(','), values: new Set(values), interval: false };
}

function stepped(first: number, last: number, step: number, text: string): Field {
  return { text, values: new Set(range(first, last, step)), interval: true };
}

const EVERY_MINUTE = stepped(0, 59, 1, '*');
const EVERY_HOUR = stepped(0, 23, 1, '*');
const EVERY_DAY: Pick<Expression, 'dayOfMonth' | 'month' | 'dayOfWeek'> = {
  dayOfMonth: stepped(1, 31, 1, '*'),
  month: stepped(1, 12, 1, '*'),
  dayOfWeek: stepped(0, 6, 1, '*'),
};

/** Returns expressions of every kind that are due at or near a wall time. */
function expressionsNear(wall: Minute): readonly Expression[] {
  const date = new Date(wall * MINUTE_MS);
  const [minute, hour] = [date.getUTCMinutes(), date.getUTCHours()];
  const today = { ...EVERY_DAY, dayOfMonth: fixed(date.getUTCDate()), month: fixed(date.getUTCMonth() + 1) };
  const weekday = { ...EVERY_DAY, dayOfWeek: fixed(date.getUTCDay()) };
  const hours = [hour, (hour + 1) % 24, (hour + 2) % 24].sort((a, b) => a - b);
  return [
    { ...EVERY_DAY, minute: fixed(minute), hour: fixed(hour) },
    { ...EVERY_DAY, minute: fixed((minute + 20) % 60), hour: fixed(hour) },
    { ...EVERY_DAY, minute: fixed(0), hour: fixed(...hours) },
    { ...EVERY_DAY, minute: fixed(10, 25, 55), hour: fixed(...hours) },
    { ...EVERY_DAY, minute: EVERY_MINUTE, hour: EVERY_HOUR },
    { ...EVERY_DAY, minute: stepped(0, 59, 30, '*/30'), hour: EVERY_HOUR },
    { ...EVERY_DAY, minute: fixed(45), hour: EVERY_HOUR },
    { ...EVERY_DAY, minute: stepped(7, 59, 13, '7/13'), hour: fixed(hour) },
    { ...EVERY_DAY, minute: fixed(15, 40), hour: stepped(0, 4, 1, '0-4') },
    { ...EVERY_DAY, minute: fixed(30), hour: stepped(0, 23, 2, '*/2') },
    { ...today, minute: fixed(0, 30), hour: fixed(...hours) },
    { ...today, minute: stepped(0, 59, 20, '*/20'), hour: fixed(hour) },
    { ...weekday, minute: fixed(5), hour: fixed(hour) },
    { ...weekday, dayOfMonth: fixed(1, 15), minute: stepped(20, 50, 15, '20-50/15'), hour: EVERY_HOUR },
  ];
}

/** The distance of the walk from a clock change, and the part of it that is context before the change. */
const REACH = 30 * HOUR;

function checkChange(zone: string, change: Minute, random: readonly Expression[]): void {
  const [from, to] = [change - REACH, change + REACH];
  const walls = wallMinutes(zone, from, to);
  const [before = 0, after = 0] = [walls[REACH - 1], walls[REACH]];
  expect(after - before, 'a clock change').not.toBe(1);
  const start = Math.min(before + 1, after);
  for (const expression of [...expressionsNear(start), ...random]) {
    const expected = walk(expression, from, walls);
    const actual = enumerate(parsed(expression), zone, from, to);
    if (actual.length === expected.length && actual.every((minute, index) => minute === expected[index]))
      continue;
    const show = (minute: Minute): string => formatInstant(instant(minute * MINUTE_MS));
    expect(actual.map(show), `${textOf(expression)} in ${zone}, change at ${show(change)}`).toEqual(
      expected.map(show),
    );
  }
}

describe('at every clock change the occurrences equal those of a walk over all minutes', () => {
  const random = fc.sample(anyExpression, { numRuns: 400, seed: 20_261_115 });
  let used = 0;
  const someRandom = (): readonly Expression[] => {
    used = (used + 3) % (random.length - 3);
    return random.slice(used, used + 3);
  };

  const seen = new Map<string, number>();

  test.each(ZONES)(`%s, ${FIRST_YEAR} to ${LAST_YEAR}`, (zone) => {
    const changes = clockChanges(zone, FIRST_YEAR, LAST_YEAR);
    seen.set(zone, changes.length);
    for (const change of changes) checkChange(zone, change, someRandom());
  });

  test.each(ODD_YEARS)('%s, %d to %d', (zone, firstYear, lastYear) => {
    const changes = clockChanges(zone, firstYear, lastYear);
    expect(changes.length).toBeGreaterThan(1);
    for (const change of changes) checkChange(zone, change, someRandom());
  });

  test('the clock changes of interest were among them', () => {
    for (const zone of [
      'Europe/Berlin',
      'Australia/Lord_Howe',
      'America/Santiago',
      'Africa/Cairo',
      'Asia/Beirut',
    ] as const) {
      expect(seen.get(zone), zone).toBe(10);
    }
    for (const zone of ['Europe/Dublin', 'America/St_Johns', 'Pacific/Chatham', 'America/Havana'] as const) {
      expect(seen.get(zone), zone).toBe(10);
    }
    expect(seen.get('Africa/Casablanca')).toBeGreaterThan(0);
    expect(seen.get('Asia/Kolkata')).toBe(0);
  });
});

test('for any expression, zone and start, the next occurrence is the earliest matching minute after the start', () => {
  const changes = new Map(ZONES.map((zone) => [zone, clockChanges(zone, 2031, 2032)]));
  const somewhere = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2040, 0, 1) });
  const start = fc.constantFrom(...ZONES).chain((zone) => {
    const near = (changes.get(zone) ?? []).map((change) => {
      const ms = change * MINUTE_MS;
      return fc.integer({ min: ms - 3 * HOUR * MINUTE_MS, max: ms + 3 * HOUR * MINUTE_MS });
    });
    return fc.record({ zone: fc.constant(zone), after: fc.oneof(somewhere, ...near) });
  });
  fc.assert(
    fc.property(start, anyExpression, ({ zone, after }, expression) => {
      const minute = Math.floor(after / MINUTE_MS);
      // A walk must have seen the first pass to recognise the second.
      const from = minute - 4 * HOUR;
      const to = minute + 26 * HOUR;
      const expected = walk(expression, from, wallMinutes(zone, from, to)).find(
        (due) => due * MINUTE_MS > after,
      );
      const actual = nextOccurrence(parsed(expression), zone, instant(after), instant(to * MINUTE_MS));
      expect(actual, `${textOf(expression)} in ${zone} after ${formatInstant(instant(after))}`).toBe(
        expected === undefined ? null : expected * MINUTE_MS,
      );
    }),
    { numRuns: 600 },
  );
});

test('for any rare expression, the next occurrence is the earliest matching minute of ten years', () => {
  const years = 10 * 366 * DAY;
  const rare = fc.record({
    minute: fc.integer({ min: 0, max: 59 }).map((value) => fixed(value)),
    hour: fc.integer({ min: 0, max: 23 }).map((value) => fixed(value)),
    dayOfMonth: fc.oneof(
      anyField(1, 31),
      fc.integer({ min: 28, max: 31 }).map((value) => fixed(value)),
    ),
    month: fc.oneof(anyField(1, 12, MONTH_NAMES), fc.constant(fixed(2))),
    dayOfWeek: fc.oneof(
      { weight: 3, arbitrary: fc.constant(EVERY_DAY.dayOfWeek) },
      anyField(0, 6, DAY_NAMES),
    ),
  });
  const start = fc.integer({ min: Date.UTC(2026, 0, 1) / MINUTE_MS, max: Date.UTC(2110, 0, 1) / MINUTE_MS });
  fc.assert(
    fc.property(rare, start, (expression, from) => {
      const [minute = 0] = expression.minute.values;
      const [hour = 0] = expression.hour.values;
      const matches = matcher(expression);
      let due = Math.floor(from / DAY) * DAY + hour * HOUR + minute;
      while (due <= from || (due <= from + years && !matches(due))) due += DAY;
      const until = instant((from + years) * MINUTE_MS);
      expect(
        nextOccurrence(parsed(expression), 'UTC', instant(from * MINUTE_MS), until),
        textOf(expression),
      ).toBe(due <= from + years ? due * MINUTE_MS : null);
    }),
    { numRuns: 200 },
  );
});

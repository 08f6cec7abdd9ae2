/**
 * Cron expressions have five fields, which are parsed into bit sets for `cron.ts`. Bit n of a set stands for the value
 * n. Minutes are the exception: they have two halves of 30. Days count from the first of the month.
 */
import { LRUCache } from 'lru-cache';

export interface Cron {
  readonly expression: string;
  readonly minutesBelow30: number;
  readonly minutesFrom30: number;
  readonly hours: number;
  /** Bit 0 is January. */
  readonly months: number;
  /** The matching days of a month, by the weekday of its first day (0 is Sunday). Bit 0 is the first day. */
  readonly daysByFirstWeekday: readonly number[];
  /**
   * True when minute or hour is a wildcard, a range or a step. Such an expression fires in both passes of a repeated
   * hour.
   */
  readonly interval: boolean;
  /** False for dates that do not exist in any year, such as 30 February. */
  readonly possible: boolean;
}

export const EXPRESSION_CHARACTERS_MAX = 1_000;
const CACHED_EXPRESSIONS_MAX = 2_000;

export interface Field {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  readonly names: readonly string[];
}

const MINUTE: Field = { name: 'minute', first: 0, last: 59, names: [] };
const HOUR: Field = { name: 'hour', first: 0, last: 23, names: [] };
export const DAY_OF_MONTH: Field = { name: 'day of month', first: 1, last: 31, names: [] };
const MONTH: Field = {
  name: 'month',
  first: 1,
  last: 12,
  names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
};
const DAY_OF_WEEK: Field = {
  name: 'day of week',
  first: 0,
  last: 6,
  names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
};
/** The fields in the order in which they are written. */
export const FIELDS = [MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK] as const;
/** The second number of Sunday. A range that ends on Sunday ends with this number. */
const SUNDAY_AGAIN = 7;

function parseNumber(text: string): number | null {
  return /^[0-9]+$/.test(text) ? Number(text) : null;
}

export function parseValue(text: string, field: Field): number | null {
  const index = field.names.indexOf(text.toUpperCase());
  if (index >= 0) return field.first + index;
  const value = parseNumber(text);
  if (value === null || value < field.first) return null;
  return value <= field.last || (field === DAY_OF_WEEK && value === SUNDAY_AGAIN) ? value : null;
}

/** Parses `*`, `a` or `a-b`. With a step, `a` means from `a` to the end of the field. */
function parseRange(text: string, field: Field, hasStep: boolean): readonly [number, number] | null {
  if (text === '*') return [field.first, field.last];
  const [from = '', to, ...rest] = text.split('-');
  const start = parseValue(from, field);
  if (start === null || rest.length > 0) return null;
  if (to === undefined) return [start, hasStep ? Math.max(start, field.last) : start];
  const end = parseValue(to, field);
  if (end === null) return null;
  // `FRI-SUN` is 5-7; `5-0` stays a reversed range.
  if (field === DAY_OF_WEEK && to.toUpperCase() === 'SUN' && start > end) return [start, SUNDAY_AGAIN];
  return start <= end ? [start, end] : null;
}

export function parseField(text: string, field: Field): ReadonlySet<number> | null {
  const values = new Set<number>();
  for (const item of text.split(',')) {
    const [base = '', stepText, ...rest] = item.split('/');
    const step = stepText === undefined ? 1 : parseNumber(stepText);
    const range = parseRange(base, field, stepText !== undefined);
    if (range === null || step === null || step === 0 || rest.length > 0) return null;
    for (let value = range[0]; value <= range[1]; value += step) values.add(value);
  }
  if (field === DAY_OF_WEEK && values.delete(SUNDAY_AGAIN)) values.add(0);
  return values;
}

/** Returns the values from `from` on as a set of `count` bits. A set has 31 bits at most. */
function bits(values: ReadonlySet<number>, from: number, count: number): number {
  let set = 0;
  for (const value of values) if (value >= from && value < from + count) set |= 1 << (value - from);
  return set;
}

/** Returns the matching days of a month that begins on `firstWeekday`. */
function matchingDays(
  daysOfMonth: ReadonlySet<number>,
  daysOfWeek: ReadonlySet<number>,
  bothMustMatch: boolean,
  firstWeekday: number,
): number {
  let set = 0;
  for (let day = 1; day <= DAY_OF_MONTH.last; day += 1) {
    const inMonth = daysOfMonth.has(day);
    const inWeek = daysOfWeek.has((firstWeekday + day - 1) % 7);
    if (bothMustMatch ? inMonth && inWeek : inMonth || inWeek) set |= 1 << (day - 1);
  }
  return set;
}

/** Returns the set of all days of a month with `length` days. */
export function allDays(length: number): number {
  return 0x7fffffff >>> (31 - length);
}

const LONGEST_MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

function hasSomeDate(months: number, daysByFirstWeekday: readonly number[]): boolean {
  // Each month, also a leap February, begins on every weekday in some year.
  return LONGEST_MONTH_DAYS.some(
    (length, month) =>
      (months & (1 << month)) !== 0 && daysByFirstWeekday.some((days) => (days & allDays(length)) !== 0),
  );
}

export function fieldsOf(expression: string): readonly string[] {
  return expression.split(/[ \t]+/).filter((field) => field !== '');
}

/** Returns null when the text is not a valid expression of five fields. */
export function parseCron(text: string): Cron | null {
  if (text.length > EXPRESSION_CHARACTERS_MAX) return null;
  const fields = fieldsOf(text);
  if (fields.length !== 5) return null;
  const [minuteText = '', hourText = '', dayText = '', monthText = '', weekdayText = ''] = fields;
  const minutes = parseField(minuteText, MINUTE);
  const hours = parseField(hourText, HOUR);
  const daysOfMonth = parseField(dayText, DAY_OF_MONTH);
  const months = parseField(monthText, MONTH);
  const daysOfWeek = parseField(weekdayText, DAY_OF_WEEK);
  if (minutes === null || hours === null || daysOfMonth === null || months === null || daysOfWeek === null) {
    return null;
  }

  // This is the rule of Vixie cron. A field that starts with `*` does not restrict, with or without a step. When both
  // fields restrict, a day that matches one of them matches.
  const bothMustMatch = dayText.startsWith('*') || weekdayText.startsWith('*');
  const daysByFirstWeekday = [0, 1, 2, 3, 4, 5, 6].map((firstWeekday) =>
    matchingDays(daysOfMonth, daysOfWeek, bothMustMatch, firstWeekday),
  );
  const monthBits = bits(months, MONTH.first, 12);
  return {
    expression: text,
    minutesBelow30: bits(minutes, 0, 30),
    minutesFrom30: bits(minutes, 30, 30),
    hours: bits(hours, 0, 24),
    months: monthBits,
    daysByFirstWeekday,
    interval: /[*/-]/.test(minuteText + hourText),
    possible: hasSomeDate(monthBits, daysByFirstWeekday),
  };
}

const cache = new LRUCache<string, Cron>({ max: CACHED_EXPRESSIONS_MAX });

/** Does what `parseCron` does, with a cache, because schedules use the same expressions again and again. */
export function cachedCron(text: string): Cron | null {
  if (text.length > EXPRESSION_CHARACTERS_MAX) return null;
  const known = cache.get(text);
  if (known !== undefined) return known;
  const cron = parseCron(text);
  if (cron !== null) cache.set(text, cron);
  return cron;
}

/** A point in time: integer milliseconds since the epoch. */
export type Instant = number & { readonly __brand: 'Instant' };

/** The range of JavaScript dates on either side of the epoch. */
export const INSTANT_MS_MAX = 8.64e15;

export const MS_PER_MINUTE = 60_000;
export const MS_PER_DAY = 86_400_000;

function isInstant(ms: number): ms is Instant {
  return Number.isInteger(ms) && Math.abs(ms) <= INSTANT_MS_MAX;
}

export function instant(ms: number): Instant {
  if (!isInstant(ms)) throw new RangeError(`not an instant in milliseconds: ${ms}`);
  return ms;
}

/** The end of the year 9999, the last year that RFC 3339 can write. */
const WRITABLE_MS_MAX = 253_402_300_799_999;

/** Rounds up to an instant that RFC 3339 can write. Very small rates would lead to later ones. */
export function instantUpTo(ms: number): Instant {
  return instant(Math.min(Math.ceil(ms), WRITABLE_MS_MAX));
}

const TWO_DIGITS = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'));
/** The minutes of a day, as `HH:MM:`. */
const MINUTES = Array.from(
  { length: 1_440 },
  (_, minute) => `${TWO_DIGITS[quotient(minute, 60)]}:${TWO_DIGITS[minute % 60]}:`,
);
/** The milliseconds of a second, as `.mmmZ`. */
const MILLISECONDS = Array.from({ length: 1_000 }, (_, value) => `.${String(value).padStart(3, '0')}Z`);

/** The years that RFC 3339 can write, from 0000 to 9999, in days since the epoch. */
const FIRST_WRITABLE_DAY = -719_528;
const LAST_WRITABLE_DAY = 2_932_896;

/**
 * Returns UTC with milliseconds: `2026-11-15T08:00:00.000Z`. Not `toISOString`, which takes several times as long. Most
 * of the time is spent on joining strings, so the tables hold parts that are as long as possible.
 */
export function formatInstant(at: Instant): string {
  const day = Math.floor(at / MS_PER_DAY);
  if (day < FIRST_WRITABLE_DAY || day > LAST_WRITABLE_DAY) return new Date(at).toISOString();
  return `${dateText(day)}T${timeText(at - day * MS_PER_DAY)}`;
}

/** The days of 400 years, after which the calendar repeats. */
const DAYS_PER_ERA = 146_097;
/** Days from 0000-03-01 to the epoch. A year that begins in March has its leap day at the end. */
const EPOCH_DAY_OF_ERA = 719_468;

/** The days of a year that begins in March, as `-MM-DD`. */
const DAYS_FROM_MARCH = Array.from({ length: 366 }, (_, dayOfYear) => {
  const monthFromMarch = quotient(5 * dayOfYear + 2, 153);
  const dayOfMonth = dayOfYear - quotient(153 * monthFromMarch + 2, 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return { text: `-${TWO_DIGITS[month]}-${TWO_DIGITS[dayOfMonth]}`, isInNextYear: month <= 2 };
});

/** Returns `YYYY-MM-DD` of a day since the epoch, by the "civil from days" algorithm of Howard Hinnant. */
function dateText(day: number): string {
  const era = Math.floor((day + EPOCH_DAY_OF_ERA) / DAYS_PER_ERA);
  const dayOfEra = day + EPOCH_DAY_OF_ERA - era * DAYS_PER_ERA;
  const leapDays = quotient(dayOfEra, 1_460) - quotient(dayOfEra, 36_524) + quotient(dayOfEra, 146_096);
  const yearOfEra = quotient(dayOfEra - leapDays, 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + quotient(yearOfEra, 4) - quotient(yearOfEra, 100));
  const monthAndDay = DAYS_FROM_MARCH[dayOfYear];
  const year = era * 400 + yearOfEra + (monthAndDay?.isInNextYear === true ? 1 : 0);
  const century = quotient(year, 100);
  return `${TWO_DIGITS[century]}${TWO_DIGITS[year - century * 100]}${monthAndDay?.text}`;
}

/** Returns `HH:MM:SS.mmmZ` of the milliseconds since midnight. */
function timeText(ms: number): string {
  const seconds = quotient(ms, 1_000);
  const minutes = quotient(seconds, 60);
  return `${MINUTES[minutes]}${TWO_DIGITS[seconds - minutes * 60]}${MILLISECONDS[ms - seconds * 1_000]}`;
}

/** Divides integers below 2^31 that are not negative. */
function quotient(dividend: number, divisor: number): number {
  return (dividend / divisor) | 0;
}

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334] as const;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
/** Days from 0000-01-01 to the epoch. */
const EPOCH_DAY_OF_YEAR_ZERO = 719_528;

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** `month` counts from 1. Returns 0 for a number that is not a month. */
export function daysInMonth(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0);
}

/**
 * Returns the days from the epoch to a date. `Date.UTC` is not used, because it reads the years 0 to 99 as 1900 to
 * 1999.
 */
export function epochDay(year: number, month: number, day: number): number {
  const leapDaysBefore =
    Math.floor((year + 3) / 4) - Math.floor((year + 99) / 100) + Math.floor((year + 399) / 400);
  const leapDay = month > 2 && isLeapYear(year) ? 1 : 0;
  const dayOfYear = (DAYS_BEFORE_MONTH[month - 1] ?? 0) + leapDay + day - 1;
  return year * 365 + leapDaysBefore - EPOCH_DAY_OF_YEAR_ZERO + dayOfYear;
}

const HYPHEN = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const ZERO = 0x30;

/** Returns the digit at a position, or NaN. Each comparison with NaN is false. */
function digitAt(text: string, at: number): number {
  const value = text.charCodeAt(at) - ZERO;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

function twoDigitsAt(text: string, at: number): number {
  return digitAt(text, at) * 10 + digitAt(text, at + 1);
}

/** The length of `YYYY-MM-DDTHH:MM:SS`. */
export const WALL_CLOCK_CHARACTERS = 19;

/**
 * Reads `YYYY-MM-DD?HH:MM:SS` at the start of the text as UTC, in milliseconds. Returns null when it is not a real date
 * and time. The caller checks the character between date and time.
 */
export function parseWallClock(text: string): number | null {
  const year = twoDigitsAt(text, 0) * 100 + twoDigitsAt(text, 2);
  const month = twoDigitsAt(text, 5);
  const day = twoDigitsAt(text, 8);
  const hour = twoDigitsAt(text, 11);
  const minute = twoDigitsAt(text, 14);
  const second = twoDigitsAt(text, 17);
  if (text.charCodeAt(4) !== HYPHEN || text.charCodeAt(7) !== HYPHEN) return null;
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return null;
  if (!(year >= 0 && day >= 1 && day <= daysInMonth(year, month))) return null;
  // `:60` is refused. A leap second is announced half a year ahead at most, and none is announced.
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return null;
  return epochDay(year, month, day) * MS_PER_DAY + hour * 3_600_000 + minute * MS_PER_MINUTE + second * 1_000;
}

/** Reads the RFC 3339 offset from `at` to the end of the text, in milliseconds. Returns null when there is none. */
function parseOffset(text: string, at: number): number | null {
  const sign = text[at];
  if (sign === 'Z' || sign === 'z') return text.length === at + 1 ? 0 : null;
  if (sign !== '+' && sign !== '-') return null;
  if (text.length !== at + 6 || text.charCodeAt(at + 3) !== COLON) return null;
  const hours = twoDigitsAt(text, at + 1);
  const minutes = twoDigitsAt(text, at + 4);
  if (!(hours <= 23 && minutes <= 59)) return null;
  const magnitude = (hours * 60 + minutes) * MS_PER_MINUTE;
  return sign === '+' ? magnitude : -magnitude;
}

/** The values of the first three digits of a fraction of a second. */
const FRACTION_DIGIT_MS = [100, 10, 1] as const;
const DIGITS = /\d*/y;

/**
 * Reads strict RFC 3339 with a required offset. Digits beyond the millisecond are cut off, which is always toward the
 * past: the fraction counts forward from its second, also before 1970.
 */
export function parseInstant(text: string): Instant | null {
  const separator = text[10];
  if (separator !== 'T' && separator !== 't') return null;
  const wall = parseWallClock(text);
  if (wall === null) return null;

  let at = WALL_CLOCK_CHARACTERS;
  let fractionMs = 0;
  if (text.charCodeAt(at) === DOT) {
    at += 1;
    const start = at;
    for (const worthMs of FRACTION_DIGIT_MS) {
      const digit = digitAt(text, at);
      if (!(digit >= 0)) break;
      fractionMs += digit * worthMs;
      at += 1;
    }
    // A fraction may be as long as a body, so its other digits are only skipped.
    DIGITS.lastIndex = at;
    DIGITS.test(text);
    at = DIGITS.lastIndex;
    if (at === start) return null;
  }

  const offsetMs = parseOffset(text, at);
  return offsetMs === null ? null : instant(wall + fractionMs - offsetMs);
}

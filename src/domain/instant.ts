/** A point in time: integer milliseconds since the epoch. */
export type Instant = number & { readonly __brand: 'Instant' };

/** The range of JavaScript's own dates, either side of the epoch. */
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

/** The end of the year 9999, the last that RFC 3339 can write. */
const WRITABLE_MS_MAX = 253_402_300_799_999;

/** An instant worked out from rates, which may be as small as they like: never too late to be written. */
export function instantUpTo(ms: number): Instant {
  return instant(Math.min(Math.ceil(ms), WRITABLE_MS_MAX));
}

/** How long `HH:MM:SS.mmmZ` is. */
const TIME_OF_DAY_CHARACTERS = 13;
/** So many days are remembered as text: of what is written at one time most lies on few of them. */
const DAYS_KEPT = 16;
const days: { readonly day: number; readonly text: string }[] = [];
const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));
const THREE_DIGITS = Array.from({ length: 1_000 }, (_, value) => String(value).padStart(3, '0'));

/** What was written last: an object shows the same instant several times over. */
let last: { readonly at: Instant; readonly text: string } | null = null;

/** UTC with milliseconds: `2026-11-15T08:00:00.000Z`. */
export function formatInstant(at: Instant): string {
  if (last?.at !== at) last = { at, text: `${dayText(at)}${timeText(at)}` };
  return last.text;
}

/** `YYYY-MM-DDT` */
function dayText(at: Instant): string {
  const day = Math.floor(at / MS_PER_DAY);
  const place = day & (DAYS_KEPT - 1);
  const kept = days[place];
  if (kept?.day === day) return kept.text;
  const text = new Date(at).toISOString().slice(0, -TIME_OF_DAY_CHARACTERS);
  days[place] = { day, text };
  return text;
}

/** `HH:MM:SS.mmmZ` */
function timeText(at: Instant): string {
  const ms = at - Math.floor(at / MS_PER_DAY) * MS_PER_DAY;
  const seconds = Math.floor(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const clock = `${TWO_DIGITS[hours]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}`;
  return `${clock}.${THREE_DIGITS[ms % 1_000]}Z`;
}

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334] as const;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
/** Days from 0000-01-01 to the epoch. */
const EPOCH_DAY_OF_YEAR_ZERO = 719_528;

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** `month` counts from 1; 0 for a month that is none. */
export function daysInMonth(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0);
}

/** Days from the epoch to a date. Not `Date.UTC`, which reads the years 0 to 99 as 1900 to 1999. */
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

/** The digit at a position; NaN when there is none, and with NaN every comparison is false. */
function digitAt(text: string, at: number): number {
  const value = text.charCodeAt(at) - ZERO;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

function twoDigitsAt(text: string, at: number): number {
  return digitAt(text, at) * 10 + digitAt(text, at + 1);
}

/** How long `YYYY-MM-DDTHH:MM:SS` is. */
export const WALL_CLOCK_CHARACTERS = 19;

/**
 * `YYYY-MM-DD?HH:MM:SS` at the start of the text, as if it were UTC, in milliseconds; null unless it is
 * a real date and time. The character between date and time is the caller's to judge.
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
  // No `:60`: a leap second is announced half a year ahead at most, and none is.
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return null;
  return epochDay(year, month, day) * MS_PER_DAY + hour * 3_600_000 + minute * MS_PER_MINUTE + second * 1_000;
}

/** The milliseconds of an RFC 3339 offset that is the text from `at` to its end; null when it is none. */
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

/** What the first, second and third digit of a fraction of a second are worth. */
const FRACTION_DIGIT_MS = [100, 10, 1] as const;
const DIGITS = /\d*/y;

/**
 * Strict RFC 3339, offset required. Digits beyond the millisecond are cut off, which is always toward
 * the past: the fraction counts forward from its second, also before 1970.
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
    // A fraction may be as long as a body: its other digits are only passed over.
    DIGITS.lastIndex = at;
    DIGITS.test(text);
    at = DIGITS.lastIndex;
    if (at === start) return null;
  }

  const offsetMs = parseOffset(text, at);
  return offsetMs === null ? null : instant(wall + fractionMs - offsetMs);
}

/**
 * A month of a schedule as weeks of days, in the zone of the schedule. The service gives the local time of each run, and
 * the day is the first ten characters of it. Weeks begin on Monday.
 */
import type { Calendar, PreviewRun } from '../../../src/control/http/data-contract.ts';

/** A month such as `2026-11`. */
export type Month = string;

export interface CalendarDay {
  /** A date such as `2026-11-15`. */
  readonly date: string;
  readonly dayOfMonth: number;
  readonly isInMonth: boolean;
  readonly past: Calendar['past'];
  readonly coming: readonly PreviewRun[];
  /** Whether there are more runs than those in `past` and `coming`. */
  readonly hasMore: boolean;
  /** The change of the clock of the zone on this day. It is 0 on most days. */
  readonly clockShiftMs: number;
}

const DAY_MS = 24 * 60 * 60_000;
const DAYS_A_WEEK = 7;
/** No zone is farther from UTC. */
const OFFSET_MAX_MS = 15 * 60 * 60_000;

export function isMonth(text: string | null): text is Month {
  return text !== null && /^[12]\d{3}-(0[1-9]|1[0-2])$/.test(text);
}

export function monthOf(date: string): Month {
  return date.slice(0, 7);
}

export function shiftMonth(month: Month, by: number): Month {
  return new Date(Date.UTC(yearOf(month), monthIndexOf(month) + by, 1)).toISOString().slice(0, 7);
}

export function shiftDay(date: string, by: number): string {
  return new Date(Date.parse(date) + by * DAY_MS).toISOString().slice(0, 10);
}

/** The window to request, so that it contains the month in every zone. */
export function windowOf(month: Month): { readonly from: string; readonly until: string } {
  const from = Date.UTC(yearOf(month), monthIndexOf(month), 1) - OFFSET_MAX_MS;
  const until = Date.UTC(yearOf(month), monthIndexOf(month) + 1, 1) + OFFSET_MAX_MS;
  return { from: new Date(from).toISOString(), until: new Date(until).toISOString() };
}

export function weeksOf(month: Month, calendar: Calendar): readonly (readonly CalendarDay[])[] {
  const first = Date.UTC(yearOf(month), monthIndexOf(month), 1);
  const weekday = (new Date(first).getUTCDay() + DAYS_A_WEEK - 1) % DAYS_A_WEEK;
  const past = byDay(calendar.past);
  const coming = byDay(calendar.coming);
  const weeks: CalendarDay[][] = [];
  for (let at = first - weekday * DAY_MS; weeks.length === 0 || isBefore(at, month); ) {
    const week: CalendarDay[] = [];
    for (let day = 0; day < DAYS_A_WEEK; day += 1, at += DAY_MS) {
      const date = new Date(at).toISOString().slice(0, 10);
      week.push({
        date,
        dayOfMonth: Number(date.slice(8)),
        isInMonth: monthOf(date) === month,
        past: past.get(date) ?? [],
        coming: coming.get(date) ?? [],
        hasMore: calendar.incomplete_days.some(({ from, until }) => from <= date && date <= until),
        clockShiftMs: clockShift(calendar.timezone, at),
      });
    }
    weeks.push(week);
  }
  return weeks;
}

function isBefore(at: number, month: Month): boolean {
  return at < Date.UTC(yearOf(month), monthIndexOf(month) + 1, 1);
}

function byDay<T extends { readonly local: string }>(runs: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const days = new Map<string, T[]>();
  for (const run of runs) {
    const date = run.local.slice(0, 10);
    const day = days.get(date);
    if (day === undefined) days.set(date, [run]);
    else day.push(run);
  }
  return days;
}

function clockShift(timezone: string, utcMidnight: number): number {
  const start = utcMidnight - offsetAt(timezone, utcMidnight);
  return offsetAt(timezone, start + DAY_MS) - offsetAt(timezone, start);
}

const formats = new Map<string, Intl.DateTimeFormat>();
const FORMATS_MAX = 50;

/** The offset of a zone from UTC. */
export function offsetAt(timezone: string, at: number): number {
  let format = formats.get(timezone);
  if (format === undefined) {
    if (formats.size >= FORMATS_MAX) formats.clear();
    format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
    formats.set(timezone, format);
  }
  const name = format.formatToParts(at).find((part) => part.type === 'timeZoneName')?.value ?? '';
  const match = /^GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(name);
  if (match === null) return 0;
  const [, sign, hours, minutes, seconds = '0'] = match;
  const ms = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ms : ms;
}

/** The date in a zone at an instant. */
export function dateIn(timezone: string, at: number): string {
  return new Date(at + offsetAt(timezone, at)).toISOString().slice(0, 10);
}

function yearOf(month: Month): number {
  return Number(month.slice(0, 4));
}

function monthIndexOf(month: Month): number {
  return Number(month.slice(5, 7)) - 1;
}

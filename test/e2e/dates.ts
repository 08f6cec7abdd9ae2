/** Clock changes that are in the future on any day of a test run. */
import { DAY } from './expectations.ts';

/** The `nth` Sunday of a month (1 is January), or the last one, as `YYYY-MM-DD`. */
function sunday(year: number, month: number, nth: number | 'last'): string {
  const first =
    nth === 'last' ? Date.UTC(year, month, 0) - 6 * DAY : Date.UTC(year, month - 1, 1 + 7 * (nth - 1));
  const untilSunday = (7 - new Date(first).getUTCDay()) % 7;
  return new Date(first + untilSunday * DAY).toISOString().slice(0, 10);
}

function upcoming(month: number, nth: number | 'last'): string {
  const year = new Date().getUTCFullYear();
  const thisYear = sunday(year, month, nth);
  // Two days of distance keep tests away from the change itself.
  return Date.parse(thisYear) > Date.now() + 2 * DAY ? thisYear : sunday(year + 1, month, nth);
}

/** Europe/Berlin: at 01:00 UTC the clock goes from 02:00 to 03:00, and from 03:00 back to 02:00. */
export const BERLIN = { gap: upcoming(3, 'last'), fold: upcoming(10, 'last') } as const;
/** America/New_York: from 02:00 to 03:00 at 07:00 UTC, from 02:00 back to 01:00 at 06:00 UTC. */
export const NEW_YORK = { gap: upcoming(3, 2), fold: upcoming(11, 1) } as const;
/** Australia/Lord_Howe shifts by half an hour: 02:00 to 02:30, and 02:00 back to 01:30. */
export const LORD_HOWE = { gap: upcoming(10, 1), fold: upcoming(4, 1) } as const;

export function dayBefore(date: string): string {
  return new Date(Date.parse(date) - DAY).toISOString().slice(0, 10);
}

/** Day and month of a date as cron writes them. */
export function cronDate(date: string): string {
  const at = new Date(date);
  return `${at.getUTCDate()} ${at.getUTCMonth() + 1} *`;
}

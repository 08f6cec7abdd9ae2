/**
 * Finds the occurrences of a cron expression. Each local minute that matches the expression is an occurrence:
 * - Where the clock shows the minute once, it fires at that instant.
 * - Where the clock jumps over it, it fires when the gap ends: once, however many minutes were skipped.
 * - Where the clock shows it twice, it fires in the first pass. An interval (`Cron.interval`) fires in the second pass
 *   too, because the time between two runs is what the customer asked for.
 *
 * The search goes from span to span. A span is a time without a clock change. In each span the search looks for the
 * first matching local minute. The clock change at the start of a span only decides where the search begins: with the
 * skipped minutes, or after the minutes that were shown already.
 */
import { allDays, type Cron } from './cron-expression.ts';
import {
  daysInMonth,
  epochDay,
  INSTANT_MS_MAX,
  type Instant,
  instant,
  MS_PER_DAY,
  MS_PER_MINUTE,
} from './instant.ts';
import { type Span, spanAt } from './zone.ts';

export { type Cron, cachedCron, parseCron } from './cron-expression.ts';

const NONE = -1;
/** The distance of any clock from UTC is smaller than this, also while the clock changes. */
const OFFSET_MS_MAX = 2 * MS_PER_DAY;
const MINUTES_PER_DAY = 1_440;

/** Returns the lowest bit of a set at or above `from`, or NONE. */
function nextBit(set: number, from: number): number {
  const rest = (set >>> from) << from;
  return rest === 0 ? NONE : 31 - Math.clz32(rest & -rest);
}

function nextMinute(cron: Cron, from: number): number {
  const below30 = from < 30 ? nextBit(cron.minutesBelow30, from) : NONE;
  if (below30 !== NONE) return below30;
  const from30 = nextBit(cron.minutesFrom30, Math.max(from - 30, 0));
  return from30 === NONE ? NONE : from30 + 30;
}

/** Returns the first matching minute of a day, at or after its minute `from`. */
function nextMinuteOfDay(cron: Cron, from: number): number {
  const hour = Math.floor(from / 60);
  const matching = nextBit(cron.hours, hour);
  if (matching === hour) {
    const minute = nextMinute(cron, from % 60);
    if (minute !== NONE) return hour * 60 + minute;
  }
  const later = matching === hour ? nextBit(cron.hours, hour + 1) : matching;
  return later === NONE ? NONE : later * 60 + nextMinute(cron, 0);
}

function weekday(day: number): number {
  // 1970-01-01 was a Thursday.
  return (((day + 4) % 7) + 7) % 7;
}

/** Returns the first matching local minute in [from, before), in milliseconds, or null. */
function nextLocalMinute(cron: Cron, from: number, before: number): number | null {
  const date = new Date(from);
  let year = date.getUTCFullYear();
  let month = date.getUTCMonth();
  let day = date.getUTCDate() - 1;
  let minuteOfDay = Math.ceil(from / MS_PER_MINUTE) - Math.floor(from / MS_PER_DAY) * MINUTES_PER_DAY;
  for (;;) {
    const monthStart = epochDay(year, month + 1, 1);
    // The comparison is negated so that it also ends the loop for NaN, which is near the ends of the time range.
    if (!(monthStart * MS_PER_DAY < before)) return null;
    const days = (cron.daysByFirstWeekday[weekday(monthStart)] ?? 0) & allDays(daysInMonth(year, month + 1));
    const inMonth = (cron.months & (1 << month)) !== 0;
    for (let match = inMonth ? nextBit(days, day) : NONE; match !== NONE; match = nextBit(days, match + 1)) {
      const minute = nextMinuteOfDay(cron, match === day ? minuteOfDay : 0);
      if (minute === NONE) continue;
      const found = (monthStart + match) * MS_PER_DAY + minute * MS_PER_MINUTE;
      return found < before ? found : null;
    }
    day = 0;
    minuteOfDay = 0;
    const nextMonth = nextBit(cron.months, month + 1);
    year += nextMonth === NONE ? 1 : 0;
    month = nextMonth === NONE ? nextBit(cron.months, 0) : nextMonth;
  }
}

/** Returns the local time where the search of a span begins. */
function firstLocal(cron: Cron, span: Span, after: Instant): number {
  // In a gap the lower offset is the one before it, so the skipped minutes count. In a fold the lower offset is the one
  // after it, so the repeated minutes count, for intervals only.
  const entryOffsetMs = cron.interval ? Math.min(span.offsetMs, span.offsetBeforeMs) : span.offsetBeforeMs;
  const entry = span.start + entryOffsetMs;
  return after < span.start ? entry : Math.max(entry, after + span.offsetMs + 1);
}

/** Returns the earliest occurrence strictly after `after` and not after `until`. */
export function nextOccurrence(cron: Cron, zone: string, after: Instant, until: Instant): Instant | null {
  if (!cron.possible) return null;
  let at = after + 1;
  while (at <= until && at < INSTANT_MS_MAX) {
    const span = spanAt(zone, instant(at));
    const latest = until + OFFSET_MS_MAX;
    const local = nextLocalMinute(cron, firstLocal(cron, span, after), latest) ?? latest;
    if (local < Math.min(span.end, until + 1) + span.offsetMs) {
      return instant(Math.max(span.start, local - span.offsetMs));
    }
    // Spans that end well before the minute found are skipped. After a span whose start was not searched, minutes may
    // be shown again, so the next span is never skipped.
    at = after < span.start ? Math.max(span.end, local - OFFSET_MS_MAX) : span.end;
  }
  return null;
}

/**
 * Notes about what a wall clock does to the runs of a schedule, as data. There are four kinds: a run that the clock
 * jumps over, a time that the clock shows twice, a change of the offset from UTC between two runs, and a month that is
 * too short for the requested day.
 *
 * The rules are in `cron.ts` and `zone.ts` and are not repeated here. Local minutes are found by evaluating the
 * expression in UTC, where the clock never changes.
 */
import { type Cron, nextOccurrence } from './cron.ts';
import { DAY_OF_MONTH, fieldsOf, parseField } from './cron-expression.ts';
import { daysInMonth, type Instant, instant } from './instant.ts';
import { type LocalTime, localInstant, resolveLocal, type Span, spanAt, toLocal } from './zone.ts';

export type RunNote =
  /** The clock jumps over these minutes of the expression. They all fire together, at `firesAt`. */
  | { readonly kind: 'gap'; readonly from: LocalTime; readonly to: LocalTime; readonly firesAt: LocalTime }
  /** The clock shows this time twice. */
  | { readonly kind: 'fold'; readonly at: LocalTime; readonly pass: 1 | 2; readonly firesInBoth: boolean }
  /** The offset from UTC changed since the run before. */
  | { readonly kind: 'offset'; readonly beforeMs: number; readonly afterMs: number }
  /** Some months since the run before do not have such a day. */
  | { readonly kind: 'short_months'; readonly months: readonly Month[]; readonly days: readonly number[] };

export interface Month {
  readonly year: number;
  /** January is 1. */
  readonly month: number;
}

export interface Run {
  readonly at: Instant;
  readonly local: LocalTime;
  readonly offsetMs: number;
  readonly notes: readonly RunNote[];
}

/** Eight years can lie between one 29 February and the next. */
const MONTHS_SCANNED_MAX = 8 * 12 + 1;

/** Returns the next runs of an expression after an instant: at most `count`, none of them after `until`. */
export function nextRunsOf(
  cron: Cron,
  zone: string,
  after: Instant,
  until: Instant,
  count: number,
): readonly Run[] {
  const instants: Instant[] = [];
  for (let at: Instant | null = after; instants.length < count; ) {
    at = nextOccurrence(cron, zone, at, until);
    if (at === null) break;
    instants.push(at);
  }
  return withNotes(cron, zone, instants);
}

/** Adds notes to known runs. A run that was moved is not an occurrence of the expression, and gets no note about it. */
export function withNotes(cron: Cron | null, zone: string, instants: readonly Instant[]): readonly Run[] {
  let before: Run | null = null;
  return instants.map((at) => {
    const span = spanAt(zone, at);
    const local = toLocal(zone, at);
    const isOccurrence = cron !== null && nextOccurrence(cron, zone, instant(at - 1), at) === at;
    const notes: RunNote[] = isOccurrence ? occurrenceNotes(cron, zone, at, local, span) : [];
    if (before !== null && before.offsetMs !== span.offsetMs)
      notes.push({ kind: 'offset', beforeMs: before.offsetMs, afterMs: span.offsetMs });
    if (before !== null && cron !== null) notes.push(...shortMonths(cron, before.local, local));
    before = { at, local, offsetMs: span.offsetMs, notes };
    return before;
  });
}

/** Returns the run of a wall-clock time. In a gap it moves forward by the gap. In a fold it fires in the first pass. */
export function localRun(zone: string, wanted: LocalTime): Run {
  const at = localInstant(zone, wanted);
  const local = toLocal(zone, at);
  const { kind } = resolveLocal(zone, wanted);
  const notes: RunNote[] = [];
  if (kind === 'gap') notes.push({ kind, from: wanted, to: wanted, firesAt: local });
  if (kind === 'fold') notes.push({ kind, at: wanted, pass: 1, firesInBoth: false });
  return { at, local, offsetMs: spanAt(zone, at).offsetMs, notes };
}

function occurrenceNotes(cron: Cron, zone: string, at: Instant, local: LocalTime, span: Span): RunNote[] {
  if (at === span.start && span.offsetMs > span.offsetBeforeMs) {
    const lost = skippedMinutes(cron, span);
    return lost === null ? [] : [{ kind: 'gap', ...lost, firesAt: local }];
  }
  const resolved = resolveLocal(zone, local);
  if (resolved.kind !== 'fold') return [];
  return [{ kind: 'fold', at: local, pass: at === resolved.first ? 1 : 2, firesInBoth: cron.interval }];
}

/** Returns the first and the last minute of the expression that the clock skips when this span begins. */
function skippedMinutes(cron: Cron, { start, offsetMs, offsetBeforeMs }: Span) {
  const end = instant(start + offsetMs - 1);
  let first: Instant | null = null;
  let last = instant(start + offsetBeforeMs - 1);
  for (;;) {
    const next = nextOccurrence(cron, 'UTC', last, end);
    if (next === null) break;
    first ??= next;
    last = next;
  }
  return first === null ? null : { from: localOf(first), to: localOf(last) };
}

/** Returns the reading of a clock in UTC, which is the instant itself. */
function localOf(at: Instant): LocalTime {
  return toLocal('UTC', at);
}

function shortMonths(cron: Cron, before: LocalTime, after: LocalTime): readonly RunNote[] {
  const [, , dayText = '*', , weekdayText = ''] = fieldsOf(cron.expression);
  // The note applies only where the day of the month alone decides.
  if (dayText.startsWith('*') || !weekdayText.startsWith('*')) return [];
  const wanted = [...(parseField(dayText, DAY_OF_MONTH) ?? [])].sort((a, b) => a - b);
  const missing = new Set<number>();
  const months: Month[] = [];
  for (const { year, month } of monthsFrom(before, after)) {
    if ((cron.months & (1 << (month - 1))) === 0) continue;
    const lost = wanted.filter((day) => day > daysInMonth(year, month));
    for (const day of lost) missing.add(day);
    if (lost.length > 0) months.push({ year, month });
  }
  return months.length === 0 ? [] : [{ kind: 'short_months', months, days: [...missing] }];
}

/** Yields the months that end between two readings of a clock. */
function* monthsFrom(before: LocalTime, after: LocalTime): Generator<Month> {
  const from = new Date(before);
  let year = from.getUTCFullYear();
  let month = from.getUTCMonth() + 1;
  for (let scanned = 0; scanned < MONTHS_SCANNED_MAX; scanned++) {
    if (Date.UTC(year, month, 1) > after) return;
    yield { year, month };
    year += month === 12 ? 1 : 0;
    month = (month % 12) + 1;
  }
}

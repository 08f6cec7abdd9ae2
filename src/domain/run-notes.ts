/**
 * What a wall clock does to the runs of a schedule, as data for whoever shows them: a run that the clock jumped
 * over and where it fires instead, a run whose time the clock shows twice, a change of the distance from UTC
 * between two runs, a month too short for the day that was asked for.
 *
 * The rules are those of `cron.ts` and `zone.ts`, asked and not repeated: local minutes are found by reading the
 * expression in UTC, where a clock never changes.
 */
import { type Cron, nextOccurrence } from './cron.ts';
import { DAY_OF_MONTH, fieldsOf, parseField } from './cron-expression.ts';
import { daysInMonth, type Instant, instant } from './instant.ts';
import { type LocalTime, localInstant, resolveLocal, type Span, spanAt, toLocal } from './zone.ts';

export type RunNote =
  /** The clock jumps over these minutes of the expression; they all fire together, at `firesAt`. */
  | { readonly kind: 'gap'; readonly from: LocalTime; readonly to: LocalTime; readonly firesAt: LocalTime }
  /** The clock shows this time twice. */
  | { readonly kind: 'fold'; readonly at: LocalTime; readonly pass: 1 | 2; readonly firesInBoth: boolean }
  /** Between the run before and this one. */
  | { readonly kind: 'offset'; readonly beforeMs: number; readonly afterMs: number }
  /** Between the run before and this one lie months that have no such day. */
  | { readonly kind: 'short_months'; readonly months: readonly Month[]; readonly days: readonly number[] };

export interface Month {
  readonly year: number;
  /** From 1. */
  readonly month: number;
}

export interface Run {
  readonly at: Instant;
  readonly local: LocalTime;
  readonly offsetMs: number;
  readonly notes: readonly RunNote[];
}

/** From one 29 February to the next it can be eight years. */
const MONTHS_SCANNED_MAX = 8 * 12 + 1;

/** The next runs of an expression after an instant, at most `count`, none after `until`. */
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

/** Runs that are known already. One that is no occurrence of the expression (it was moved) is shown as it is. */
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

/** A wall-clock time, once: in a gap it moves forward by the gap, in a fold the first pass counts. */
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

/** The first and the last minute of the expression that the clock jumps over as this span begins. */
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

/** A reading of the clock in UTC, where it is the instant itself. */
function localOf(at: Instant): LocalTime {
  return toLocal('UTC', at);
}

function shortMonths(cron: Cron, before: LocalTime, after: LocalTime): readonly RunNote[] {
  const [, , dayText = '*', , weekdayText = ''] = fieldsOf(cron.expression);
  // Only where the day of the month decides alone.
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

/** The months that end between two readings of a clock. */
function* monthsFrom(before: LocalTime, after: LocalTime): Generator<Month> {
  const from = new Date(before);
  let year = from.getUTCFullYear();
  let month = from.getUTCMonth() + 1;
  for (let looked = 0; looked < MONTHS_SCANNED_MAX; looked++) {
    if (Date.UTC(year, month, 1) > after) return;
    yield { year, month };
    year += month === 12 ? 1 : 0;
    month = (month % 12) + 1;
  }
}

/**
 * Computes the instants of a recurrence. An occurrence has a nominal instant: the one of the cron expression, or the
 * instant of a one-shot. It fires at the nominal instant moved by its jitter. The jitter is a hash of the schedule's id
 * and the nominal instant, so it is the same wherever it is computed. A preview therefore shows exactly what will fire.
 */
import { createHash } from 'node:crypto';
import { type Cron, cachedCron, nextOccurrence } from './cron.ts';
import { durationMs } from './duration.ts';
import type { ScheduleId } from './id.ts';
import { type Instant, instant } from './instant.ts';
import type { ScheduleView, Timing } from './schedule.ts';

const YEAR_MS = 365.25 * 24 * 3_600_000;

/** The length of the search for the next occurrence. 29 February can be eight years away. */
const SEARCH_MS = 20 * YEAR_MS;

export const NEXT_RUNS = 5;

/** This many past occurrences are checked for a future instant, if the jitter window spans many periods. */
const MISSED_SCANNED_MAX = 64;

export interface Recurrence {
  readonly id: ScheduleId;
  readonly cron: string;
  readonly timezone: string;
  readonly jitter: string | null;
}

export interface Occurrence {
  readonly nominal: Instant;
  readonly firesAt: Instant;
}

/** Returns the jitter of one occurrence, spread evenly over plus or minus the window. */
export function jitterMs(id: ScheduleId, nominal: Instant, jitter: string | null): number {
  const windowMs = jitter === null ? 0 : (durationMs(jitter) ?? 0);
  if (windowMs <= 0) return 0;
  const hash = createHash('sha256').update(`${id}:${nominal}`).digest();
  const fraction = hash.readUIntBE(0, 6) / 2 ** 48;
  return Math.floor(fraction * (2 * windowMs + 1)) - windowMs;
}

/** Returns the occurrence with its jitter. When the jitter leads to an instant before `now`, it fires at once. */
export function withJitter(
  id: ScheduleId,
  nominal: Instant,
  jitter: string | null,
  now: Instant,
): Occurrence {
  return { nominal, firesAt: instant(Math.max(nominal + jitterMs(id, nominal, jitter), now)) };
}

/**
 * Returns the first occurrence after `last` that is not missed. An occurrence is missed when its nominal and its
 * jittered instant are both in the past. Missed occurrences are skipped, so they do not pile up.
 */
export function nextOccurrenceOf(recurrence: Recurrence, last: Instant, now: Instant): Occurrence | null {
  const cron = cachedCron(recurrence.cron);
  if (cron === null) return null;
  const windowMs = recurrence.jitter === null ? 0 : Math.max(durationMs(recurrence.jitter) ?? 0, 0);
  const until = instant(Math.max(now, last) + SEARCH_MS);
  let after = instant(Math.max(last, now - windowMs));
  for (let scanned = 0; ; scanned++) {
    const nominal = nextOccurrence(cron, recurrence.timezone, after, until);
    if (nominal === null) return null;
    const firesAt = nominal + jitterMs(recurrence.id, nominal, recurrence.jitter);
    if (nominal > now || firesAt > now) return { nominal, firesAt: instant(Math.max(firesAt, now)) };
    after = scanned < MISSED_SCANNED_MAX ? nominal : now;
  }
}

/** Returns true when the expression has an occurrence up to `until`. */
export function hasOccurrence(cron: Cron, timezone: string, now: Instant, until: Instant): boolean {
  return nextOccurrence(cron, timezone, now, until) !== null;
}

export function recurrenceOf(
  id: ScheduleId,
  timing: Extract<Timing, { kind: 'recurring' }>,
  jitter: string | null,
): Recurrence {
  return { id, cron: timing.cron, timezone: timing.timezone, jitter };
}

/** Returns the next instants of a schedule, as long as it is not changed. */
export function nextRuns(view: ScheduleView): readonly Instant[] {
  const { schedule, pending } = view;
  const due = pendingFireAt(view);
  if (due === null || pending === null) return [];
  if (schedule.timing.kind === 'one_shot') return [due];

  const recurrence = recurrenceOf(schedule.id, schedule.timing, schedule.jitter);
  const runs = [due];
  let last = schedule.cronAt ?? pending.occurrence ?? due;
  let at = due;
  while (runs.length < NEXT_RUNS) {
    const next = nextOccurrenceOf(recurrence, last, at);
    if (next === null) break;
    runs.push(next.firesAt);
    last = next.nominal;
    at = next.firesAt;
  }
  return runs;
}

/** Returns the instant of the pending delivery, or null when it does not wait. */
export function pendingFireAt({ schedule, pending }: ScheduleView): Instant | null {
  if (schedule.state !== 'active' || pending === null) return null;
  return pending.status === 'scheduled' || pending.status === 'retry_scheduled' ? pending.dueAt : null;
}

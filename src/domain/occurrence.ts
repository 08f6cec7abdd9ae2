/**
 * From a recurrence to instants. An occurrence is a nominal instant: what the cron expression says, or
 * the instant of a one-shot. What fires is the occurrence moved by its jitter, a hash of the schedule's
 * id and the nominal instant: the same wherever and whenever it is computed, so that a preview shows
 * exactly what will fire.
 */
import { createHash } from 'node:crypto';
import { type Cron, cachedCron, nextOccurrence } from './cron.ts';
import { durationMs } from './duration.ts';
import type { ScheduleId } from './id.ts';
import { type Instant, instant } from './instant.ts';
import type { ScheduleView, Timing } from './schedule.ts';

const YEAR_MS = 365.25 * 24 * 3_600_000;

/** How far ahead an accepted expression is searched: 29 February can be eight years away. */
const SEARCH_MS = 20 * YEAR_MS;

export const NEXT_RUNS = 5;

/** With a jitter window of many periods, so many occurrences of the past are asked whether they are still to come. */
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

/** The jitter of one occurrence, spread evenly over plus or minus the window. */
export function jitterMs(id: ScheduleId, nominal: Instant, jitter: string | null): number {
  const windowMs = jitter === null ? 0 : (durationMs(jitter) ?? 0);
  if (windowMs <= 0) return 0;
  const hash = createHash('sha256').update(`${id}:${nominal}`).digest();
  const fraction = hash.readUIntBE(0, 6) / 2 ** 48;
  return Math.floor(fraction * (2 * windowMs + 1)) - windowMs;
}

/** Where a nominal instant fires; one that jitter would put before `now` fires at once. */
export function withJitter(
  id: ScheduleId,
  nominal: Instant,
  jitter: string | null,
  now: Instant,
): Occurrence {
  return { nominal, firesAt: instant(Math.max(nominal + jitterMs(id, nominal, jitter), now)) };
}

/**
 * The next occurrence of a recurrence: the first after `last` that is not missed yet. Missed is one whose
 * nominal instant and whose jittered instant both lie in the past; those are skipped, never piled up.
 */
export function nextOccurrenceOf(recurrence: Recurrence, last: Instant, now: Instant): Occurrence | null {
  const cron = cachedCron(recurrence.cron);
  if (cron === null) return null;
  const windowMs = recurrence.jitter === null ? 0 : Math.max(durationMs(recurrence.jitter) ?? 0, 0);
  const until = instant(Math.max(now, last) + SEARCH_MS);
  let after = instant(Math.max(last, now - windowMs));
  for (let looked = 0; ; looked++) {
    const nominal = nextOccurrence(cron, recurrence.timezone, after, until);
    if (nominal === null) return null;
    const firesAt = nominal + jitterMs(recurrence.id, nominal, recurrence.jitter);
    if (nominal > now || firesAt > now) return { nominal, firesAt: instant(Math.max(firesAt, now)) };
    after = looked < MISSED_SCANNED_MAX ? nominal : now;
  }
}

/** Whether an expression fires at all until then. */
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

/** The instants at which a schedule will fire next, as things stand. */
export function nextRuns(view: ScheduleView): readonly Instant[] {
  const { schedule, pending } = view;
  const due = pendingFireAt(view);
  if (due === null || pending === null) return [];
  if (schedule.timing.kind === 'one_shot') return [due];

  const recurrence = recurrenceOf(schedule.id, schedule.timing, schedule.jitter);
  const runs = [due];
  let last = schedule.cronAt ?? pending.occurrence;
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

/** When the pending delivery fires; null while there is none waiting. */
export function pendingFireAt({ schedule, pending }: ScheduleView): Instant | null {
  if (schedule.state !== 'active' || pending === null) return null;
  return pending.status === 'scheduled' || pending.status === 'retry_scheduled' ? pending.dueAt : null;
}

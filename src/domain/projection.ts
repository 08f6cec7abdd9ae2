/**
 * Projects the runs of a recurring schedule after its pending delivery. These are the instants at which it will fire if
 * nothing changes. Each is found from the one before it, just as the engine will find it (see `occurrence.ts`).
 */
import { durationMs } from './duration.ts';
import { type Instant, instant } from './instant.ts';
import { nextOccurrenceOf, type Occurrence, recurrenceOf } from './occurrence.ts';
import type { Schedule } from './schedule.ts';

/** The pending delivery, from which later runs are counted. */
export interface WaitingRun {
  readonly occurrence: Instant | null;
  readonly dueAt: Instant;
}

/**
 * Returns the run after `last`, or null when there is none, as for a one-shot. `last` is the pending delivery or the
 * run before.
 */
export function nextRun(
  schedule: Pick<Schedule, 'id' | 'timing' | 'jitter'>,
  last: Occurrence,
): Occurrence | null {
  if (schedule.timing.kind !== 'recurring') return null;
  const recurrence = recurrenceOf(schedule.id, schedule.timing, schedule.jitter);
  return nextOccurrenceOf(recurrence, last.nominal, last.firesAt);
}

/** Returns the pending delivery as a run. A moved delivery still stands for its instant of the recurrence. */
export function pendingRun(
  { cronAt }: Pick<Schedule, 'cronAt'>,
  { occurrence, dueAt }: WaitingRun,
): Occurrence {
  return { nominal: cronAt ?? occurrence ?? dueAt, firesAt: dueAt };
}

/**
 * Returns a run shortly before `from` that is followed by the same runs as `run`, so that the runs in between need not
 * be computed. With jitter each run depends on the one before, so `run` itself is returned.
 */
export function fastForward(
  { jitter }: Pick<Schedule, 'jitter'>,
  run: Occurrence,
  from: Instant,
): Occurrence {
  const isJittered = jitter !== null && (durationMs(jitter) ?? 0) > 0;
  const before = instant(from - 1);
  return isJittered || run.firesAt >= before ? run : { nominal: run.nominal, firesAt: before };
}

/**
 * What a recurring schedule will do after the delivery that waits: the same instants as will fire if nothing
 * changes, found the way they will be found then, each from the one before it (see `occurrence.ts`).
 */
import { durationMs } from './duration.ts';
import { type Instant, instant } from './instant.ts';
import { nextOccurrenceOf, type Occurrence, recurrenceOf } from './occurrence.ts';
import type { Schedule } from './schedule.ts';

/** The delivery that waits: where the runs after it are counted from. */
export interface WaitingRun {
  readonly occurrence: Instant;
  readonly dueAt: Instant;
}

/**
 * The run after `last` of a schedule that recurs; null for one that does not, and where there is none.
 * `last` is the delivery that waits, or the run found before.
 */
export function nextRun(
  schedule: Pick<Schedule, 'id' | 'timing' | 'jitter'>,
  last: Occurrence,
): Occurrence | null {
  if (schedule.timing.kind !== 'recurring') return null;
  const recurrence = recurrenceOf(schedule.id, schedule.timing, schedule.jitter);
  return nextOccurrenceOf(recurrence, last.nominal, last.firesAt);
}

/** The waiting delivery as the run it stands for. One that was moved still stands for its instant of the recurrence. */
export function pendingRun(
  { cronAt }: Pick<Schedule, 'cronAt'>,
  { occurrence, dueAt }: WaitingRun,
): Occurrence {
  return { nominal: cronAt ?? occurrence, firesAt: dueAt };
}

/**
 * A run from which going on leads to the same runs from `from` on as going on from `run` would, without all those in
 * between. With jitter each depends on the one before: there it is `run` itself.
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

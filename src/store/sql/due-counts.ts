/** What is due, counted by steps of time, out of rows by step. */
import type { DueCounts } from '#src/ports/insight-store.ts';

export interface DueStepRow {
  readonly step: number;
  readonly due: number;
}

/** As long as a window may be, in steps: a week by the minute. */
const STEPS_MAX = 10_080;

export function countSteps(from: number, until: number, stepMs: number): number {
  const steps = Math.ceil((until - from) / stepMs);
  if (steps > STEPS_MAX) throw new RangeError(`A window has no more than ${STEPS_MAX} steps.`);
  return Math.max(steps, 0);
}

/** One more than `lookAtMax` were asked for: it is counted only if there is more than that. */
export function toDueCounts(rows: readonly DueStepRow[], steps: number, lookAtMax: number): DueCounts {
  const counts = Array.from({ length: steps }, () => 0);
  let all = 0;
  for (const { step, due } of rows) {
    all += due;
    counts[step] = due;
  }
  return { counts, isComplete: all <= lookAtMax };
}

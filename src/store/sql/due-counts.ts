/** What is due, counted by steps of time, out of rows by step. */
import type { DueCounts } from '#src/ports/insight-store.ts';

export interface DueStepRow {
  readonly step: number;
  /** Of the partition and in the window. */
  readonly due: number;
  /** Of all that were looked at. */
  readonly looked: number;
}

/** As long as a window may be, in steps: a week by the minute. */
const STEPS_MAX = 10_080;

export function stepsOf(from: number, until: number, stepMs: number): number {
  const steps = Math.ceil((until - from) / stepMs);
  if (steps > STEPS_MAX) throw new RangeError(`A window has no more than ${STEPS_MAX} steps.`);
  return Math.max(steps, 0);
}

/** One more than `lookAtMax` were asked for: it is looked at only if there is more than that. */
export function dueCounts(rows: readonly DueStepRow[], steps: number, lookAtMax: number): DueCounts {
  const counts = Array.from({ length: steps }, () => 0);
  let looked = 0;
  for (const row of rows) {
    looked += row.looked;
    if (row.due > 0) counts[row.step] = row.due;
  }
  return { counts, isComplete: looked <= lookAtMax };
}

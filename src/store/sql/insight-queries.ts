/** Shared by the dashboard queries of both stores: limits on the rows they read, and the form of their counts. */
import type { DueCounts } from '#src/ports/insight-store.ts';

/** Stats of a week by the minute, from five nodes. */
export const STATS_ROWS_MAX = 50_000;
/** The newest rows of endpoint stats that are read to find active endpoints. There is one per hour and node. */
export const ACTIVE_ROWS_MAX = 20_000;
export const GATE_ROWS_MAX = 10_000;
/** The newest endpoint profiles that a search by destination reads. */
export const PROFILES_SCANNED_MAX = 10_000;
/** Endpoint profiles that may match a search by destination. */
export const PROFILES_MATCHING_MAX = 1_000;

/** A removal of old stats takes this many partitions. */
export const PRUNED_PARTITIONS = 10;
/** A removal takes this many steps of time in each partition. */
export const PRUNED_STEPS = 30;
/** A removal takes this many rows of endpoint stats in each partition. */
export const PRUNED_ROWS = 50;

/** SQL: the breaker of a gate is closed, judged by the text of its stored state. Other gates are listed first. */
export const BREAKER_IS_CLOSED = `state LIKE '%"openUntil":null%'`;

/** The longest window, in steps: a week by the minute. */
const STEPS_MAX = 10_080;

export interface DueStepRow {
  readonly step: number;
  readonly due: number;
}

export function countSteps(from: number, until: number, stepMs: number): number {
  const steps = Math.ceil((until - from) / stepMs);
  if (steps > STEPS_MAX) throw new RangeError(`A window has at most ${STEPS_MAX} steps.`);
  return Math.max(steps, 0);
}

/** The query reads one row more than `scanMax`. The counts are complete if that row does not exist. */
export function toDueCounts(rows: readonly DueStepRow[], steps: number, scanMax: number): DueCounts {
  const counts = Array.from({ length: steps }, () => 0);
  let all = 0;
  for (const { step, due } of rows) {
    all += due;
    counts[step] = due;
  }
  return { counts, isComplete: all <= scanMax };
}

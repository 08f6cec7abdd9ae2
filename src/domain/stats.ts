/**
 * What was fired and what came of it, counted over a span of time. Charts are drawn from these: they are kept by
 * the minute and by the hour, each process its own, so that nothing is ever counted over all deliveries.
 */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const STATS_SPANS_MS = [MINUTE_MS, HOUR_MS] as const;
export type StatsSpanMs = (typeof STATS_SPANS_MS)[number];

/** Upper ends of the classes of lateness, in milliseconds, each inclusive; one more class lies above the last. */
export const LATENESS_BOUNDS_MS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1_000, 2_000, 5_000, 15_000, 60_000,
] as const;

export const LATENESS_CLASSES = LATENESS_BOUNDS_MS.length + 1;

export interface Stats {
  /** AttemptRunner begun. */
  readonly fired: number;
  /** Deliveries that ended so. */
  readonly succeeded: number;
  readonly deadLettered: number;
  readonly expired: number;
  /** AttemptRunner that are to be made again. */
  readonly retried: number;
  /** AttemptRunner by lateness, in the classes of `LATENESS_BOUNDS_MS`. */
  readonly lateness: readonly number[];
}

export const NO_STATS: Stats = {
  fired: 0,
  succeeded: 0,
  deadLettered: 0,
  expired: 0,
  retried: 0,
  lateness: Array.from({ length: LATENESS_CLASSES }, () => 0),
};

export function addStats(a: Stats, b: Stats): Stats {
  return {
    fired: a.fired + b.fired,
    succeeded: a.succeeded + b.succeeded,
    deadLettered: a.deadLettered + b.deadLettered,
    expired: a.expired + b.expired,
    retried: a.retried + b.retried,
    lateness: a.lateness.map((count, index) => count + (b.lateness[index] ?? 0)),
  };
}

/** The class a lateness falls into. What is early by a fraction is in time. */
export function latenessClass(ms: number): number {
  const index = LATENESS_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return index < 0 ? LATENESS_BOUNDS_MS.length : index;
}

/**
 * The lateness that this share of attempts kept, as if those of a class were spread evenly over it; null when there were
 * none. Of the last class nothing is known but where it begins.
 */
export function latenessQuantile({ lateness }: Stats, share: number): number | null {
  const total = lateness.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [index, count] of lateness.entries()) {
    if (count > 0 && left <= count) {
      const low = LATENESS_BOUNDS_MS[index - 1] ?? 0;
      const high = LATENESS_BOUNDS_MS[index] ?? low;
      return low + (high - low) * (left / count);
    }
    left -= count;
  }
  return LATENESS_BOUNDS_MS.at(-1) ?? null;
}

/**
 * Counts of attempts and their results over a span of time, from which charts are drawn. Each process keeps its own by
 * the minute and by the hour, so that no query ever counts all deliveries.
 */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const STATS_SPANS_MS = [MINUTE_MS, HOUR_MS] as const;
export type StatsSpanMs = (typeof STATS_SPANS_MS)[number];

/** The upper bounds of the classes of lateness in milliseconds, inclusive. One more class is above the last bound. */
export const LATENESS_BOUNDS_MS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1_000, 2_000, 5_000, 15_000, 60_000,
] as const;

export const LATENESS_CLASSES = LATENESS_BOUNDS_MS.length + 1;

export interface Stats {
  /** Attempts that were started. */
  readonly fired: number;
  /** Deliveries that ended with this status. */
  readonly succeeded: number;
  readonly deadLettered: number;
  readonly expired: number;
  /** Attempts that will be retried. */
  readonly retried: number;
  /** Attempts by lateness, in the classes of `LATENESS_BOUNDS_MS`. */
  readonly lateness: readonly number[];
  /** How often a recurring schedule went on past missed occurrences, because its delivery was taken up too late. */
  readonly downtimeSkips: number;
}

export const NO_STATS: Stats = {
  fired: 0,
  succeeded: 0,
  deadLettered: 0,
  expired: 0,
  retried: 0,
  lateness: Array.from({ length: LATENESS_CLASSES }, () => 0),
  downtimeSkips: 0,
};

export function addStats(a: Stats, b: Stats): Stats {
  return {
    fired: a.fired + b.fired,
    succeeded: a.succeeded + b.succeeded,
    deadLettered: a.deadLettered + b.deadLettered,
    expired: a.expired + b.expired,
    retried: a.retried + b.retried,
    lateness: a.lateness.map((count, index) => count + (b.lateness[index] ?? 0)),
    downtimeSkips: a.downtimeSkips + b.downtimeSkips,
  };
}

/** Returns the class of a lateness. A negative lateness counts as punctual. */
export function latenessClass(ms: number): number {
  const index = LATENESS_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return index < 0 ? LATENESS_BOUNDS_MS.length : index;
}

/**
 * Returns the lateness that this share of attempts did not exceed, or null when there were none. Attempts are assumed
 * to be spread evenly over their class. The last class has no upper bound, so its lower bound is returned.
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

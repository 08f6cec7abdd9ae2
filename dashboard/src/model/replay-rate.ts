/** The rate of a bulk replay, from samples that the page takes while it is open. */
export interface Sample {
  readonly atMs: number;
  readonly replayed: number;
}

const WINDOW_MS = 10_000;
const SAMPLES_MAX = 100;
/** Two samples must be this far apart to give a rate. */
const SPAN_MIN_MS = 800;

export function addSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last !== undefined && last.replayed === next.replayed && next.atMs - last.atMs < SPAN_MIN_MS)
    return samples;
  return [...samples.filter(({ atMs }) => next.atMs - atMs <= WINDOW_MS), next].slice(-SAMPLES_MAX);
}

/** Null until two samples are far enough apart. */
export function ratePerSecond(samples: readonly Sample[]): number | null {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.atMs - first.atMs < SPAN_MIN_MS) return null;
  return ((last.replayed - first.replayed) * 1_000) / (last.atMs - first.atMs);
}

/** The time until the end. Null: the rate is not known. */
export function remainingMs(rate: number | null, left: number): number | null {
  return rate === null || rate <= 0 ? null : (left / rate) * 1_000;
}

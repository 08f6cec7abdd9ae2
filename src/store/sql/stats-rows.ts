/**
 * How stats are stored: a JSON list of the counts in the order of `COUNTED`, followed by the counts of lateness, and by
 * `downtimeSkips`, which came later. Zeros at the end are left out, because most steps have no late deliveries and
 * endpoint stats have no lateness.
 */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { LATENESS_CLASSES, NO_STATS, type Stats } from '#src/domain/stats.ts';
import type { EndpointActivity, StatsPoint } from '#src/ports/insight-store.ts';
import { endpointDigest } from './digests.ts';

export interface StatsRow {
  readonly at: Instant;
  readonly counts: string;
}

export interface EndpointStatsRow {
  readonly endpoint_digest: string;
  readonly counts: string;
}

const COUNTED = [
  'fired',
  'succeeded',
  'deadLettered',
  'expired',
  'retried',
] as const satisfies readonly (keyof Stats)[];

export function toCounts(stats: Stats): string {
  const { lateness, downtimeSkips } = stats;
  const classes = Array.from({ length: LATENESS_CLASSES }, (_, index) => lateness[index] ?? 0);
  const counts = [...COUNTED.map((name) => stats[name]), ...classes, downtimeSkips];
  return JSON.stringify(counts.slice(0, counts.findLastIndex((count) => count !== 0) + 1));
}

function statsOf(counts: readonly number[]): Stats {
  const [fired = 0, succeeded = 0, deadLettered = 0, expired = 0, retried = 0] = counts;
  const lateness = Array.from(
    { length: LATENESS_CLASSES },
    (_, index) => counts[COUNTED.length + index] ?? 0,
  );
  const downtimeSkips = counts[COUNTED.length + LATENESS_CLASSES] ?? 0;
  return { fired, succeeded, deadLettered, expired, retried, lateness, downtimeSkips };
}

/** Sums of counts. They stay lists until all rows are added. */
class Sums<Key> {
  readonly #lists = new Map<Key, number[]>();

  add(key: Key, counts: readonly number[]): void {
    const sum = this.#lists.get(key);
    if (sum === undefined) this.#lists.set(key, [...counts]);
    else for (const [index, count] of counts.entries()) sum[index] = (sum[index] ?? 0) + count;
  }

  get(key: Key): Stats | undefined {
    const sum = this.#lists.get(key);
    return sum && statsOf(sum);
  }

  keys(): Iterable<Key> {
    return this.#lists.keys();
  }
}

/** Parses the texts of all rows together, which is several times faster than one by one. */
function countsOf(rows: readonly { readonly counts: string }[]): readonly (readonly number[])[] {
  return JSON.parse(`[${rows.map(({ counts }) => counts).join()}]`) as readonly (readonly number[])[];
}

/** Takes rows newest first, and returns points in the order of time. */
export function byInstant(rows: readonly StatsRow[]): readonly StatsPoint[] {
  const sums = new Sums<Instant>();
  for (const [index, counts] of countsOf(rows).entries()) sums.add(rows[index]?.at ?? instant(0), counts);
  return [...sums.keys()].toReversed().map((at) => ({ at, stats: sums.get(at) ?? NO_STATS }));
}

/** Returns endpoints in the given order, without those that have no rows. */
export function byEndpoint(
  endpoints: readonly EndpointKey[],
  rows: readonly EndpointStatsRow[],
): readonly EndpointActivity[] {
  const sums = new Sums<string>();
  for (const [index, counts] of countsOf(rows).entries())
    sums.add(rows[index]?.endpoint_digest ?? '', counts);
  return endpoints.flatMap((endpoint) => {
    const stats = sums.get(endpointDigest(endpoint));
    return stats === undefined ? [] : [{ endpoint, stats }];
  });
}

/**
 * Old stats are removed a few at a time, because the engine waits for the same disk and no transaction may be long.
 * One hour may have the stats of tens of thousands of endpoints. They are removed along their index, a number of
 * rows at a time.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { HOUR_MS, MINUTE_MS, type StatsSpanMs } from '#src/domain/stats.ts';
import { PRUNED_PARTITIONS, PRUNED_ROWS, PRUNED_STEPS } from './insight-queries.ts';
import { insightVerbs } from './insight-verbs.ts';
import type { Step } from './steps.ts';

/** The oldest instant of a partition that has old stats. */
export interface OldestRow {
  readonly partition: Partition;
  readonly at: Instant;
}

export interface OldestEndpointRow extends OldestRow {
  /** The last of the rows to remove at that instant. It sorts after every digest if fewer rows are left. */
  readonly up_to: string;
}

export interface StatsRetentionDependencies {
  /** `limit`: how many partitions. */
  oldestStats(spanMs: StatsSpanMs, before: Instant, limit: number): Promise<readonly OldestRow[]>;
  oldestEndpointStats(before: Instant, rows: number, limit: number): Promise<readonly OldestEndpointRow[]>;
  run(verbs: readonly (readonly Step[])[]): Promise<unknown>;
}

/**
 * Returns whether something was removed. All rows that it finds are old and are gone afterwards, so repeated calls
 * end.
 */
export async function pruneStats(
  dependencies: StatsRetentionDependencies,
  minutesBefore: Instant,
  hoursBefore: Instant,
): Promise<boolean> {
  const spans = [
    [MINUTE_MS, minutesBefore],
    [HOUR_MS, hoursBefore],
  ] as const;
  for (const [spanMs, before] of spans) {
    const rows = await dependencies.oldestStats(spanMs, before, PRUNED_PARTITIONS);
    const until = (at: Instant) => instant(Math.min(before, at + PRUNED_STEPS * spanMs));
    await dependencies.run(
      rows.map(({ partition, at }) => insightVerbs.removeStats(partition, spanMs, until(at))),
    );
    if (rows.length > 0) return true;
  }
  const endpointsBefore = instant(Math.max(minutesBefore, hoursBefore));
  const rows = await dependencies.oldestEndpointStats(endpointsBefore, PRUNED_ROWS, PRUNED_PARTITIONS);
  await dependencies.run(
    rows.map(({ partition, at, up_to }) => insightVerbs.removeEndpointStats(partition, at, up_to)),
  );
  return rows.length > 0;
}

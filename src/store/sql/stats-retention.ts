/**
 * Old stats are removed a few at a time, because the engine waits for the same disk and no transaction may be long.
 * One hour may have the stats of tens of thousands of endpoints. They are removed along their index, a number of
 * rows at a time.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { HOUR_MS, MINUTE_MS } from '#src/domain/stats.ts';
import type { OldestStatsQueries, SqlReader, SqlWriter, Syntax } from './dialect.ts';
import { PAST_EVERY_ENDPOINT_DIGEST } from './digests.ts';

/** A removal of old stats takes this many partitions. */
const PRUNED_PARTITIONS = 10;
/** A removal takes this many steps of time in each partition. */
const PRUNED_STEPS = 30;
/** A removal takes this many rows of endpoint stats in each partition. */
export const PRUNED_ROWS = 50;

/** The oldest instant of a partition that has old stats. */
interface OldestRow {
  readonly partition: Partition;
  readonly at: Instant;
}

interface OldestEndpointRow extends OldestRow {
  /** The last of the rows to remove at that instant. It sorts after every digest if fewer rows are left. */
  readonly up_to: string;
}

/** An index finds the oldest stats of each partition in one step. */
export function oldestStats(indexedBy: Syntax['indexedBy']): OldestStatsQueries {
  const byTime = indexedBy('endpoint_stats_by_time');
  return {
    stats: `SELECT partition, at FROM (
        SELECT p.partition, (SELECT min(t.at) FROM stats t
          WHERE t.partition = p.partition AND t.span_ms = $1) AS at FROM partitions p
      ) o WHERE at < $2 LIMIT $3`,
    endpointStats: `SELECT partition, at, coalesce(
        (SELECT t.endpoint_digest FROM endpoint_stats t ${byTime}
          WHERE t.partition = o.partition AND t.at = o.at ORDER BY t.endpoint_digest LIMIT 1 OFFSET $1),
        '${PAST_EVERY_ENDPOINT_DIGEST}') AS up_to
      FROM (
        SELECT p.partition, (SELECT min(t.at) FROM endpoint_stats t ${byTime}
          WHERE t.partition = p.partition) AS at FROM partitions p
      ) o WHERE at < $2 LIMIT $3`,
  };
}

export interface StatsRetentionDependencies {
  readonly reader: SqlReader;
  readonly writer: SqlWriter;
  readonly oldest: OldestStatsQueries;
}

/**
 * Returns whether something was removed. All rows that it finds are old and are gone afterwards, so repeated calls
 * end.
 */
export async function pruneStats(
  { reader, writer, oldest }: StatsRetentionDependencies,
  minutesBefore: Instant,
  hoursBefore: Instant,
): Promise<boolean> {
  const spans = [
    [MINUTE_MS, minutesBefore],
    [HOUR_MS, hoursBefore],
  ] as const;
  for (const [spanMs, before] of spans) {
    const rows = await reader.query<OldestRow>(oldest.stats, spanMs, before, PRUNED_PARTITIONS);
    const until = (at: Instant) => instant(Math.min(before, at + PRUNED_STEPS * spanMs));
    await writer.runAll(
      rows.map(({ partition, at }) => [['removeStats', null, partition, spanMs, until(at)]]),
    );
    if (rows.length > 0) return true;
  }
  const before = Math.max(minutesBefore, hoursBefore);
  const rows = await reader.query<OldestEndpointRow>(
    oldest.endpointStats,
    PRUNED_ROWS - 1,
    before,
    PRUNED_PARTITIONS,
  );
  await writer.runAll(
    rows.map(({ partition, at, up_to }) => [['removeEndpointStats', null, partition, at, up_to]]),
  );
  return rows.length > 0;
}

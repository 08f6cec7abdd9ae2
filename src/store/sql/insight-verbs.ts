/** The verbs that save and remove stats and breaker resets. */
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { StatsSpanMs } from '#src/domain/stats.ts';
import type { BreakerReset, SavedEndpointStats, SavedStats } from '#src/ports/insight-store.ts';
import { endpointDigest } from './digests.ts';
import { toCounts } from './stats-rows.ts';
import type { Step } from './steps.ts';

export const insightVerbs = {
  saveStatsRow: (node: string, { partition, spanMs, at, stats }: SavedStats): readonly Step[] => [
    ['saveStatsRow', null, partition, spanMs, at, node, toCounts(stats)],
  ],

  saveEndpointStats: (
    node: string,
    { partition, endpoint, at, stats }: SavedEndpointStats,
  ): readonly Step[] => [
    [
      'saveEndpointStats',
      null,
      partition,
      endpointDigest(endpoint),
      at,
      node,
      endpoint,
      toCounts({ ...stats, lateness: [] }),
    ],
  ],

  removeStats: (partition: Partition, spanMs: StatsSpanMs, before: Instant): readonly Step[] => [
    ['removeStats', null, partition, spanMs, before],
  ],

  /** Removes the rows of one instant, up to and including this digest of an endpoint. */
  removeEndpointStats: (partition: Partition, at: Instant, upTo: string): readonly Step[] => [
    ['removeEndpointStats', null, partition, at, upTo],
  ],

  saveBreakerReset: ({ partition, endpoint, at }: BreakerReset): readonly Step[] => [
    ['saveBreakerReset', null, partition, endpointDigest(endpoint), endpoint, at],
  ],

  removeBreakerReset: ({ partition, endpoint, at }: BreakerReset): readonly Step[] => [
    ['removeBreakerReset', null, partition, endpointDigest(endpoint), at],
  ],
};

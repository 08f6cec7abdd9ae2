/** The verbs that change what people look at, and the orders they give. */
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { TallySpanMs } from '#src/domain/tally.ts';
import type { GateOrder, SavedEndpointTally, SavedTally } from '#src/ports/insight-store.ts';
import { endpointDigest } from './endpoint-digest.ts';
import type { Step } from './steps.ts';
import { toCounts } from './tally-rows.ts';

export type InsightStatementName =
  | 'saveTally'
  | 'saveEndpointTally'
  | 'removeTallies'
  | 'removeEndpointTallies'
  | 'saveGateOrder'
  | 'removeGateOrder';

type InsightStep = Step<InsightStatementName>;

export const insightVerbs = {
  saveTally: (node: string, { partition, spanMs, at, tally }: SavedTally): readonly InsightStep[] => [
    ['saveTally', null, partition, spanMs, at, node, toCounts(tally)],
  ],

  saveEndpointTally: (
    node: string,
    { partition, endpoint, at, tally }: SavedEndpointTally,
  ): readonly InsightStep[] => [
    [
      'saveEndpointTally',
      null,
      partition,
      endpointDigest(endpoint),
      at,
      node,
      endpoint,
      toCounts({ ...tally, lateness: [] }),
    ],
  ],

  removeTallies: (partition: Partition, spanMs: TallySpanMs, before: Instant): readonly InsightStep[] => [
    ['removeTallies', null, partition, spanMs, before],
  ],

  /** Of one instant, up to this digest of an endpoint. */
  removeEndpointTallies: (partition: Partition, at: Instant, upTo: string): readonly InsightStep[] => [
    ['removeEndpointTallies', null, partition, at, upTo],
  ],

  saveGateOrder: ({ partition, endpoint, at }: GateOrder): readonly InsightStep[] => [
    ['saveGateOrder', null, partition, endpointDigest(endpoint), endpoint, at],
  ],

  removeGateOrder: ({ partition, endpoint, at }: GateOrder): readonly InsightStep[] => [
    ['removeGateOrder', null, partition, endpointDigest(endpoint), at],
  ],
};

/** The breakers of a partition as they were saved last, by their endpoint. */
import { type BreakerState, stateOf } from '#src/domain/breaker.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';

/** Most endpoints have none: one that is forgotten lets everything through. */
const GATES_MAX = 1_000;

export interface BreakerStatus {
  readonly endpoint: EndpointKey;
  readonly state: BreakerState;
  readonly failures: number;
  readonly openUntil: Instant | null;
  readonly windowMs: number;
}

export async function listBreakers(
  insight: Pick<InsightStore, 'listGates'>,
  partition: Partition,
  now: Instant,
): Promise<ReadonlyMap<EndpointKey, BreakerStatus>> {
  const gates = await insight.listGates(partition, GATES_MAX);
  return new Map(
    gates.map(({ endpoint, gate: { breaker } }) => {
      const { failures, openUntil, windowMs } = breaker;
      return [endpoint, { endpoint, state: stateOf(breaker, now), failures, openUntil, windowMs }];
    }),
  );
}

/** Lists the breakers of a partition by endpoint, in the state that was saved last. */
import { type BreakerState, stateOf } from '#src/domain/breaker.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';

/** Most endpoints have no gate. An endpoint without a gate lets everything through. */
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

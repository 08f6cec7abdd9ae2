/** Lists the breakers of a partition by endpoint, in the state that was saved last. */
import { type Breaker, type BreakerState, stateOf } from '#src/domain/breaker.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';

/** Most endpoints have no gate. An endpoint without a gate lets everything through. */
const GATES_MAX = 1_000;

export interface BreakerStatus extends Breaker {
  readonly endpoint: EndpointKey;
  readonly state: BreakerState;
}

export async function listBreakers(
  insight: Pick<InsightStore, 'listGates'>,
  partition: Partition,
  now: Instant,
): Promise<ReadonlyMap<EndpointKey, BreakerStatus>> {
  const gates = await insight.listGates(partition, GATES_MAX);
  return new Map(
    gates.map(({ endpoint, gate: { breaker } }) => [
      endpoint,
      { ...breaker, endpoint, state: stateOf(breaker, now) },
    ]),
  );
}

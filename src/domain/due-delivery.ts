/** A waiting delivery as the dispatcher knows it: where it is found, when it is due, and whose turn it takes. */
import type { Delivery } from './delivery.ts';
import { isWaiting } from './delivery-lifecycle.ts';
import { type EndpointKey, whereTo } from './endpoint-key.ts';
import type { DeliveryId } from './id.ts';
import type { Instant } from './instant.ts';
import { LatelyKnown } from './lately-known.ts';
import type { Partition } from './project.ts';

export interface DueDelivery {
  readonly partition: Partition;
  readonly id: DeliveryId;
  readonly dueAt: Instant;
  readonly deadline: Instant | null;
  readonly endpoint: EndpointKey;
  /** Whom it is sent to, whatever the path. */
  readonly origin: string;
  /** The size of what it sends. */
  readonly payloadBytes: number;
}

/** Where it goes to, and what its slot is worked out from. */
export type EndpointRef = Pick<DueDelivery, 'partition' | 'endpoint'>;

/** The same text is found in a map sooner than its like, and many deliveries go to few endpoints. */
const places = new LatelyKnown<{ readonly partition: Partition; readonly place: string }>();

/** What the endpoint of a delivery is known by among those of every customer. */
export function endpointRefKey({ partition, endpoint }: EndpointRef): string {
  const known = places.get(endpoint);
  if (known?.partition === partition) return known.place;
  return places.learn(endpoint, (copy) => ({ partition, place: `${partition}/${copy}` })).place;
}

/** Null when it is not waiting to be sent. */
export function dueDeliveryOf(delivery: Delivery): DueDelivery | null {
  const { partition, id, dueAt, deadline, payloadBytes } = delivery;
  if (dueAt === null || !isWaiting(delivery.status)) return null;
  return { partition, id, dueAt, deadline, payloadBytes, ...whereTo(delivery.target) };
}

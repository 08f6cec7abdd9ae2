/** A waiting delivery as the dispatcher knows it: where it is found, when it is due, and whose turn it takes. */
import type { Delivery } from './delivery.ts';
import { isWaiting } from './delivery-life.ts';
import { type EndpointKey, whereTo } from './endpoint-key.ts';
import type { DeliveryId } from './id.ts';
import type { Instant } from './instant.ts';
import type { Partition } from './partition.ts';

export interface Due {
  readonly partition: Partition;
  readonly id: DeliveryId;
  readonly dueAt: Instant;
  readonly deadline: Instant | null;
  readonly endpoint: EndpointKey;
  /** Whom it is sent to, whatever the path. */
  readonly origin: string;
}

/** What the endpoint of a delivery is known by among those of every customer. */
export function placeOf({ partition, endpoint }: Pick<Due, 'partition' | 'endpoint'>): string {
  return `${partition}/${endpoint}`;
}

/** Null when it is not waiting to be sent. */
export function dueOf(delivery: Delivery): Due | null {
  const { partition, id, dueAt, deadline } = delivery;
  if (dueAt === null || !isWaiting(delivery.status)) return null;
  return { partition, id, dueAt, deadline, ...whereTo(delivery.target) };
}

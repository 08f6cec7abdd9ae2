/** A waiting delivery in the form that the dispatcher keeps in memory. */
import type { Delivery } from './delivery.ts';
import { isWaiting } from './delivery-lifecycle.ts';
import type { Endpoint, EndpointKey } from './endpoint-key.ts';
import type { DeliveryId } from './id.ts';
import type { Instant } from './instant.ts';
import type { Partition } from './project.ts';

export interface DueDelivery {
  readonly partition: Partition;
  readonly id: DeliveryId;
  readonly dueAt: Instant;
  readonly deadline: Instant | null;
  readonly endpoint: EndpointKey;
  /** The host that it is sent to, with scheme and port. */
  readonly origin: string;
  readonly payloadBytes: number;
}

/** A delivery that is this late counts as overdue work. */
const OVERDUE_AFTER_MS = 1_000;

export function isOverdue(dueAt: Instant, now: Instant): boolean {
  return now - dueAt > OVERDUE_AFTER_MS;
}

/** Names an endpoint among those of every customer. Its slot is computed from it. */
export type EndpointRef = Pick<DueDelivery, 'partition' | 'endpoint'>;

/** Returns null when the delivery does not wait to be sent. */
export function toDueDelivery(
  delivery: Delivery,
  endpointOf: (target: Delivery['target']) => Endpoint,
): DueDelivery | null {
  const { partition, id, dueAt, deadline, payloadBytes } = delivery;
  if (dueAt === null || !isWaiting(delivery.status)) return null;
  return { partition, id, dueAt, deadline, payloadBytes, ...endpointOf(delivery.target) };
}

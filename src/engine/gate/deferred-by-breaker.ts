/**
 * Deliveries that an open breaker deferred, as many as fit. When the breaker closes early, they need not wait for the
 * end of its window. Customers share the space fairly.
 */
import type { DueDelivery, EndpointRef } from '#src/domain/due-delivery.ts';
import { FairShareLimit } from '#src/domain/fair-share-limit.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { endpointRefKey } from '#src/ports/endpoint-cache.ts';
import type { GateCache } from './gate-cache.ts';

const PER_ENDPOINT_MAX = 1_000;
const DELIVERIES_MAX = 20_000;
/** A customer may take as many times the space that is free. */
const CUSTOMER_SHARE = 4;

/** The gate of an endpoint is pinned as long as a delivery of it is remembered. */
export class DeferredByBreaker {
  readonly #gates: Pick<GateCache, 'pin' | 'unpin'>;
  readonly #byEndpoint = new Map<string, Map<DeliveryId, DueDelivery>>();
  readonly #limit = new FairShareLimit(DELIVERIES_MAX, CUSTOMER_SHARE);

  constructor(gates: Pick<GateCache, 'pin' | 'unpin'>) {
    this.#gates = gates;
  }

  /** Remembers a delivery, with the instant to which it was deferred. Without space it is not remembered. */
  add(due: DueDelivery): void {
    const key = endpointRefKey(due);
    const deferred = this.#byEndpoint.get(key) ?? new Map<DeliveryId, DueDelivery>();
    if (!deferred.has(due.id)) {
      if (deferred.size >= PER_ENDPOINT_MAX || !this.#limit.canAcquire(due.partition)) return;
      this.#limit.acquire(due.partition, 1);
    }
    if (deferred.size === 0) this.#gates.pin(due);
    deferred.set(due.id, due);
    this.#byEndpoint.set(key, deferred);
  }

  remove(due: DueDelivery): void {
    const key = endpointRefKey(due);
    const deferred = this.#byEndpoint.get(key);
    if (deferred?.delete(due.id) !== true) return;
    this.#limit.release(due.partition, 1);
    if (deferred.size > 0) return;
    this.#byEndpoint.delete(key);
    this.#gates.unpin(due);
  }

  /** Removes all deliveries of an endpoint and returns them. */
  takeAll(ref: EndpointRef): readonly DueDelivery[] {
    const key = endpointRefKey(ref);
    const deferred = this.#byEndpoint.get(key);
    if (deferred === undefined) return [];
    this.#byEndpoint.delete(key);
    this.#limit.release(ref.partition, deferred.size);
    this.#gates.unpin(ref);
    return [...deferred.values()];
  }
}

/**
 * The deliveries that were due when the faults stopped. Each of them must reach its end. Customers go on
 * meanwhile: a delivery that they pause or move to a later instant leaves the backlog. Only customers may
 * change that instant, which the lifecycle checker verifies. What tells of the end of one of them belongs to it.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';

interface DurableDeliveries {
  readonly open: ReadonlySet<DeliveryId>;
  readonly deliveries: ReadonlyMap<DeliveryId, Pick<Delivery, 'scheduledFor' | 'status' | 'notificationOf'>>;
}

export class Backlog {
  readonly #observer: DurableDeliveries;
  readonly #at: Instant;
  readonly #ids: ReadonlySet<DeliveryId>;

  constructor(observer: DurableDeliveries, at: Instant) {
    this.#observer = observer;
    this.#at = at;
    this.#ids = new Set([...observer.open].filter((id) => this.#isIncluded(id)));
  }

  /** A delivery that has not ended yet, or null when all have. */
  remaining(): DeliveryId | null {
    for (const id of this.#ids) {
      if (this.#isIncluded(id) && this.#observer.deliveries.get(id)?.status !== 'paused') return id;
    }
    for (const id of this.#observer.open) {
      const { notificationOf = null } = this.#observer.deliveries.get(id) ?? {};
      if (notificationOf !== null && this.#ids.has(notificationOf)) return id;
    }
    return null;
  }

  #isIncluded(id: DeliveryId): boolean {
    const delivery = this.#observer.deliveries.get(id);
    return delivery !== undefined && this.#observer.open.has(id) && delivery.scheduledFor <= this.#at;
  }
}

/**
 * What the service owes when it is well again: every delivery whose instant had come by then has to come to its
 * end. Customers go on meanwhile. A delivery that they pause, or move to a later instant, is not owed any more;
 * nobody but they may change that instant, which is held by the checker of the life of a delivery.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';

interface Durable {
  readonly open: ReadonlySet<DeliveryId>;
  readonly deliveries: ReadonlyMap<DeliveryId, Pick<Delivery, 'scheduledFor' | 'status'>>;
}

export class Owed {
  readonly #witness: Durable;
  readonly #at: Instant;
  readonly #ids: readonly DeliveryId[];

  constructor(witness: Durable, at: Instant) {
    this.#witness = witness;
    this.#at = at;
    this.#ids = [...witness.open].filter((id) => this.#isOwed(id));
  }

  /** One that has not come to its end; null when all have. */
  left(): DeliveryId | null {
    const left = this.#ids.find(
      (id) => this.#isOwed(id) && this.#witness.deliveries.get(id)?.status !== 'paused',
    );
    return left ?? null;
  }

  #isOwed(id: DeliveryId): boolean {
    const delivery = this.#witness.deliveries.get(id);
    return delivery !== undefined && this.#witness.open.has(id) && delivery.scheduledFor <= this.#at;
  }
}

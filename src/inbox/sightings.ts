/** What is known of the deliveries that were sent lately: when their attempt was due, and how they stand. */
import { LRUCache } from 'lru-cache';
import type { Delivery } from '#src/domain/delivery.ts';
import { isTerminal } from '#src/domain/delivery-life.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Store } from '#src/ports/store.ts';
import type { Happening } from './happening.ts';

const DELIVERIES_MAX = 2_000;

export interface Sighting {
  readonly delivery: Delivery;
  /** Its newest attempt. */
  readonly attemptNo: number;
  readonly dueAt: Instant;
}

export class Sightings {
  readonly #store: Pick<Store, 'findDelivery'>;
  readonly #moved: (delivery: Delivery) => void;
  readonly #seen = new LRUCache<string, Sighting>({ max: DELIVERIES_MAX });

  /** `moved`: a delivery that was sent stands otherwise than before. */
  constructor(store: Pick<Store, 'findDelivery'>, moved: (delivery: Delivery) => void) {
    this.#store = store;
    this.#moved = moved;
  }

  find(deliveryId: string): Sighting | null {
    return this.#seen.get(deliveryId) ?? null;
  }

  async hear(happening: Happening): Promise<void> {
    if (happening.kind === 'edited') return this.#rescan(happening);
    if (happening.kind === 'claimed') {
      const { delivery, attempt } = happening;
      this.#seen.set(delivery.id, { delivery, attemptNo: attempt.attemptNo, dueAt: attempt.dueAt });
    }
    this.#see(happening.delivery);
  }

  /** Only deliveries that were sent are of interest, and only news of them. */
  #see(delivery: Delivery): void {
    const sighting = this.#seen.get(delivery.id);
    if (sighting === undefined || sighting.delivery.revision > delivery.revision) return;
    this.#seen.set(delivery.id, { ...sighting, delivery });
    this.#moved(delivery);
  }

  async #rescan({ partition, scheduleId }: Happening & { readonly kind: 'edited' }): Promise<void> {
    const waiting = [...this.#seen.values()]
      .map(({ delivery }) => delivery)
      .filter((delivery) => delivery.partition === partition && delivery.scheduleId === scheduleId)
      .filter(({ status }) => !isTerminal(status));
    for (const { id } of waiting) {
      // A store that does not answer now is asked again with the next news.
      const delivery = await this.#store.findDelivery(partition, id).catch(() => null);
      if (delivery !== null) this.#see(delivery);
    }
  }
}

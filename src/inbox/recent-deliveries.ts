/** Remembers the deliveries that were sent recently: when their last attempt was due, and their state. */
import { LRUCache } from 'lru-cache';
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import { isTerminal } from '#src/domain/delivery-lifecycle.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Store } from '#src/ports/store.ts';

const DELIVERIES_MAX = 2_000;

/** A change of a delivery or a schedule, reported as soon as it is stored. */
export type DeliveryEvent =
  /** An attempt started, or ended. */
  | { readonly kind: 'claimed' | 'settled'; readonly delivery: Delivery; readonly attempt: Attempt }
  /** The gate of its endpoint deferred the delivery, or the delivery ended without an attempt. */
  | { readonly kind: 'deferred' | 'ended'; readonly delivery: Delivery }
  /** The schedule was paused, resumed, moved, changed or canceled, together with its waiting deliveries. */
  | { readonly kind: 'edited'; readonly partition: Partition; readonly scheduleId: ScheduleId };

export interface RecentDelivery {
  readonly delivery: Delivery;
  /** The number of its newest attempt. */
  readonly attemptNo: number;
  /** When that attempt was due. */
  readonly dueAt: Instant;
}

export class RecentDeliveries {
  readonly #store: Pick<Store, 'findDelivery'>;
  readonly #onChanged: (delivery: Delivery) => void;
  readonly #recent = new LRUCache<string, RecentDelivery>({ max: DELIVERIES_MAX });

  /** `onChanged` is called when a delivery that was sent has a new state. */
  constructor(store: Pick<Store, 'findDelivery'>, onChanged: (delivery: Delivery) => void) {
    this.#store = store;
    this.#onChanged = onChanged;
  }

  find(deliveryId: string): RecentDelivery | null {
    return this.#recent.get(deliveryId) ?? null;
  }

  async handle(event: DeliveryEvent): Promise<void> {
    if (event.kind === 'edited') return this.#reload(event);
    if (event.kind === 'claimed') {
      const { delivery, attempt } = event;
      this.#recent.set(delivery.id, { delivery, attemptNo: attempt.attemptNo, dueAt: attempt.dueAt });
    }
    this.#update(event.delivery);
  }

  /** Ignores deliveries that were not sent, and states that are older than the known one. */
  #update(delivery: Delivery): void {
    const known = this.#recent.get(delivery.id);
    if (known === undefined || known.delivery.revision > delivery.revision) return;
    this.#recent.set(delivery.id, { ...known, delivery });
    this.#onChanged(delivery);
  }

  async #reload({ partition, scheduleId }: DeliveryEvent & { readonly kind: 'edited' }): Promise<void> {
    const waiting = [...this.#recent.values()]
      .map(({ delivery }) => delivery)
      .filter((delivery) => delivery.partition === partition && delivery.scheduleId === scheduleId)
      .filter(({ status }) => !isTerminal(status));
    for (const { id } of waiting) {
      // If the store fails now, the next event of the delivery brings its state.
      const delivery = await this.#store.findDelivery(partition, id).catch(() => null);
      if (delivery !== null) this.#update(delivery);
    }
  }
}

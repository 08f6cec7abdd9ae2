/** The batches that are being claimed, and the large payloads that are being read for them. */
import type { Punctuality } from './fair-queue.ts';

/** Overdue work has waited already, so it gets fewer batches at a time. */
const BATCHES_MAX: Readonly<Record<Punctuality, number>> = { in_time: 4, overdue: 2 };

export class BatchesInFlight {
  readonly #batches: Readonly<Record<Punctuality, Set<Promise<void>>>> = {
    in_time: new Set(),
    overdue: new Set(),
  };
  readonly #largeDeliveries = new Set<Promise<void>>();

  get size(): number {
    return this.#batches.in_time.size + this.#batches.overdue.size;
  }

  isFull(punctuality: Punctuality): boolean {
    return this.#batches[punctuality].size >= BATCHES_MAX[punctuality];
  }

  /** The answer resolves when the batch has ended and is not counted any more. */
  add(punctuality: Punctuality, batch: Promise<void>): Promise<void> {
    return track(this.#batches[punctuality], batch);
  }

  addLargeDelivery(delivery: Promise<void>): void {
    void track(this.#largeDeliveries, delivery);
  }

  /** Resolves when everything that is in flight now has ended. A batch may add large deliveries until its end. */
  async ended(): Promise<void> {
    await Promise.all([...this.#batches.in_time, ...this.#batches.overdue]);
    await Promise.all(this.#largeDeliveries);
  }
}

function track(tracked: Set<Promise<void>>, work: Promise<void>): Promise<void> {
  const ended = work.finally(() => tracked.delete(ended));
  tracked.add(ended);
  return ended;
}

/**
 * Who may walk. A walk looks at many rows, so there are only a few at a time: in all, and of each customer. The others
 * wait, and customers take turns: one who asks for a hundred walks holds up no other one's first.
 */
import type { Partition } from '#src/domain/partition.ts';
import { StoreUnavailable } from '#src/ports/store.ts';

export const WALKS_MAX = 6;
export const WALKS_OF_CUSTOMER_MAX = 1;
/** With more than this waiting, nobody is waiting for the answers any more. */
export const WAITING_OF_CUSTOMER_MAX = 64;
const WAITING_MAX = 1_024;

interface Customer {
  walking: number;
  readonly waiting: (() => void)[];
}

export class WalkTurns {
  /** Those who walk or wait; whoever has ended a walk goes to the end. */
  readonly #customers = new Map<Partition, Customer>();
  #walking = 0;
  #waiting = 0;

  async run<T>(partition: Partition, walk: () => Promise<T>): Promise<T> {
    await this.#begin(partition);
    try {
      return await walk();
    } finally {
      this.#end(partition);
    }
  }

  #begin(partition: Partition): Promise<void> {
    const customer = this.#customers.get(partition) ?? { walking: 0, waiting: [] };
    if (customer.waiting.length >= WAITING_OF_CUSTOMER_MAX || this.#waiting >= WAITING_MAX) {
      return Promise.reject(new StoreUnavailable('Too many searches by several labels are waiting.'));
    }
    this.#customers.set(partition, customer);
    return new Promise((resolve) => {
      customer.waiting.push(resolve);
      this.#waiting++;
      this.#startNext();
    });
  }

  #end(partition: Partition): void {
    this.#walking--;
    const customer = this.#customers.get(partition);
    if (customer === undefined) return;
    customer.walking--;
    this.#customers.delete(partition);
    if (customer.walking > 0 || customer.waiting.length > 0) this.#customers.set(partition, customer);
    this.#startNext();
  }

  #startNext(): void {
    if (this.#walking >= WALKS_MAX) return;
    const next = this.#nextCustomer();
    if (next === null) return;
    const [, customer] = next;
    const start = customer.waiting.shift();
    this.#waiting--;
    this.#walking++;
    customer.walking++;
    start?.();
  }

  /** The one with the fewest walks under way; of several, the one whose last walk ended first. */
  #nextCustomer(): readonly [Partition, Customer] | null {
    let next: readonly [Partition, Customer] | null = null;
    for (const entry of this.#customers) {
      const [, { walking, waiting }] = entry;
      if (waiting.length === 0 || walking >= WALKS_OF_CUSTOMER_MAX) continue;
      if (next === null || walking < next[1].walking) next = entry;
    }
    return next;
  }
}

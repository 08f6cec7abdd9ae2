/**
 * Turns to walk. A walk looks at many rows, so there are few at a time: some in all, one of each customer. The others
 * wait, and customers take turns: one who asks for a hundred walks holds up no other one's first.
 */
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';

export const SCANS_MAX = 6;
/** With more than this waiting, nobody is waiting for the answers any more. */
export const WAITING_PER_CUSTOMER_MAX = 64;
const WAITING_MAX = 1_024;

interface Customer {
  isWalking: boolean;
  readonly waiting: (() => void)[];
}

export class ScanLimiter {
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
    const customer = this.#customers.get(partition) ?? { isWalking: false, waiting: [] };
    if (customer.waiting.length >= WAITING_PER_CUSTOMER_MAX || this.#waiting >= WAITING_MAX) {
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
    customer.isWalking = false;
    this.#customers.delete(partition);
    if (customer.waiting.length > 0) this.#customers.set(partition, customer);
    this.#startNext();
  }

  #startNext(): void {
    if (this.#walking >= SCANS_MAX) return;
    const customer = this.#nextCustomer();
    const start = customer?.waiting.shift();
    if (customer === undefined || start === undefined) return;
    customer.isWalking = true;
    this.#waiting--;
    this.#walking++;
    start();
  }

  /** The first customer that waits and does not walk: the one whose last walk ended first. */
  #nextCustomer(): Customer | undefined {
    for (const customer of this.#customers.values()) {
      if (customer.waiting.length > 0 && !customer.isWalking) return customer;
    }
    return undefined;
  }
}

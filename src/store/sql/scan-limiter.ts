/**
 * Limits how many scans run at a time. A scan reads many rows, so there are at most a few in total and one for each
 * customer. The others wait, and customers are served round robin: a customer who asks for a hundred scans does not
 * delay the first scan of another.
 */
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';

export const SCANS_MAX = 6;
/** When more than this are waiting, their callers no longer wait. */
export const WAITING_PER_CUSTOMER_MAX = 64;
const WAITING_MAX = 1_024;

interface Customer {
  isScanning: boolean;
  readonly waiting: (() => void)[];
}

export class ScanLimiter {
  /** Customers with a scan that runs or waits. A customer whose scan has ended moves to the end. */
  readonly #customers = new Map<Partition, Customer>();
  #running = 0;
  #waiting = 0;

  async run<T>(partition: Partition, scan: () => Promise<T>): Promise<T> {
    await this.#begin(partition);
    try {
      return await scan();
    } finally {
      this.#end(partition);
    }
  }

  #begin(partition: Partition): Promise<void> {
    const customer = this.#customers.get(partition) ?? { isScanning: false, waiting: [] };
    if (customer.waiting.length >= WAITING_PER_CUSTOMER_MAX || this.#waiting >= WAITING_MAX) {
      return Promise.reject(new StoreUnavailable('Too many searches are waiting.'));
    }
    this.#customers.set(partition, customer);
    return new Promise((resolve) => {
      customer.waiting.push(resolve);
      this.#waiting++;
      this.#startNext();
    });
  }

  #end(partition: Partition): void {
    this.#running--;
    const customer = this.#customers.get(partition);
    if (customer === undefined) return;
    customer.isScanning = false;
    this.#customers.delete(partition);
    if (customer.waiting.length > 0) this.#customers.set(partition, customer);
    this.#startNext();
  }

  #startNext(): void {
    if (this.#running >= SCANS_MAX) return;
    const customer = this.#nextCustomer();
    const start = customer?.waiting.shift();
    if (customer === undefined || start === undefined) return;
    customer.isScanning = true;
    this.#waiting--;
    this.#running++;
    start();
  }

  /** The first customer that waits and has no scan running. Its last scan ended before those of the others. */
  #nextCustomer(): Customer | undefined {
    for (const customer of this.#customers.values()) {
      if (customer.waiting.length > 0 && !customer.isScanning) return customer;
    }
    return undefined;
  }
}

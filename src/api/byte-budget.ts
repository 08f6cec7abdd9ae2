/**
 * A semaphore of bytes that customers share. A customer may hold twice what is free, so something is always
 * left for the others. Requests beyond that wait. Each customer has its own queue, and the queues are served
 * round robin. The request at the front waits until it fits, and no other request overtakes it.
 */
import { Refusal } from '#src/domain/errors.ts';
import type { Timers } from '#src/ports/system.ts';

/** A customer may hold this many times what is free, of the bytes and of the queue. */
const CUSTOMER_SHARE = 2;
/** Further requests are refused at once. */
export const WAITING_MAX = 10_000;
/** The longest wait of a request. It is half of the time in which a request must arrive. */
export const WAIT_MS_MAX = 30_000;

export interface BytePermit {
  /** Resolves when the bytes may be used. Rejects with a Refusal if the queue is full or the wait too long. */
  readonly granted: Promise<void>;
  /** Changes the size of a granted permit. It may then hold more than is free. */
  resize(bytes: number): void;
  /** Gives the bytes back, or leaves the queue. */
  release(): void;
}

interface Waiter {
  bytes: number;
  readonly grant: () => void;
  readonly refuse: () => void;
}

interface Customer {
  readonly key: string;
  readonly waiting: Set<Waiter>;
  heldBytes: number;
}

export class ByteBudget {
  readonly #timers: Timers;
  readonly #customers = new Map<string, Customer>();
  /** Customers with a waiting request, in round-robin order. */
  readonly #queue = new Set<Customer>();
  #freeBytes: number;
  #waiting = 0;

  constructor(bytesMax: number, timers: Timers) {
    this.#freeBytes = bytesMax;
    this.#timers = timers;
  }

  /** The number of requests that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** `bytes` must not exceed the whole budget. */
  acquire(key: string, bytes: number): BytePermit {
    const customer = this.#customers.get(key) ?? { key, waiting: new Set(), heldBytes: 0 };
    const { promise: granted, resolve, reject } = Promise.withResolvers<void>();
    const refuse = () => reject(new Refusal('unavailable'));
    if (customer.waiting.size >= CUSTOMER_SHARE * (WAITING_MAX - this.#waiting)) {
      refuse();
      return { granted, resize: () => {}, release: () => {} };
    }
    const waiter: Waiter = { bytes, grant: resolve, refuse };
    this.#customers.set(key, customer);
    customer.waiting.add(waiter);
    this.#queue.add(customer);
    this.#waiting++;
    this.#grantWaiting();
    const { release, resize } = this.#controlsOf(customer, waiter);
    const cancelTimer = customer.waiting.has(waiter) ? this.#timers.after(WAIT_MS_MAX, release) : () => {};
    granted.then(cancelTimer, cancelTimer);
    return { granted, resize, release };
  }

  #controlsOf(customer: Customer, waiter: Waiter): Pick<BytePermit, 'release' | 'resize'> {
    let isReleased = false;
    const resize = (bytes: number) => {
      if (isReleased || customer.waiting.has(waiter)) return;
      const more = bytes - waiter.bytes;
      waiter.bytes = bytes;
      customer.heldBytes += more;
      this.#freeBytes -= more;
      if (more < 0) this.#grantWaiting();
    };
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      if (customer.waiting.has(waiter)) {
        this.#dequeue(customer, waiter);
        waiter.refuse();
      } else {
        customer.heldBytes -= waiter.bytes;
        this.#freeBytes += waiter.bytes;
      }
      if (customer.heldBytes === 0 && customer.waiting.size === 0) this.#customers.delete(customer.key);
      this.#grantWaiting();
    };
    return { resize, release };
  }

  /** Only customers that hold their share are skipped, and few can hold it at once. */
  #grantWaiting(): void {
    // A customer that was served moves to the end of the set, and this loop meets it there again.
    for (const customer of this.#queue) {
      if (customer.heldBytes >= CUSTOMER_SHARE * this.#freeBytes) continue;
      const [next] = customer.waiting;
      if (next === undefined || next.bytes > this.#freeBytes) return;
      this.#dequeue(customer, next);
      customer.heldBytes += next.bytes;
      this.#freeBytes -= next.bytes;
      next.grant();
    }
  }

  #dequeue(customer: Customer, waiter: Waiter): void {
    customer.waiting.delete(waiter);
    this.#waiting--;
    this.#queue.delete(customer);
    if (customer.waiting.size > 0) this.#queue.add(customer);
  }
}

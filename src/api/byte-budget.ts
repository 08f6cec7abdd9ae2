/**
 * Bytes that may be in use at one time, shared by customers. A customer may hold twice what is free, so that something
 * is always left for the others, however much one asks for. Requests beyond that wait: each customer has a queue of
 * its own, and the queues take turns. The request whose turn it is waits until it fits, and nobody overtakes it.
 */
import { Refusal } from '#src/domain/errors.ts';
import type { Timers } from '#src/ports/system.ts';

/** A customer may hold so many times what is free, of bytes and of places to wait. */
const CUSTOMER_SHARE = 2;
/** More requests than these do not wait. */
export const WAITING_MAX = 10_000;
/** A request waits no longer. This is half of the time that it may take to arrive. */
export const WAIT_MS_MAX = 30_000;

/** A request for bytes. */
export interface Admission {
  /** Resolves when the bytes may be used. Rejects with a Refusal if there is no place to wait, or for too long. */
  readonly admitted: Promise<void>;
  /** Of an admitted request: it holds so many bytes from now on. More than are free may be held in this way. */
  resize(bytes: number): void;
  /** Gives the bytes back, or the place in the queue. */
  leave(): void;
}

interface Waiter {
  bytes: number;
  readonly admit: () => void;
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
  /** Customers that have a request waiting, the one whose turn is next first. */
  readonly #turns = new Set<Customer>();
  #freeBytes: number;
  #waiting = 0;

  constructor(bytesMax: number, timers: Timers) {
    this.#freeBytes = bytesMax;
    this.#timers = timers;
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#waiting;
  }

  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** `bytes` must not exceed the whole budget. */
  enter(key: string, bytes: number): Admission {
    const customer = this.#customers.get(key) ?? { key, waiting: new Set(), heldBytes: 0 };
    const { promise: admitted, resolve, reject } = Promise.withResolvers<void>();
    const refuse = () => reject(new Refusal('unavailable'));
    if (customer.waiting.size >= CUSTOMER_SHARE * (WAITING_MAX - this.#waiting)) {
      refuse();
      return { admitted, resize: () => {}, leave: () => {} };
    }
    const waiter: Waiter = { bytes, admit: resolve, refuse };
    this.#customers.set(key, customer);
    customer.waiting.add(waiter);
    this.#turns.add(customer);
    this.#waiting++;
    this.#admit();
    const { leave, resize } = this.#holding(customer, waiter);
    const callOff = customer.waiting.has(waiter) ? this.#timers.after(WAIT_MS_MAX, leave) : () => {};
    admitted.then(callOff, callOff);
    return { admitted, resize, leave };
  }

  /** `leave` gives up the place in the queue or the bytes, once. */
  #holding(customer: Customer, waiter: Waiter): Pick<Admission, 'leave' | 'resize'> {
    let hasLeft = false;
    const resize = (bytes: number) => {
      if (hasLeft || customer.waiting.has(waiter)) return;
      const more = bytes - waiter.bytes;
      waiter.bytes = bytes;
      customer.heldBytes += more;
      this.#freeBytes -= more;
      if (more < 0) this.#admit();
    };
    const leave = () => {
      if (hasLeft) return;
      hasLeft = true;
      if (customer.waiting.has(waiter)) {
        this.#leaveQueue(customer, waiter);
        waiter.refuse();
      } else {
        customer.heldBytes -= waiter.bytes;
        this.#freeBytes += waiter.bytes;
      }
      if (customer.heldBytes === 0 && customer.waiting.size === 0) this.#customers.delete(customer.key);
      this.#admit();
    };
    return { resize, leave };
  }

  /** Admits all that may go now. A customer is passed over only while it holds its share, and few can. */
  #admit(): void {
    // A customer that was served goes to the end, and is met there again.
    for (const customer of this.#turns) {
      if (customer.heldBytes >= CUSTOMER_SHARE * this.#freeBytes) continue;
      const [next] = customer.waiting;
      if (next === undefined || next.bytes > this.#freeBytes) return;
      this.#leaveQueue(customer, next);
      customer.heldBytes += next.bytes;
      this.#freeBytes -= next.bytes;
      next.admit();
    }
  }

  #leaveQueue(customer: Customer, waiter: Waiter): void {
    customer.waiting.delete(waiter);
    this.#waiting--;
    this.#turns.delete(customer);
    if (customer.waiting.size > 0) this.#turns.add(customer);
  }
}

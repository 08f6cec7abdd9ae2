/** A queue for each customer, first in first out. Customers are served round robin. */
import type { Partition } from './project.ts';

/** A queue is compacted once it has served this many items, if those are at least half of it. */
const SERVED_MAX = 1_024;

interface Queue<T> {
  /** A served item is replaced by `undefined`, since it may hold a body. */
  items: (T | undefined)[];
  /** The number of served items at the front. */
  served: number;
}

/** `Key` identifies a customer. */
export class RoundRobinQueue<T, Key = Partition> {
  /** The customer served longest ago comes first. */
  readonly #queues = new Map<Key, Queue<T>>();

  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of customers with items. */
  get customers(): number {
    return this.#queues.size;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  add(customer: Key, item: T): void {
    this.#size++;
    const queue = this.#queues.get(customer);
    if (queue === undefined) this.#queues.set(customer, { items: [item], served: 0 });
    else queue.items.push(item);
  }

  /** Removes and returns the next item. */
  next(): T | undefined {
    for (const [customer, queue] of this.#queues) return this.#serve(customer, queue);
    return undefined;
  }

  /** The same for one customer, out of turn. */
  nextOf(customer: Key): T | undefined {
    const queue = this.#queues.get(customer);
    return queue === undefined ? undefined : this.#serve(customer, queue);
  }

  #serve(customer: Key, queue: Queue<T>): T | undefined {
    this.#size--;
    const item = queue.items[queue.served];
    queue.items[queue.served++] = undefined;
    this.#queues.delete(customer);
    if (queue.served < queue.items.length) this.#queues.set(customer, compacted(queue));
    return item;
  }

  clear(): void {
    this.#size = 0;
    this.#queues.clear();
  }
}

function compacted<T>(queue: Queue<T>): Queue<T> {
  if (queue.served < SERVED_MAX || queue.served * 2 < queue.items.length) return queue;
  return { items: queue.items.slice(queue.served), served: 0 };
}

/** Things to do, first come first served for each customer, and customers in turns. */
import type { Partition } from './partition.ts';

/** Served items at the front of a queue are cleared away once there are so many, and half of it is served. */
const SERVED_MAX = 1_024;

interface Line<T> {
  /** An item that was served is replaced by `undefined`, since it may hold a body. */
  items: (T | undefined)[];
  /** The number of items that were served. */
  served: number;
}

/** `Key`: what customers are known by. */
export class CustomerTurns<T, Key = Partition> {
  /** The customer served longest ago comes first. */
  readonly #lines = new Map<Key, Line<T>>();

  #size = 0;

  get size(): number {
    return this.#size;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  add(customer: Key, item: T): void {
    this.#size++;
    const line = this.#lines.get(customer);
    if (line === undefined) this.#lines.set(customer, { items: [item], served: 0 });
    else line.items.push(item);
  }

  /** Takes the next item out. */
  next(): T | undefined {
    for (const [customer, line] of this.#lines) {
      this.#size--;
      const item = line.items[line.served];
      line.items[line.served++] = undefined;
      this.#lines.delete(customer);
      if (line.served < line.items.length) this.#lines.set(customer, cleared(line));
      return item;
    }
    return undefined;
  }

  clear(): void {
    this.#size = 0;
    this.#lines.clear();
  }
}

function cleared<T>(line: Line<T>): Line<T> {
  if (line.served < SERVED_MAX || line.served * 2 < line.items.length) return line;
  return { items: line.items.slice(line.served), served: 0 };
}

/**
 * Whether several customers had something to do lately, by calls or by deliveries. A customer that is alone waits for
 * nobody: bulk work makes room only for others.
 */
import type { Stopwatch } from './timers.ts';

/** A customer with nothing to do for so long does not count any more. */
export const AROUND_MS = 1_000;

export class CustomersAround {
  readonly #stopwatch: Stopwatch;
  /** Who had something to do last. */
  #last = '';
  #lastAt = Number.NEGATIVE_INFINITY;
  /** When two had something to do, one after the other. */
  #severalAt = Number.NEGATIVE_INFINITY;

  constructor(stopwatch: Stopwatch) {
    this.#stopwatch = stopwatch;
  }

  /** A customer has something to do. */
  notice(customer: string): void {
    const now = this.#stopwatch.elapsed();
    if (customer !== this.#last && now - this.#lastAt < AROUND_MS) this.#severalAt = now;
    this.#last = customer;
    this.#lastAt = now;
  }

  get areSeveral(): boolean {
    return this.#stopwatch.elapsed() - this.#severalAt < AROUND_MS;
  }
}

const shared = new WeakMap<Stopwatch, CustomersAround>();

/** Those of everything that goes by this stopwatch. */
export function customersAround(stopwatch: Stopwatch): CustomersAround {
  const known = shared.get(stopwatch) ?? new CustomersAround(stopwatch);
  shared.set(stopwatch, known);
  return known;
}

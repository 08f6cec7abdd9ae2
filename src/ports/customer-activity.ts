/**
 * Whether several customers had something to do lately, by calls or by deliveries. A customer that is alone waits for
 * nobody: bulk work makes room only for others.
 */
import type { Stopwatch } from './system.ts';

/** A customer with nothing to do for so long does not count any more. */
export const ACTIVE_MS = 1_000;

export class CustomerActivity {
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
  record(customer: string): void {
    const now = this.#stopwatch.elapsed();
    if (customer !== this.#last && now - this.#lastAt < ACTIVE_MS) this.#severalAt = now;
    this.#last = customer;
    this.#lastAt = now;
  }

  get hasSeveral(): boolean {
    return this.#stopwatch.elapsed() - this.#severalAt < ACTIVE_MS;
  }
}

const shared = new WeakMap<Stopwatch, CustomerActivity>();

/** Those of everything that goes by this stopwatch. */
export function customerActivity(stopwatch: Stopwatch): CustomerActivity {
  const known = shared.get(stopwatch) ?? new CustomerActivity(stopwatch);
  shared.set(stopwatch, known);
  return known;
}

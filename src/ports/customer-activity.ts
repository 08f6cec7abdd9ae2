/**
 * Tells whether several customers were active lately, with API calls or deliveries. A single customer never has to wait
 * for others: background work slows down only for other customers.
 */
import type { Stopwatch } from './system.ts';

/** A customer counts as active for this long after its last activity. */
export const ACTIVE_MS = 1_000;

export class CustomerActivity {
  readonly #stopwatch: Stopwatch;
  /** The customer that was active last. */
  #last = '';
  #lastAt = Number.NEGATIVE_INFINITY;
  /** The last time at which two customers were active. */
  #severalAt = Number.NEGATIVE_INFINITY;

  constructor(stopwatch: Stopwatch) {
    this.#stopwatch = stopwatch;
  }

  /** Records that a customer is active. */
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

/** Returns the activity that all users of this stopwatch share. */
export function customerActivity(stopwatch: Stopwatch): CustomerActivity {
  const known = shared.get(stopwatch) ?? new CustomerActivity(stopwatch);
  shared.set(stopwatch, known);
  return known;
}

/**
 * Where work that nobody's delivery waits for lets everything else have its turn. Of all that pause, one goes on in a
 * turn: else the pieces of many pages would add up to a long one, and what fires would wait for all of them.
 * Customers take turns, so a pause costs a customer one piece of each other customer, however many pages they ask for.
 */
import { type CustomersAround, customersAround } from '#src/ports/customers-around.ts';
import { SlowedTimers } from '#src/ports/slowed-timers.ts';
import type { Stopwatch, Timers } from '#src/ports/timers.ts';

/**
 * A long pause comes before what keeps the store or this thread busy: a page, a large body, a part of an order to many
 * deliveries. A short one comes before each piece of it.
 */
export type PauseLength = 'short' | 'long';

/** While timers come late. Somebody waits for the answer. */
const REST_MS_MAX: Readonly<Record<PauseLength, number>> = { short: 8, long: 100 };
/** A customer that asks for little has short pauses only: so many in a second are not long. */
export const LONG_LEFT_OUT = 8;
const LEFT_OUT_FOR_MS = 1_000;

export class Pauses {
  readonly #lines: Readonly<Record<PauseLength, Line>>;
  readonly #stopwatch: Stopwatch;
  readonly #around: CustomersAround;
  /** How many long pauses each customer was to have since an instant. */
  readonly #asked = new Map<string, number>();
  #askedSince = 0;

  constructor(short: Timers & Stopwatch, long = short, around = customersAround(short)) {
    this.#lines = { short: new Line(short), long: new Line(long) };
    this.#stopwatch = short;
    this.#around = around;
  }

  /** `customer`: who takes a turn, such as a partition or a person at the dashboard. */
  pause(customer: string, length: PauseLength = 'short'): Promise<void> {
    this.#around.notice(customer);
    return this.#lines[length === 'long' && this.#asksForMuch(customer) ? 'long' : 'short'].wait(customer);
  }

  #asksForMuch(customer: string): boolean {
    const now = this.#stopwatch.elapsed();
    if (now - this.#askedSince >= LEFT_OUT_FOR_MS) {
      this.#asked.clear();
      this.#askedSince = now;
    }
    const asked = (this.#asked.get(customer) ?? 0) + 1;
    this.#asked.set(customer, asked);
    return asked > LONG_LEFT_OUT;
  }
}

class Line {
  readonly #timers: Timers;
  /** Those that wait, first come first served. The customer that went on longest ago comes first. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  wait(customer: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.size === 0) this.#timers.after(0, () => this.#goOn());
      const own = this.#waiting.get(customer);
      if (own === undefined) this.#waiting.set(customer, new Set([resolve]));
      else own.add(resolve);
    });
  }

  #goOn(): void {
    this.#takeNext()?.();
    if (this.#waiting.size > 0) this.#timers.after(0, () => this.#goOn());
  }

  /** Takes out the one whose turn it is. Its customer goes to the end. */
  #takeNext(): (() => void) | undefined {
    for (const [customer, own] of this.#waiting) {
      const [next] = own;
      this.#waiting.delete(customer);
      if (next !== undefined) own.delete(next);
      if (own.size > 0) this.#waiting.set(customer, own);
      return next;
    }
    return undefined;
  }
}

const shared = new WeakMap<Timers, Pauses>();

/** Those of everybody who goes by these timers. They last longer while timers come late and customers share them. */
export function pausesOf(timers: Timers & Stopwatch): Pauses {
  const known = shared.get(timers) ?? slowedPauses(timers);
  shared.set(timers, known);
  return known;
}

function slowedPauses(timers: Timers & Stopwatch): Pauses {
  const around = customersAround(timers);
  const slowed = (restMsMax: number) => new SlowedTimers(timers, () => around.areSeveral, restMsMax);
  return new Pauses(slowed(REST_MS_MAX.short), slowed(REST_MS_MAX.long), around);
}

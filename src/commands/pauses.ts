/**
 * Where work that nobody's delivery waits for lets everything else have its turn. Of all that pause, one goes on in a
 * turn: else the pieces of many pages would add up to a long one, and what fires would wait for all of them.
 * Customers take turns, so a pause costs a customer one piece of each other customer, however many pages they ask for.
 */
import { SlowedTimers } from '#src/ports/slowed-timers.ts';
import type { Stopwatch, Timers } from '#src/ports/timers.ts';

/**
 * A long pause comes before what keeps the store or this thread busy: a page, a large body, a part of an order to many
 * deliveries. A short one comes before each piece of it.
 */
export type PauseLength = 'short' | 'long';

/** While timers come late. Somebody waits for the answer. */
const REST_MS_MAX: Readonly<Record<PauseLength, number>> = { short: 8, long: 100 };

export class Pauses {
  readonly #lines: Readonly<Record<PauseLength, Line>>;

  constructor(short: Timers, long = short) {
    this.#lines = { short: new Line(short), long: new Line(long) };
  }

  /** `customer`: who takes a turn, such as a partition or a person at the dashboard. */
  pause(customer: string, length: PauseLength = 'short'): Promise<void> {
    return this.#lines[length].wait(customer);
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

/** Those of everybody who goes by these timers. They last longer while timers come late. */
export function pausesOf(timers: Timers & Stopwatch): Pauses {
  const known = shared.get(timers) ?? new Pauses(slowed(timers, 'short'), slowed(timers, 'long'));
  shared.set(timers, known);
  return known;
}

function slowed(timers: Timers & Stopwatch, length: PauseLength): Timers {
  return new SlowedTimers(
    timers,
    () => timers.elapsed(),
    () => true,
    REST_MS_MAX[length],
  );
}

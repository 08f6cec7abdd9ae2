/**
 * Pauses of work that no delivery waits for: everything else has its turn. One of all that pause goes on in a turn:
 * else the pieces of many pages would add up to a long one, and what fires would wait for all of them.
 * Customers take turns, so a pause costs a customer one piece of each other customer, however many pages they ask for.
 */
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import { customerActivity } from '#src/ports/customer-activity.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { ThrottledTimers } from '#src/ports/throttled-timers.ts';

/**
 * A long pause comes before what keeps the store or this thread busy: a page, a large body, a part of an order to many
 * deliveries. A short one comes before each piece of it.
 */
export type PauseLength = 'short' | 'long';

/** The longest rest while timers come late: somebody waits for the answer. */
const REST_MS_MAX: Readonly<Record<PauseLength, number>> = { short: 8, long: 100 };
/** A customer that asks for little has short pauses only: long ones begin after so many in a second. */
export const LONG_PAUSES_WAIVED = 2;
const WAIVER_WINDOW_MS = 1_000;

export class Pauses {
  readonly #lines: Readonly<Record<PauseLength, PauseQueue>>;
  readonly #stopwatch: Stopwatch;
  /** Long pauses that each customer asked for since `#askedSince`. */
  readonly #asked = new Map<string, number>();
  #askedSince = 0;

  constructor(short: Timers & Stopwatch, long = short) {
    this.#lines = { short: new PauseQueue(short), long: new PauseQueue(long) };
    this.#stopwatch = short;
  }

  /** `customer`: who takes a turn, such as a partition or a person at the dashboard. */
  pause(customer: string, length: PauseLength = 'short'): Promise<void> {
    return this.#lines[length === 'long' && this.#asksForMuch(customer) ? 'long' : 'short'].wait(customer);
  }

  #asksForMuch(customer: string): boolean {
    const now = this.#stopwatch.elapsed();
    if (now - this.#askedSince >= WAIVER_WINDOW_MS) {
      this.#asked.clear();
      this.#askedSince = now;
    }
    const asked = (this.#asked.get(customer) ?? 0) + 1;
    this.#asked.set(customer, asked);
    return asked > LONG_PAUSES_WAIVED;
  }
}

class PauseQueue {
  readonly #timers: Timers;
  readonly #waiting = new RoundRobinQueue<() => void, string>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  wait(customer: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.isEmpty) this.#timers.after(0, () => this.#goOn());
      this.#waiting.add(customer, resolve);
    });
  }

  #goOn(): void {
    this.#waiting.next()?.();
    if (!this.#waiting.isEmpty) this.#timers.after(0, () => this.#goOn());
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
  const around = customerActivity(timers);
  const slowed = (restMsMax: number) => new ThrottledTimers(timers, () => around.hasSeveral, restMsMax);
  return new Pauses(slowed(REST_MS_MAX.short), slowed(REST_MS_MAX.long));
}

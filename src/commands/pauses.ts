/**
 * Pauses between pieces of work that no delivery waits for. Only one paused task resumes in each turn of the event
 * loop. Otherwise the pieces of many pages would add up to a long one, and deliveries would wait for all of them.
 * Customers are resumed round robin. So a pause costs one piece of work of each other customer, however many pages they
 * request.
 */
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import { customerActivity } from '#src/ports/customer-activity.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { ThrottledTimers } from '#src/ports/throttled-timers.ts';

/**
 * A long pause comes before work that keeps the store or this thread busy: a page, a large body, a part of a sweep over
 * many deliveries. A short pause comes before each piece of it.
 */
export type PauseLength = 'short' | 'long';

/** The longest pause while timers are late. It is bounded because a client waits for the answer. */
const REST_MS_MAX: Readonly<Record<PauseLength, number>> = { short: 8, long: 100 };
/** The first long pauses of a customer in each second are short ones, so that a customer with few requests is fast. */
export const LONG_PAUSES_WAIVED = 2;
const WAIVER_WINDOW_MS = 1_000;

export class Pauses {
  readonly #queues: Readonly<Record<PauseLength, PauseQueue>>;
  readonly #stopwatch: Stopwatch;
  /** The number of long pauses of each customer since `#windowStart`. */
  readonly #longPauses = new Map<string, number>();
  #windowStart = 0;

  constructor(short: Timers & Stopwatch, long = short) {
    this.#queues = { short: new PauseQueue(short), long: new PauseQueue(long) };
    this.#stopwatch = short;
  }

  /** `customer` is a partition, or a user of the dashboard. */
  pause(customer: string, length: PauseLength = 'short'): Promise<void> {
    return this.#queues[length === 'long' && this.#isHeavy(customer) ? 'long' : 'short'].wait(customer);
  }

  #isHeavy(customer: string): boolean {
    const now = this.#stopwatch.elapsed();
    if (now - this.#windowStart >= WAIVER_WINDOW_MS) {
      this.#longPauses.clear();
      this.#windowStart = now;
    }
    const count = (this.#longPauses.get(customer) ?? 0) + 1;
    this.#longPauses.set(customer, count);
    return count > LONG_PAUSES_WAIVED;
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
      if (this.#waiting.isEmpty) this.#timers.after(0, () => this.#resumeNext());
      this.#waiting.add(customer, resolve);
    });
  }

  #resumeNext(): void {
    this.#waiting.next()?.();
    if (!this.#waiting.isEmpty) this.#timers.after(0, () => this.#resumeNext());
  }
}

const shared = new WeakMap<Timers, Pauses>();

/**
 * Returns the pauses that all users of these timers share. They last longer while timers are late and customers share
 * them.
 */
export function pausesOf(timers: Timers & Stopwatch): Pauses {
  const pauses = shared.get(timers) ?? slowedPauses(timers);
  shared.set(timers, pauses);
  return pauses;
}

function slowedPauses(timers: Timers & Stopwatch): Pauses {
  const around = customerActivity(timers);
  const slowed = (restMsMax: number) => new ThrottledTimers(timers, () => around.hasSeveral, restMsMax);
  return new Pauses(slowed(REST_MS_MAX.short), slowed(REST_MS_MAX.long));
}

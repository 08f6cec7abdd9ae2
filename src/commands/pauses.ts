/**
 * Where work that nobody's delivery waits for lets everything else have its turn. Of all that pause, one goes on in a
 * turn: else the pieces of many pages would add up to a long one, and what fires would wait for all of them.
 */
import type { Timers } from '#src/ports/timers.ts';

export class Pauses {
  readonly #timers: Timers;
  #waiting: (() => void)[] = [];

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#timers.after(0, () => this.#goOn());
    });
  }

  /**
   * A timer that is set before a piece of work is due when that ends, and is run at once, before anything is read from
   * the network. So the one that is set here does nothing but set the next.
   */
  #goOn(): void {
    const [next, ...others] = this.#waiting;
    this.#waiting = others;
    next?.();
    if (others.length > 0) this.#timers.after(0, () => void this.#timers.after(0, () => this.#goOn()));
  }
}

const shared = new WeakMap<Timers, Pauses>();

/** Those of everybody who goes by these timers. */
export function pausesOf(timers: Timers): Pauses {
  const known = shared.get(timers) ?? new Pauses(timers);
  shared.set(timers, known);
  return known;
}

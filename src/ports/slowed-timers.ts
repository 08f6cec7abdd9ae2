/**
 * Timers for bulk work. As long as customers share the process and timers come late, each piece of such work waits a
 * little longer for its turn (`slowdown.ts`).
 */
import { Slowdown } from '#src/domain/slowdown.ts';
import type { Timers } from './timers.ts';

export class SlowedTimers implements Timers {
  readonly #timers: Timers;
  readonly #now: () => number;
  readonly #isShared: () => boolean;
  readonly #slowdown: Slowdown;

  /** `now`: in milliseconds. It may be set, which counts for one piece of work at most. */
  constructor(timers: Timers, now: () => number, isShared: () => boolean, restMsMax?: number) {
    this.#slowdown = new Slowdown(restMsMax);
    this.#timers = timers;
    this.#now = now;
    this.#isShared = isShared;
  }

  after(ms: number, act: () => void): () => void {
    return this.#after(Math.max(ms, this.#isShared() ? this.#slowdown.restMs : 0), act);
  }

  /** The work before it took so long: a long piece is followed by a long rest. */
  afterWork(workedMs: number, act: () => void): () => void {
    return this.#after(this.#isShared() ? this.#slowdown.restMsAfter(workedMs) : 0, act);
  }

  #after(waitMs: number, act: () => void): () => void {
    const dueAt = this.#now() + waitMs;
    return this.#timers.after(waitMs, () => {
      const now = this.#now();
      this.#slowdown.timerCame(now - dueAt, now);
      act();
    });
  }
}

/**
 * Timers for background work. While customers share the process and timers are late, each piece of such work waits a little
 * longer (`domain/adaptive-throttle.ts`). All background work on the same timers slows down together.
 */
import { AdaptiveThrottle } from '#src/domain/adaptive-throttle.ts';
import type { Stopwatch, Timers } from './system.ts';

const throttles = new WeakMap<Timers, AdaptiveThrottle>();

export class ThrottledTimers implements Timers, Stopwatch {
  readonly #timers: Timers & Stopwatch;
  readonly #isShared: () => boolean;
  readonly #delayMsMax: number;
  readonly #throttle: AdaptiveThrottle;

  /** `delayMsMax` limits the delay of work that a caller waits for. */
  constructor(timers: Timers & Stopwatch, isShared: () => boolean, delayMsMax = Number.POSITIVE_INFINITY) {
    this.#timers = timers;
    this.#isShared = isShared;
    this.#delayMsMax = delayMsMax;
    this.#throttle = throttles.get(timers) ?? new AdaptiveThrottle();
    throttles.set(timers, this.#throttle);
  }

  elapsed(): number {
    return this.#timers.elapsed();
  }

  after(ms: number, act: () => void): () => void {
    return this.#after(Math.max(ms, this.#delay(this.#throttle.delayMs(this.elapsed()))), act);
  }

  /** Waits after a piece of work that took `workedMs`. A long piece is followed by a long delay. */
  afterWork(workedMs: number, act: () => void): () => void {
    return this.#after(this.#delay(this.#throttle.delayMsAfter(workedMs, this.elapsed())), act);
  }

  #delay(ms: number): number {
    return this.#isShared() ? Math.min(ms, this.#delayMsMax) : 0;
  }

  #after(waitMs: number, act: () => void): () => void {
    const dueAt = this.elapsed() + waitMs;
    return this.#timers.after(waitMs, () => {
      const now = this.elapsed();
      this.#throttle.recordTimer(now - dueAt, now);
      act();
    });
  }
}

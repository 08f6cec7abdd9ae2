/**
 * Timers for bulk work. As long as customers share the process and timers come late, each piece of such work waits a
 * little longer for its turn (`domain/adaptive-throttle.ts`). All bulk work that goes by the same timers slows down together.
 */
import { AdaptiveThrottle } from '#src/domain/adaptive-throttle.ts';
import type { Stopwatch, Timers } from './system.ts';

const slowdowns = new WeakMap<Timers, AdaptiveThrottle>();

export class ThrottledTimers implements Timers, Stopwatch {
  readonly #timers: Timers & Stopwatch;
  readonly #isShared: () => boolean;
  readonly #restMsMax: number;
  readonly #slowdown: AdaptiveThrottle;

  /** `restMsMax`: for work that somebody waits for. */
  constructor(timers: Timers & Stopwatch, isShared: () => boolean, restMsMax = Number.POSITIVE_INFINITY) {
    this.#timers = timers;
    this.#isShared = isShared;
    this.#restMsMax = restMsMax;
    this.#slowdown = slowdowns.get(timers) ?? new AdaptiveThrottle();
    slowdowns.set(timers, this.#slowdown);
  }

  elapsed(): number {
    return this.#timers.elapsed();
  }

  after(ms: number, act: () => void): () => void {
    return this.#after(Math.max(ms, this.#rest(this.#slowdown.delayMs(this.elapsed()))), act);
  }

  /** The work before it took so long: a long piece is followed by a long rest. */
  afterWork(workedMs: number, act: () => void): () => void {
    return this.#after(this.#rest(this.#slowdown.delayMsAfter(workedMs, this.elapsed())), act);
  }

  #rest(ms: number): number {
    return this.#isShared() ? Math.min(ms, this.#restMsMax) : 0;
  }

  #after(waitMs: number, act: () => void): () => void {
    const dueAt = this.elapsed() + waitMs;
    return this.#timers.after(waitMs, () => {
      const now = this.elapsed();
      this.#slowdown.recordTimer(now - dueAt, now);
      act();
    });
  }
}

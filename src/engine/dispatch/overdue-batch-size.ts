/**
 * How much overdue work is taken in one step. What is being claimed waits for the same thread and the same disk as
 * what comes due meanwhile, so how long a step takes tells how late that would be. It begins small, when nothing
 * has been sent yet and every connection is still to be opened, grows while steps are quick, and falls back at once
 * when they are slow. A store may be far away: quick is also what takes not much longer than the quickest of late.
 */
export const BATCH_SIZE_MIN = 4;
export const BATCH_SIZE_MAX = 32;
const GROWTH = 2;
const QUICK_MS = 20;
const SLOW_MS = 40;
/** Of what the quickest took. */
const QUICK_RATIO = 1.5;
const SLOW_RATIO = 3;
/** With each step the quickest counts for so much less. */
const FADING = 1.02;

export class OverdueBatchSize {
  #length = BATCH_SIZE_MIN;
  #quickestMs = Number.POSITIVE_INFINITY;

  get length(): number {
    return this.#length;
  }

  /** A step of this length. */
  took(ms: number): void {
    this.#quickestMs = Math.min(ms, this.#quickestMs * FADING);
    if (ms <= Math.max(QUICK_MS, this.#quickestMs * QUICK_RATIO)) {
      this.#length = Math.min(this.#length + GROWTH, BATCH_SIZE_MAX);
    } else if (ms > Math.max(SLOW_MS, this.#quickestMs * SLOW_RATIO)) {
      this.#length = Math.max(Math.floor(this.#length / 2), BATCH_SIZE_MIN);
    }
  }
}

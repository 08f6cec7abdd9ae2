/**
 * Decides how long background work waits between two pieces. Late timers show that the process has more work than it can do
 * in time. The delay then grows quickly, and shrinks slowly once timers are punctual again. Background work therefore uses
 * the time that is left over, and leaves some.
 */

/** A timer that is later than this shows that the process has too much to do. */
const LATE_MS = 5;
const DELAY_MS_MIN = 1;
export const DELAY_MS_MAX = 200;
const GROWTH = 1.5;
/** The delay is at least this share of the lateness of a timer. */
const LATENESS_SHARE = 0.5;
const SHRINKAGE_MS_MIN = 0.5;
const SHRINKAGE_SHARE = 0.02;
/**
 * The delay is meant for pieces of work up to this long. A longer piece gets the delay several times, up to
 * `PIECES_MAX`.
 */
const PIECE_MS_MAX = 10;
const PIECES_MAX = 5;
/** Timers of the same moment carry the same information, so they count once. */
const MOMENT_MS = 5;
/** After this time without timers the delay halves, and again after each further period. */
const HALF_LIFE_MS = 500;

export class AdaptiveThrottle {
  #delayMs = 0;
  #changedAt = Number.NEGATIVE_INFINITY;

  /** `now` is the reading of a stopwatch, in all methods of this class. */
  delayMs(now: number): number {
    return Math.round(this.#delayMsAt(now));
  }

  /** Returns the delay after a piece of work that took `workedMs`. */
  delayMsAfter(workedMs: number, now: number): number {
    return Math.round(this.#delayMsAt(now) * Math.min(Math.max(workedMs / PIECE_MS_MAX, 1), PIECES_MAX));
  }

  /** Takes note of a timer that fired `lateMs` too late. */
  recordTimer(lateMs: number, now: number): void {
    if (now - this.#changedAt < MOMENT_MS) return;
    const delayMs = this.#delayMsAt(now);
    this.#changedAt = now;
    const isLate = lateMs > LATE_MS;
    const shrinkageMs = Math.max(delayMs * SHRINKAGE_SHARE, SHRINKAGE_MS_MIN);
    const next = isLate
      ? Math.max(delayMs * GROWTH, lateMs * LATENESS_SHARE, DELAY_MS_MIN)
      : delayMs - shrinkageMs;
    this.#delayMs = Math.min(Math.max(next, 0), DELAY_MS_MAX);
  }

  #delayMsAt(now: number): number {
    const halves = Math.floor((now - this.#changedAt) / HALF_LIFE_MS);
    return halves > 0 ? this.#delayMs / 2 ** halves : this.#delayMs;
  }
}

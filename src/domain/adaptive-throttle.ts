/**
 * A slowdown says how long bulk work rests between two pieces. Timers that come late say that the process has more to do than it can
 * do in time. The rest grows quickly then, and shrinks slowly once timers come in time again: so bulk work takes the
 * time that is left over, and leaves some.
 */

/** A timer that comes later than this says that there is too much to do. */
const LATE_MS = 5;
const REST_MS_MIN = 1;
export const DELAY_MS_MAX = 200;
const GROWTH = 1.5;
/** The rest is at least this share of how late a timer came. */
const LATENESS_SHARE = 0.5;
const SHRINKAGE_MS_MIN = 0.5;
const SHRINKAGE_SHARE = 0.02;
/** The rest is meant for pieces of work up to this long. A longer one has the rests of several, so many at most. */
const PIECE_MS_MAX = 10;
const PIECES_MAX = 5;
/** Timers of the same moment say the same thing: they count once. */
const MOMENT_MS = 5;
/** A delay loses half its weight in this time without timers, and half of the rest in the next. */
const HALF_LIFE_MS = 500;

export class AdaptiveThrottle {
  #restMs = 0;
  #changedAt = Number.NEGATIVE_INFINITY;

  /** `now`, here and below: by a stopwatch. */
  delayMs(now: number): number {
    return Math.round(this.#restMsAt(now));
  }

  /** After a piece of work that took so long. */
  delayMsAfter(workedMs: number, now: number): number {
    return Math.round(this.#restMsAt(now) * Math.min(Math.max(workedMs / PIECE_MS_MAX, 1), PIECES_MAX));
  }

  /** A timer came so late. */
  recordTimer(lateMs: number, now: number): void {
    if (now - this.#changedAt < MOMENT_MS) return;
    const restMs = this.#restMsAt(now);
    this.#changedAt = now;
    const isLate = lateMs > LATE_MS;
    const shrinkageMs = Math.max(restMs * SHRINKAGE_SHARE, SHRINKAGE_MS_MIN);
    const next = isLate
      ? Math.max(restMs * GROWTH, lateMs * LATENESS_SHARE, REST_MS_MIN)
      : restMs - shrinkageMs;
    this.#restMs = Math.min(Math.max(next, 0), DELAY_MS_MAX);
  }

  #restMsAt(now: number): number {
    const halves = Math.floor((now - this.#changedAt) / HALF_LIFE_MS);
    return halves > 0 ? this.#restMs / 2 ** halves : this.#restMs;
  }
}

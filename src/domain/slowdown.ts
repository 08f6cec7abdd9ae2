/**
 * How long bulk work rests between two pieces. Timers that come late say that the process has more to do than it can
 * do in time. The rest grows quickly then, and shrinks slowly once timers come in time again: so bulk work takes the
 * time that is left over, and leaves some.
 */

/** A timer that comes later than this says that there is too much to do. */
const LATE_MS = 5;
const REST_MS_MIN = 1;
export const REST_MS_MAX = 200;
const GROWTH = 1.5;
const SHRINKAGE_MS_MIN = 0.5;
const SHRINKAGE_SHARE = 0.02;
/** The rest is meant for pieces of work up to this long. A longer one has the rests of several, so many at most. */
const PIECE_MS_MAX = 10;
const PIECES_MAX = 20;
/** Timers of the same moment say the same thing: they count once. */
const MOMENT_MS = 5;

export class Slowdown {
  readonly #restMsMax: number;
  #restMs = 0;
  #changedAt = Number.NEGATIVE_INFINITY;

  constructor(restMsMax = REST_MS_MAX) {
    this.#restMsMax = restMsMax;
  }

  get restMs(): number {
    return Math.round(this.#restMs);
  }

  /** After a piece of work that took so long. */
  restMsAfter(workedMs: number): number {
    return Math.round(this.#restMs * Math.min(Math.max(workedMs / PIECE_MS_MAX, 1), PIECES_MAX));
  }

  /** A timer came so late. `now` may be set back: then it counts at once. */
  timerCame(lateMs: number, now: number): void {
    if (Math.abs(now - this.#changedAt) < MOMENT_MS) return;
    this.#changedAt = now;
    const isLate = lateMs > LATE_MS;
    const shrinkageMs = Math.max(this.#restMs * SHRINKAGE_SHARE, SHRINKAGE_MS_MIN);
    const next = isLate ? Math.max(this.#restMs * GROWTH, REST_MS_MIN) : this.#restMs - shrinkageMs;
    this.#restMs = Math.min(Math.max(next, 0), this.#restMsMax);
  }
}

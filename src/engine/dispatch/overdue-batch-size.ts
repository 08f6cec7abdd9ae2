/**
 * The size of the batches of overdue work. Overdue work shares the thread and the disk with deliveries that come due
 * meanwhile, so the duration of a batch shows how late those would be. The size starts small, because every connection
 * is still to be opened. It grows while batches are quick and is halved when they are slow. A store may be far away, so
 * a batch also counts as quick if it takes little longer than the quickest recent one.
 */
export const BATCH_SIZE_MIN = 8;
export const BATCH_SIZE_MAX = 32;
const GROWTH = 2;
const QUICK_MS = 20;
const SLOW_MS = 40;
/** Multiples of the duration of the quickest recent batch. */
const QUICK_RATIO = 1.5;
const SLOW_RATIO = 3;
/** The quickest duration grows by this with each batch, so that old ones are forgotten. */
const FADING = 1.02;

export class OverdueBatchSize {
  /** How many times larger all batches are. */
  readonly #factor: number;
  #size = BATCH_SIZE_MIN;
  #quickestMs = Number.POSITIVE_INFINITY;

  constructor(factor = 1) {
    this.#factor = factor;
  }

  get size(): number {
    return this.#size * this.#factor;
  }

  /** A batch of this size took this time. */
  took(ms: number): void {
    this.#quickestMs = Math.min(ms, this.#quickestMs * FADING);
    if (ms <= Math.max(QUICK_MS, this.#quickestMs * QUICK_RATIO)) {
      this.#size = Math.min(this.#size + GROWTH, BATCH_SIZE_MAX);
    } else if (ms > Math.max(SLOW_MS, this.#quickestMs * SLOW_RATIO)) {
      this.#size = Math.max(Math.floor(this.#size / 2), BATCH_SIZE_MIN);
    }
  }
}

/** Splits long work into time slices. The same thread sends deliveries, which must not wait for a page. */
import { pausesOf } from '#src/commands/pauses.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';

const SLICE_MS = 2;

export class TimeSlicer {
  readonly #timers: Timers & Stopwatch;
  readonly #partition: Partition;
  #beganAt: number;

  /** `partition` is the customer whose page is computed. */
  constructor(timers: Timers & Stopwatch, partition: Partition) {
    this.#timers = timers;
    this.#partition = partition;
    this.#beganAt = timers.elapsed();
  }

  /** True if this slice is used up. The caller then has to await `pause`. */
  get isUsedUp(): boolean {
    return this.#timers.elapsed() - this.#beganAt >= SLICE_MS;
  }

  /** Yields to all other work, then begins a new slice. */
  async pause(): Promise<void> {
    await pausesOf(this.#timers).pause(`${this.#partition}`);
    this.#beganAt = this.#timers.elapsed();
  }
}

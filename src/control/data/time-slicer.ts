/** Long work in short pieces: the thread that works here also fires, and what is due must not wait for a page. */
import { pausesOf } from '#src/commands/pauses.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';

const SLICE_MS = 2;

export class TimeSlicer {
  readonly #timers: Timers & Stopwatch;
  readonly #partition: Partition;
  #beganAt: number;

  /** `partition`: whose pages these are. */
  constructor(timers: Timers & Stopwatch, partition: Partition) {
    this.#timers = timers;
    this.#partition = partition;
    this.#beganAt = timers.elapsed();
  }

  /** Whether this piece is long enough: then `rest` is to be waited for. */
  get isUsedUp(): boolean {
    return this.#timers.elapsed() - this.#beganAt >= SLICE_MS;
  }

  /** Lets everything else have its turn. */
  async pause(): Promise<void> {
    await pausesOf(this.#timers).pause(`${this.#partition}`);
    this.#beganAt = this.#timers.elapsed();
  }
}

/**
 * Runs the batches of all sweeps one at a time in the whole process, and serves customers round robin. However many
 * sweeps are requested at once, a commit contains at most one batch. Other writes therefore wait for one batch at
 * most, and a sweep of one customer does not wait for all sweeps of another.
 *
 * Each sweep waits for one batch at a time, so the queue is never longer than the number of sweeps.
 */

import type { Partition } from '#src/domain/project.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';

export class SweepQueue {
  readonly #waiting = new RoundRobinQueue<() => Promise<void>>();
  #isBusy = false;

  /** Runs a batch when its turn comes. A batch that fails does not stop the others. */
  run<T>(partition: Partition, batch: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(partition, () => batch().then(resolve, reject));
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    for (let next = this.#waiting.next(); next !== undefined; next = this.#waiting.next()) await next();
    this.#isBusy = false;
  }
}

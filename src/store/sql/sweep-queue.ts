/**
 * Pieces of sweeps take turns: one is under way at a time in the whole process, and customers come in turns. However
 * many orders are given at once, a commit carries no more than one piece. Everything else that is written waits for one
 * piece at most, and an order of one customer does not wait for all orders of another.
 *
 * Every order waits for one piece at a time. So there are never more waiting than orders being carried out.
 */

import type { Partition } from '#src/domain/project.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';

export class SweepQueue {
  readonly #waiting = new RoundRobinQueue<() => Promise<void>>();
  #isBusy = false;

  /** Carries out a piece when its turn has come. A piece that fails does not end the turns of the others. */
  run<T>(partition: Partition, piece: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(partition, () => piece().then(resolve, reject));
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    for (let next = this.#waiting.next(); next !== undefined; next = this.#waiting.next()) await next();
    this.#isBusy = false;
  }
}

/**
 * Whether the store can make a write durable, asked for by probes that anybody may call. To find out costs a write, so
 * calls that come together share one check, and its answer serves every call of the second after it.
 */

import { type Store, StoreUnavailable } from '#src/ports/store.ts';
import type { Clock } from '#src/ports/system.ts';

/** How long an answer is given again, whether it was good or bad. */
const SHARED_MS = 1_000;

export class Readiness {
  readonly #store: Pick<Store, 'check'>;
  readonly #clock: Clock;
  #underWay: Promise<boolean> | null = null;
  #last: { readonly canStore: boolean; readonly at: number } | null = null;

  constructor(store: Pick<Store, 'check'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async canStore(): Promise<boolean> {
    if (this.#underWay !== null) return this.#underWay;
    const last = this.#last;
    const ageMs = last === null ? SHARED_MS : this.#clock.now() - last.at;
    // An answer from the future means that the clock was set back: it says nothing about its age.
    if (last !== null && ageMs >= 0 && ageMs < SHARED_MS) return last.canStore;
    this.#underWay = this.#check();
    return this.#underWay;
  }

  async #check(): Promise<boolean> {
    try {
      const canStore = await this.#attempt();
      this.#last = { canStore, at: this.#clock.now() };
      return canStore;
    } finally {
      this.#underWay = null;
    }
  }

  async #attempt(): Promise<boolean> {
    try {
      await this.#store.check(this.#clock.now());
      return true;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return false;
    }
  }
}

/**
 * Checks whether the store can make a write durable. Anyone may call the probe and each check costs a write. So
 * concurrent calls share one check, and its result is used for all calls of the next second.
 */
import { type Store, StoreUnavailable } from '#src/ports/store.ts';
import type { Clock } from '#src/ports/system.ts';

/** The time for which a result is reused, good or bad. */
const REUSED_MS = 1_000;

export class Readiness {
  readonly #store: Pick<Store, 'check'>;
  readonly #clock: Clock;
  #pending: Promise<boolean> | null = null;
  #last: { readonly canStore: boolean; readonly at: number } | null = null;

  constructor(store: Pick<Store, 'check'>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async canStore(): Promise<boolean> {
    if (this.#pending !== null) return this.#pending;
    const last = this.#last;
    const ageMs = last === null ? REUSED_MS : this.#clock.now() - last.at;
    // A result from the future means that the clock was set back, so its age is unknown.
    if (last !== null && ageMs >= 0 && ageMs < REUSED_MS) return last.canStore;
    this.#pending = this.#check();
    return this.#pending;
  }

  async #check(): Promise<boolean> {
    try {
      const canStore = await this.#canWrite();
      this.#last = { canStore, at: this.#clock.now() };
      return canStore;
    } finally {
      this.#pending = null;
    }
  }

  async #canWrite(): Promise<boolean> {
    try {
      await this.#store.check(this.#clock.now());
      return true;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return false;
    }
  }
}

/**
 * Deduplication. Sched sends a delivery again if it cannot know that it was received, because the answer was lost or
 * came too late. A receiver that must do its work only once stores the keys of the work it has done.
 *
 * - A key is in progress from `begin` until the work ends. It is done if the work succeeded. It is forgotten if the work
 *   failed, so that the next attempt does the work.
 * - `begin` must be atomic: if two attempts arrive at the same moment, only one gets `new`.
 * - A store that outlives its process must let keys in progress expire, a little later than the work ever takes. A
 *   process that dies during the work does not call `forget`.
 * - Keys that are done must be kept longer than the longest time between two attempts of a delivery. That time includes
 *   the wait before a retry, the time that a breaker is open, and the time that a schedule is paused.
 */
import { checkOptions } from './checks.ts';

/** The state of a key before `begin`. With `new`, the caller now has the key. */
export type BeginResult = 'new' | 'in_progress' | 'done';

/** Stores the keys of deliveries. Implement it on your database to share it between processes. */
export interface DeduplicationStore {
  /** Takes the key atomically if it is new. */
  begin(key: string): Promise<BeginResult>;
  /** Marks the key as done. */
  done(key: string): unknown;
  /** Releases the key, so that the next attempt can take it. */
  forget(key: string): unknown;
}

export interface MemoryStoreOptions {
  /** The time that a done key is kept. Default: 24 hours. */
  readonly ttlMs?: number | undefined;
  /** The maximum number of keys. Beyond it, the oldest done keys are dropped early. Default: 100,000. */
  readonly keysMax?: number | undefined;
  /** The clock, in Unix milliseconds. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

const TTL_MS = 86_400_000;
const KEYS_MAX = 100_000;

/** A store for a receiver that is a single process. The keys are lost when the process ends. */
export class MemoryStore implements DeduplicationStore {
  readonly #ttlMs: number;
  readonly #keysMax: number;
  readonly #now: () => number;
  readonly #inProgress = new Set<string>();
  /** The expiry time of each done key, in the order of these times. */
  readonly #done = new Map<string, number>();

  constructor(options?: MemoryStoreOptions) {
    const { ttlMs = TTL_MS, keysMax = KEYS_MAX, now = Date.now } = checkOptions('MemoryStore', options);
    this.#ttlMs = ttlMs;
    this.#keysMax = keysMax;
    this.#now = now;
    if (!(this.#ttlMs > 0)) throw new RangeError('ttlMs must be a number above 0.');
    if (!(this.#keysMax >= 1)) throw new RangeError('keysMax must be a number of at least 1.');
  }

  /** The number of keys in progress and done. */
  get size(): number {
    return this.#inProgress.size + this.#done.size;
  }

  async begin(key: string): Promise<BeginResult> {
    this.#expire();
    if (this.#done.has(key)) return 'done';
    // If the store is full of keys in progress, none can be dropped, and the caller must come again.
    if (this.#inProgress.has(key) || this.#inProgress.size >= this.#keysMax) return 'in_progress';
    this.#inProgress.add(key);
    this.#dropOldest();
    return 'new';
  }

  done(key: string): void {
    this.#inProgress.delete(key);
    this.#done.delete(key);
    this.#done.set(key, this.#now() + this.#ttlMs);
    this.#dropOldest();
  }

  forget(key: string): void {
    this.#inProgress.delete(key);
    this.#done.delete(key);
  }

  #expire(): void {
    const now = this.#now();
    for (const [key, until] of this.#done) {
      if (until > now) return;
      this.#done.delete(key);
    }
  }

  #dropOldest(): void {
    for (const key of this.#done.keys()) {
      if (this.size <= this.#keysMax) return;
      this.#done.delete(key);
    }
  }
}

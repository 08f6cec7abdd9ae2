/**
 * Deduplication. Sched sends a delivery again when it cannot know that it was received: the answer was lost,
 * or came too late. A receiver whose work must be done once keeps the key of what it has done.
 *
 * A key is begun before the work and is then in progress; it is done when the work succeeded, and forgotten
 * when it failed, so that the next attempt does it anew. `begin` must be atomic: of two attempts that come at the same
 * moment, one is told `new`. A store that outlives its process needs an end for keys in progress too, somewhat
 * longer than the work ever takes: a process that dies in between forgets nothing.
 *
 * Keys that are done are kept longer than the longest time between two attempts of a delivery: the wait before a
 * retry, the time that a breaker is open, and as long as a schedule is paused.
 */

export type BeginResult = 'new' | 'in_progress' | 'done';

export interface DeduplicationStore {
  /** Takes the key if nobody has it. */
  begin(key: string): Promise<BeginResult>;
  done(key: string): unknown;
  forget(key: string): unknown;
}

export interface MemoryStoreOptions {
  /** How long a key that is done is kept. Default: 24 hours. */
  readonly ttlMs?: number | undefined;
  /** At most so many keys; beyond, those that were done first go early. Default 100,000. */
  readonly keysMax?: number | undefined;
  /** Unix milliseconds. */
  readonly now?: (() => number) | undefined;
}

const TTL_MS = 86_400_000;
const KEYS_MAX = 100_000;

/** For a receiver that is one process: what it knows ends with it. */
export class MemoryStore implements DeduplicationStore {
  readonly #ttlMs: number;
  readonly #keysMax: number;
  readonly #now: () => number;
  readonly #inProgress = new Set<string>();
  /** Until when each is kept, in the order of that. */
  readonly #done = new Map<string, number>();

  constructor(options: MemoryStoreOptions = {}) {
    this.#ttlMs = options.ttlMs ?? TTL_MS;
    this.#keysMax = options.keysMax ?? KEYS_MAX;
    this.#now = options.now ?? Date.now;
    if (!(this.#ttlMs > 0)) throw new RangeError('ttlMs must be a number above 0.');
    if (!(this.#keysMax >= 1)) throw new RangeError('keysMax must be a number, 1 or more.');
  }

  get size(): number {
    return this.#inProgress.size + this.#done.size;
  }

  async begin(key: string): Promise<BeginResult> {
    this.#expire();
    if (this.#done.has(key)) return 'done';
    // So much at once that nothing can be let go: whoever asks has to come again.
    if (this.#inProgress.has(key) || this.#inProgress.size >= this.#keysMax) return 'in_progress';
    this.#inProgress.add(key);
    this.#makeRoom();
    return 'new';
  }

  done(key: string): void {
    this.#inProgress.delete(key);
    this.#done.delete(key);
    this.#done.set(key, this.#now() + this.#ttlMs);
    this.#makeRoom();
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

  #makeRoom(): void {
    for (const key of this.#done.keys()) {
      if (this.size <= this.#keysMax) return;
      this.#done.delete(key);
    }
  }
}

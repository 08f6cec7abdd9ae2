/**
 * A cache of expensive answers. Concurrent requests share one computation. An answer is cached the longer, the longer
 * it takes. While an expensive answer is computed again, the stale one is returned, so that an open page does not wait
 * (stale-while-revalidate).
 */
import { LRUCache } from 'lru-cache';
import type { Stopwatch } from '#src/ports/system.ts';

const FRESH_MS_MIN = 500;
/** An answer is fresh for this many times as long as it takes. So computing it uses only a small share of the time. */
const FRESH_RATIO = 50;
/** A request waits for a new answer that takes no longer, even if there is a stale one. */
const WAITED_FOR_MS = 50;
/** An answer older than this many times its fresh time is too old to be returned. */
const STALE_RATIO = 3;
const ANSWERS_MAX = 64;

interface CachedAnswer<T> {
  readonly answer: T;
  readonly requestedAt: number;
  readonly tookMs: number;
  /** How long the answer usually takes, which decides how long it stays fresh. */
  readonly usualMs: number;
}

export class RevalidatingCache<T> {
  readonly #stopwatch: Stopwatch;
  readonly #cached = new LRUCache<string, CachedAnswer<T>>({ max: ANSWERS_MAX });
  readonly #inFlight = new Map<string, Promise<T>>();

  constructor(stopwatch: Stopwatch) {
    this.#stopwatch = stopwatch;
  }

  async get(key: string, compute: () => Promise<T>): Promise<T> {
    const now = this.#stopwatch.elapsed();
    const cached = this.#cached.get(key);
    const ageMs = cached === undefined ? Infinity : now - cached.requestedAt;
    const freshMs = Math.max(FRESH_MS_MIN, FRESH_RATIO * (cached?.usualMs ?? 0));
    if (cached !== undefined && ageMs < freshMs) return cached.answer;
    const renewed = this.#inFlight.get(key) ?? this.#renew(key, compute, now);
    const canBeStale = cached !== undefined && cached.tookMs > WAITED_FOR_MS && ageMs < STALE_RATIO * freshMs;
    if (!canBeStale) return renewed;
    // The next request computes it again, and gets the error if that fails too.
    renewed.catch(() => {});
    return cached.answer;
  }

  async #renew(key: string, compute: () => Promise<T>, requestedAt: number): Promise<T> {
    const computing = compute();
    this.#inFlight.set(key, computing);
    try {
      const answer = await computing;
      const tookMs = this.#stopwatch.elapsed() - requestedAt;
      // One slow computation, such as the very first, says little. Two in a row do.
      const usualMs = Math.min(tookMs, this.#cached.get(key)?.tookMs ?? 0);
      this.#cached.set(key, { answer, requestedAt, tookMs, usualMs });
      return answer;
    } finally {
      this.#inFlight.delete(key);
    }
  }
}

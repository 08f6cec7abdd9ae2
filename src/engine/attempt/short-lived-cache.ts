/** A cache that keeps each read for a second, and shares a read in flight between callers. */
import type { LRUCache } from 'lru-cache';
import type { Instant } from '#src/domain/instant.ts';
import { largeCache } from '#src/ports/large-cache.ts';

const FRESH_MS = 1_000;

interface Read<Value> {
  readonly at: Instant;
  readonly value: Promise<Value>;
  /** The value, once the read has ended. */
  done: { readonly value: Value } | null;
}

export class ShortLivedCache<Key extends string | number, Value> {
  readonly #kept: LRUCache<Key, Read<Value>>;

  constructor(max: number) {
    this.#kept = largeCache(max);
  }

  get(key: Key, now: Instant, read: () => Promise<Value>): Promise<Value> {
    return (this.#known(key, now) ?? this.#begin(key, now, read)).value;
  }

  /** Null where the caller would have to wait. */
  peek(key: Key, now: Instant): { readonly value: Value } | null {
    return this.#known(key, now)?.done ?? null;
  }

  /** A read is outdated too when the clock was set. */
  #known(key: Key, now: Instant): Read<Value> | null {
    const known = this.#kept.get(key);
    return known !== undefined && Math.abs(now - known.at) < FRESH_MS ? known : null;
  }

  #begin(key: Key, now: Instant, read: () => Promise<Value>): Read<Value> {
    const begun: Read<Value> = { at: now, value: read(), done: null };
    this.#kept.set(key, begun);
    void this.#note(key, begun);
    return begun;
  }

  /** A read that failed is not kept, so the next caller reads again. */
  async #note(key: Key, read: Read<Value>): Promise<void> {
    try {
      read.done = { value: await read.value };
    } catch {
      if (this.#kept.peek(key) === read) this.#kept.delete(key);
    }
  }
}

/**
 * The gates of endpoints in memory. A gate that is not saved, or that is pinned, is in use and stays in memory. All
 * others are kept in an LRU cache: they can be read from the store again.
 */
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { type Gate, isForgettable } from '#src/domain/gate.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Slot } from '#src/domain/slot.ts';
import { slotOfEndpoint } from '#src/engine/cluster/slot-ownership.ts';
import { endpointRefKey } from '#src/ports/endpoint-cache.ts';
import { largeCache } from '#src/ports/large-cache.ts';

/** Gates in memory that are not in use. */
const SPARE_GATES_MAX = 20_000;

export interface CachedGate {
  readonly partition: Partition;
  readonly endpoint: EndpointKey;
  readonly gate: Gate;
  readonly isSaved: boolean;
  /** The instant at which a person reset the breaker, or null. */
  readonly resetAt: Instant | null;
}

type Entry = { -readonly [Field in keyof CachedGate]: CachedGate[Field] };

/** Invariant: a gate in use is never evicted, and the gate in memory is never older than the stored one. */
export class GateCache {
  /** Gates in use, the one changed longest ago first. */
  readonly #inUse = new Map<string, Entry>();
  readonly #spare = largeCache<string, Entry>(SPARE_GATES_MAX);
  /** How often each gate is pinned, also gates that are not in memory yet. */
  readonly #pins = new Map<string, number>();

  get(ref: EndpointRef): CachedGate | undefined {
    return this.#find(endpointRefKey(ref));
  }

  #find(key: string): Entry | undefined {
    return this.#inUse.get(key) ?? this.#spare.get(key);
  }

  *values(): Generator<CachedGate> {
    yield* this.#inUse.values();
    yield* this.#spare.values();
  }

  /** The gates that are not saved yet, the one changed longest ago first. */
  unsaved(): readonly CachedGate[] {
    return [...this.#inUse.values()].filter(({ isSaved }) => !isSaved);
  }

  /** Adds a gate as it was read from the store. */
  addSaved({ partition, endpoint }: EndpointRef, gate: Gate): void {
    this.#place(endpointRefKey({ partition, endpoint }), {
      partition,
      endpoint,
      gate,
      isSaved: true,
      resetAt: null,
    });
  }

  /** Changes or adds a gate that is not saved yet. */
  change({ partition, endpoint }: EndpointRef, gate: Gate): void {
    const key = endpointRefKey({ partition, endpoint });
    const entry = this.#find(key) ?? { partition, endpoint, gate, isSaved: false, resetAt: null };
    entry.gate = gate;
    entry.isSaved = false;
    this.#inUse.delete(key);
    this.#place(key, entry);
  }

  noteReset(ref: EndpointRef, resetAt: Instant): void {
    const entry = this.#find(endpointRefKey(ref));
    if (entry !== undefined) entry.resetAt = resetAt;
  }

  /** This state of the gate is stored. The gate may have changed again, or may have been removed, meanwhile. */
  markSaved(ref: EndpointRef, stored: Gate): void {
    const key = endpointRefKey(ref);
    const entry = this.#inUse.get(key);
    if (entry === undefined || entry.gate !== stored) return;
    entry.isSaved = true;
    this.#place(key, entry);
  }

  /** Keeps the gate in memory until it was unpinned as often. */
  pin(ref: EndpointRef): void {
    const key = endpointRefKey(ref);
    this.#pins.set(key, (this.#pins.get(key) ?? 0) + 1);
    const entry = this.#spare.peek(key);
    if (entry !== undefined) this.#place(key, entry);
  }

  unpin(ref: EndpointRef): void {
    const key = endpointRefKey(ref);
    const left = (this.#pins.get(key) ?? 1) - 1;
    if (left > 0) this.#pins.set(key, left);
    else this.#pins.delete(key);
    const entry = this.#inUse.get(key);
    if (entry !== undefined) this.#place(key, entry);
  }

  /** Removes spare gates that decide as a new gate would. */
  evictForgettable(now: Instant): void {
    const keys: string[] = [];
    for (const [key, { gate }] of this.#spare.entries()) if (isForgettable(gate, now)) keys.push(key);
    for (const key of keys) this.#spare.delete(key);
  }

  /** Removes the gates of these slots, saved or not, in use or not. */
  removeSlots(slots: ReadonlySet<Slot>): readonly CachedGate[] {
    const removed = [...this.values()].filter((entry) => slots.has(slotOfEndpoint(entry)));
    for (const entry of removed) {
      const key = endpointRefKey(entry);
      this.#inUse.delete(key);
      this.#spare.delete(key);
    }
    return removed;
  }

  #place(key: string, entry: Entry): void {
    if (entry.isSaved && !this.#pins.has(key)) {
      this.#inUse.delete(key);
      this.#spare.set(key, entry);
    } else {
      this.#spare.delete(key);
      this.#inUse.set(key, entry);
    }
  }
}

/**
 * The prefetched deliveries. They are bounded in number and bytes, and each customer has a share. They are bounded in
 * time too, because they hold secrets.
 *
 * A delivery that is still here a second after its instant waits for its endpoint. It is kept while there is room,
 * because a burst may take seconds. Ages are counted in rounds of a timer, because the clock may be set back.
 */
import { FairShareLimit } from '#src/domain/fair-share-limit.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { CandidateDelivery } from '#src/engine/delivery-stages.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import type { EngineLoad } from '#src/engine/queue/engine-load.ts';
import type { Timers } from '#src/ports/system.ts';

export const PREFETCHED_MAX = 30_000;
const BYTES_MAX = 64 * 1_048_576;
/** A customer may hold this many times what is free. */
export const CUSTOMER_SHARE = 4;
/** The share of one customer while several share the process. It covers a second or two of sending. */
export const PREFETCHED_OF_EACH_MAX = 4_000;
/** Estimated bytes of a loaded delivery, its URL and its draft excepted. */
const LOADED_BYTES = 2_048;
const URL_COPIES = 5;
const ROUND_MS = 1_000;
/** A delivery is read two seconds before its instant at most, and dropped at this age. */
const AGE_ROUNDS_MAX = 10;
/** The same where there was no room for more. */
const FULL_AGE_ROUNDS_MAX = 4;

export interface PrefetchCacheDependencies {
  readonly timers: Timers;
  readonly gates: Pick<Gates, 'unpin'>;
  readonly load: Pick<EngineLoad, 'isShared'>;
}

interface Entry {
  readonly candidate: CandidateDelivery;
  readonly bytes: number;
  /** The round in which it was added. */
  readonly round: number;
}

export class PrefetchCache {
  readonly #dependencies: PrefetchCacheDependencies;
  /** The oldest entry comes first. */
  readonly #entries = new Map<DeliveryId, Entry>();
  readonly #counts = new FairShareLimit(PREFETCHED_MAX, CUSTOMER_SHARE);
  readonly #bytes = new FairShareLimit(BYTES_MAX, CUSTOMER_SHARE);
  /** Whether room was wanting in this round. */
  #wasFull = false;
  #round = 0;
  #cancelRound: (() => void) | null = null;

  constructor(dependencies: PrefetchCacheDependencies) {
    this.#dependencies = dependencies;
  }

  hasRoom(): boolean {
    return this.#noteRoom(!this.#counts.isFull && !this.#bytes.isFull);
  }

  hasRoomFor(partition: Partition): boolean {
    const hasShare = this.#counts.heldBy(partition) >= PREFETCHED_OF_EACH_MAX;
    const isOverShare = hasShare && this.#dependencies.load.isShared;
    const hasRoom = this.#counts.canAcquire(partition) && this.#bytes.canAcquire(partition);
    return this.#noteRoom(hasRoom && !isOverShare);
  }

  #noteRoom(hasRoom: boolean): boolean {
    this.#wasFull ||= !hasRoom;
    return hasRoom;
  }

  get(id: DeliveryId): CandidateDelivery | undefined {
    return this.#entries.get(id)?.candidate;
  }

  add(candidate: CandidateDelivery): void {
    const { id, partition } = candidate.due;
    const bytes = bytesOf(candidate);
    this.#entries.set(id, { candidate, bytes, round: this.#round });
    this.#counts.acquire(partition, 1);
    this.#bytes.acquire(partition, bytes);
    this.#cancelRound ??= this.#dependencies.timers.after(ROUND_MS, () => this.#nextRound());
  }

  /** Removes an entry and keeps the read of its gate open for the caller. */
  remove(id: DeliveryId): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    const { partition } = entry.candidate.due;
    this.#entries.delete(id);
    this.#counts.release(partition, 1);
    this.#bytes.release(partition, entry.bytes);
  }

  /** Removes an entry and ends the read of its gate. */
  drop(id: DeliveryId): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.remove(id);
    this.#dependencies.gates.unpin([entry.candidate.due]);
  }

  stop(): void {
    this.#cancelRound?.();
    for (const id of this.#entries.keys()) this.drop(id);
  }

  #nextRound(): void {
    this.#cancelRound = null;
    this.#round++;
    const roundsMax = this.#wasFull ? FULL_AGE_ROUNDS_MAX : AGE_ROUNDS_MAX;
    this.#wasFull = false;
    for (const [id, { round }] of this.#entries) {
      if (this.#round - round < roundsMax) break;
      this.drop(id);
    }
    if (this.#entries.size === 0) return;
    this.#cancelRound = this.#dependencies.timers.after(ROUND_MS, () => this.#nextRound());
  }
}

/** An estimate of the memory: a URL may be long, and a few copies of it are kept. */
function bytesOf({ loaded, draft }: CandidateDelivery): number {
  const own = LOADED_BYTES + URL_COPIES * loaded.delivery.target.url.length;
  if (draft?.kind !== 'draft') return own;
  const headers = draft.headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return own + headers + (draft.body?.length ?? 0);
}

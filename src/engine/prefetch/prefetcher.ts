/**
 * Reads deliveries a moment before their instant, drafts their requests and asks for connections. At the instant they
 * only have to be judged, claimed, signed and sent. The payload of a large delivery is not prefetched.
 *
 * A prefetched delivery may be outdated at its instant. Its claim is conditional on the revision that was read, so a
 * change in between wins and the delivery is read again. A gate in memory counts for more than the one that was read,
 * and is kept in memory until then. An endpoint profile may change without a trace in the delivery, so for a delivery
 * with a profile only the draft is used. A delivery that was read in another epoch of its slot is dropped.
 *
 * Nothing waits for the prefetcher. It works in slices: small ones while other work is near, none while the engine is
 * busy. A delivery that is not prefetched is read when it is due. Customers are served round robin.
 *
 * If the store works by customer, a slice is of one customer, and it is large also while the engine is busy: the
 * same deliveries would take it more queries when they are due.
 */

import type { Delivery } from '#src/domain/delivery.ts';
import { isWaiting } from '#src/domain/delivery-lifecycle.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { FairShareLimit } from '#src/domain/fair-share-limit.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import { type RequestBuilder, SMALL_PAYLOAD_BYTES_MAX } from '#src/engine/attempt/request-builder.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { CandidateDelivery } from '#src/engine/delivery-stages.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import type { EngineLoad } from '#src/engine/queue/engine-load.ts';
import { cachedEndpointKey } from '#src/ports/endpoint-cache.ts';
import type { LoadedDelivery } from '#src/ports/store.ts';
import type { Timers } from '#src/ports/system.ts';
import { ConnectionWarmer } from './connection-warmer.ts';
import { CUSTOMER_SHARE, PREFETCHED_MAX, PrefetchCache } from './prefetch-cache.ts';

/** Deliveries that are read in one slice. */
const SLICE_MAX = 128;
/** The same while a delivery is due soon, or others are being claimed. */
const SMALL_SLICE_MAX = 8;
/** One slice checks at most this many entries, including those that are not wanted any more. */
const CHECKED_MAX = 1_000;
const PAUSE_MS = 0;
/** A store that works by customer is asked for each of them once in this time, so that a slice has several deliveries. */
const GATHERING_MS = 200;
/** The pause while the engine is busy or the cache is full. */
const BUSY_PAUSE_MS = 20;

export interface PrefetcherDependencies extends Pick<EngineDependencies, 'store' | 'egress' | 'clock'> {
  /** Timers for work that can wait: it slows down while several customers share the process. */
  readonly timers: Timers;
  readonly ownership: SlotOwnership;
  readonly gates: Gates;
  readonly builder: RequestBuilder;
  readonly load: Pick<EngineLoad, 'level' | 'isShared'>;
}

export class Prefetcher {
  readonly #dependencies: PrefetcherDependencies;
  readonly #warmer: ConnectionWarmer;
  readonly #cache: PrefetchCache;
  readonly #wanted = new Map<DeliveryId, DueDelivery>();
  /** The wanted deliveries, and some that are not wanted any more. */
  readonly #waiting = new RoundRobinQueue<DueDelivery>();
  readonly #waitingShares = new FairShareLimit(PREFETCHED_MAX, CUSTOMER_SHARE);
  #cancelSlice: (() => void) | null = null;
  #isStopped = false;

  constructor(dependencies: PrefetcherDependencies) {
    this.#dependencies = dependencies;
    this.#warmer = new ConnectionWarmer(dependencies.egress, dependencies.gates);
    this.#cache = new PrefetchCache(dependencies);
  }

  /** The delivery will be due in the next moments. */
  want(due: DueDelivery): void {
    const cached = this.#cache.get(due.id);
    if (cached?.due.dueAt === due.dueAt || this.#isStopped) return;
    if (this.#wanted.get(due.id)?.dueAt === due.dueAt || !this.#waitingShares.canAcquire(due.partition))
      return;
    this.#cache.drop(due.id);
    this.#wanted.set(due.id, due);
    this.#enqueue(due);
    if (this.#cancelSlice === null) this.#sliceIn(this.#pauseMs);
  }

  /** The delivery was changed, so what was read is outdated. */
  forget(id: DeliveryId): void {
    this.#wanted.delete(id);
    this.#cache.drop(id);
  }

  /** Hands over a prefetched delivery. The caller ends the read of its gate by `Gates.unpin`. */
  take(due: DueDelivery): CandidateDelivery | null {
    this.#wanted.delete(due.id);
    const cached = this.#cache.get(due.id);
    if (cached === undefined) return null;
    const isSame = cached.due.dueAt === due.dueAt && cached.due.endpoint === due.endpoint;
    if (!isSame || this.#dependencies.ownership.epochOf(due) !== cached.epoch) {
      this.#cache.drop(due.id);
      return null;
    }
    this.#cache.remove(due.id);
    return cached;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelSlice?.();
    this.#wanted.clear();
    this.#waiting.clear();
    this.#cache.stop();
  }

  #enqueue(due: DueDelivery): void {
    this.#waitingShares.acquire(due.partition, 1);
    this.#waiting.add(due.partition, due);
  }

  /** The next delivery that is still wanted; null where there is none among the first entries. */
  #nextWanted(customer: Partition | null = null): DueDelivery | null {
    for (let checked = 0; checked < CHECKED_MAX; checked++) {
      const due = customer === null ? this.#waiting.next() : this.#waiting.nextOf(customer);
      if (due === undefined) return null;
      this.#waitingShares.release(due.partition, 1);
      if (this.#wanted.get(due.id) === due) return due;
    }
    return null;
  }

  #sliceIn(ms: number): void {
    this.#cancelSlice = this.#dependencies.timers.after(ms, () => void this.#slice());
  }

  async #slice(): Promise<void> {
    const {
      load: { level },
      store: { worksByCustomer },
    } = this.#dependencies;
    const hasRoom = this.#cache.hasRoom();
    const mayRead = hasRoom && (worksByCustomer || level !== 'busy');
    if (mayRead) {
      const dues = this.#next(worksByCustomer || level === 'idle' ? SLICE_MAX : SMALL_SLICE_MAX);
      if (dues.length > 0) await this.#prefetch(dues);
    } else this.#dropDue();
    if (!this.#waiting.isEmpty) this.#sliceIn(mayRead ? this.#pauseMs : BUSY_PAUSE_MS);
    else this.#cancelSlice = null;
  }

  /** The pause before the next slice. */
  get #pauseMs(): number {
    const { worksByCustomer } = this.#dependencies.store;
    return worksByCustomer ? GATHERING_MS / Math.max(this.#waiting.customers, 1) : PAUSE_MS;
  }

  /** A delivery that is due already, or whose customer has its share, is left to the claimer. */
  #next(limit: number): readonly DueDelivery[] {
    const { clock, store } = this.#dependencies;
    const now = clock.now();
    const dues: DueDelivery[] = [];
    let customer: Partition | null = null;
    for (let checked = 0; checked < CHECKED_MAX && dues.length < limit; checked++) {
      const due = this.#nextWanted(customer);
      if (due === null) break;
      if (store.worksByCustomer) customer = due.partition;
      this.#wanted.delete(due.id);
      if (due.dueAt > now && this.#cache.hasRoomFor(due.partition)) dues.push(due);
    }
    return dues;
  }

  /** Deliveries that are due already are left to the claimer; the others wait on. */
  #dropDue(): void {
    const now = this.#dependencies.clock.now();
    for (let left = Math.min(this.#waiting.size, CHECKED_MAX); left > 0; left--) {
      const due = this.#nextWanted();
      if (due === null) return;
      if (due.dueAt > now) this.#enqueue(due);
      else this.#wanted.delete(due.id);
    }
  }

  async #prefetch(dues: readonly DueDelivery[]): Promise<void> {
    const { gates } = this.#dependencies;
    const kept = new Set<DueDelivery>();
    gates.pin(dues);
    try {
      for (const candidate of await this.#read(dues)) {
        if (this.#isStopped || this.#cache.get(candidate.due.id) !== undefined) continue;
        kept.add(candidate.due);
        this.#cache.add(candidate);
        this.#warmer.expect(candidate);
      }
    } catch {
      // The claimer reads these deliveries at their instant, and reports what is wrong.
    }
    gates.unpin(dues.filter((due) => !kept.has(due)));
    this.#warmer.warm();
  }

  /** Deliveries that have changed meanwhile or cannot be sent are left out. */
  async #read(dues: readonly DueDelivery[]): Promise<readonly CandidateDelivery[]> {
    const { store, builder, ownership } = this.#dependencies;
    const epochs = dues.map((due) => ownership.epochOf(due));
    const allLoaded = await store.loadDeliveries(dues);
    const found = dues.flatMap((due, index) => {
      const loaded = allLoaded[index] ?? null;
      const epoch = epochs[index] ?? null;
      return loaded === null || epoch === null || !isUnchanged(due, loaded) ? [] : [{ due, epoch, loaded }];
    });
    const small = found.map(({ loaded }) => loaded.delivery).filter(isSmall);
    const drafts = await builder.drafts(small);
    const draftOf = new Map(small.map(({ id }, index) => [id, drafts[index]]));
    return found.flatMap((one) => {
      const draft = isSmall(one.loaded.delivery) ? draftOf.get(one.due.id) : null;
      const isUsable = draft !== undefined && draft?.kind !== 'unsendable';
      return isUsable ? [{ ...one, draft, isPrefetched: true }] : [];
    });
  }
}

function isUnchanged(due: DueDelivery, { delivery }: LoadedDelivery): boolean {
  const isSameTime = delivery.dueAt === due.dueAt && isWaiting(delivery.status);
  return isSameTime && cachedEndpointKey(delivery.target) === due.endpoint;
}

function isSmall({ payloadBytes }: Delivery): boolean {
  return payloadBytes <= SMALL_PAYLOAD_BYTES_MAX;
}

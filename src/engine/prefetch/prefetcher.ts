/**
 * Makes ready what is due in the next moments, in quiet time: its work is read, its request drafted, a connection
 * asked for. At its instant there is left to judge it, to claim it, to sign it and to send it. Of a delivery with a
 * large payload only the work is read: the payload is, when it is due (`body-loader.ts`).
 *
 * What was read may be old by then. The claim is conditional on the revision that was read, so whoever changed
 * the delivery in between wins, and it is read again. The gate in memory counts for more than the one read here,
 * and is kept in memory until then. The policies of a profile may be edited without a trace in the delivery: of
 * one that goes to a profile only the draft is good at its instant. Of another epoch of its slot, what was read
 * does not count at all.
 *
 * Nothing waits for this. It works in slices, small ones where something else is about to be due, and none while
 * as much is being claimed as may be; what is not ready is read when it is due. Customers are served in turns.
 *
 * What is ready is bounded in number and bytes, of which each customer has a share. It is bounded in time too: it holds
 * secrets. A delivery that is still here a second after its instant waits for its endpoint. It is kept while there is
 * room, since a burst may take seconds, and makes room within a second. Ages are counted in rounds of a timer: the clock
 * may be set back.
 */

import { CustomerShares } from '#src/domain/customer-shares.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import { isWaiting } from '#src/domain/delivery-life.ts';
import type { DueDelivery } from '#src/domain/due.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import {
  type Draft,
  type RequestBuilder,
  SMALL_PAYLOAD_BYTES_MAX,
} from '#src/engine/attempt/request-builder.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Gates } from '#src/engine/gate/gates.ts';
import type { LoadedDelivery } from '#src/ports/store.ts';
import { ConnectionWarmer } from './connection-warmer.ts';

export const READY_MAX = 30_000;
/** Bytes of everything that is ready. */
const READY_BYTES_MAX = 64 * 1_048_576;
const WORK_BYTES = 2_048;
const URL_COPIES = 5;
/** A customer may hold so many times what is free. */
const CUSTOMER_SHARE = 4;
/** Share of one customer while several share the process: about what is sent of it in a second or two. */
export const READY_OF_EACH_MAX = 4_000;
/** Of the ages of what is ready. */
const ROUND_MS = 1_000;
/** So old it is let go of: it was read two seconds before its instant at most. */
const AGE_ROUNDS_MAX = 10;
/** The same where there was no room for more. */
const CROWDED_AGE_ROUNDS_MAX = 4;
const SLICE_MAX = 128;
/** Where something is due soon, or being claimed. */
const SMALL_SLICE_MAX = 8;
/** In one slice, and each time those that are not wanted any more are passed over. */
const LOOKED_AT_MAX = 1_000;
const PAUSE_MS = 0;
/** While as much is being claimed as may be. */
const BUSY_PAUSE_MS = 20;

/** How much else there is to do. */
export type Load = 'calm' | 'some' | 'busy';

export interface Ready {
  readonly due: DueDelivery;
  /** Of its slot, in which it was read. */
  readonly epoch: number;
  readonly work: LoadedDelivery;
  /** Null where the payload is large. */
  readonly draft: Draft | null;
  /** In which it was made ready. */
  readonly round: number;
}

export class Prefetcher {
  readonly #dependencies: EngineDependencies;
  readonly #ownership: SlotOwnership;
  readonly #gates: Gates;
  readonly #load: () => Load;
  readonly #isShared: () => boolean;
  readonly #builder: RequestBuilder;
  readonly #warmth: ConnectionWarmer;
  readonly #wanted = new Map<DeliveryId, DueDelivery>();
  /** Those that are wanted, and some that are not any more. */
  readonly #turns = new RoundRobinQueue<DueDelivery>();
  /** Places in these turns. */
  readonly #places = new CustomerShares(READY_MAX, CUSTOMER_SHARE);
  /** The oldest first. */
  readonly #ready = new Map<DeliveryId, Ready>();
  readonly #counts = new CustomerShares(READY_MAX, CUSTOMER_SHARE);
  readonly #bytes = new CustomerShares(READY_BYTES_MAX, CUSTOMER_SHARE);
  /** Whether room was wanting in this round. */
  #wasFull = false;
  #round = 0;
  #isSliceComing = false;
  #callOffSlice: () => void = () => {};
  #callOffRound: (() => void) | null = null;
  #isStopped = false;

  constructor(
    dependencies: EngineDependencies,
    ownership: SlotOwnership,
    gates: Gates,
    builder: RequestBuilder,
    load: () => Load,
    isShared: () => boolean,
  ) {
    this.#dependencies = dependencies;
    this.#ownership = ownership;
    this.#gates = gates;
    this.#load = load;
    this.#isShared = isShared;
    this.#builder = builder;
    this.#warmth = new ConnectionWarmer(dependencies.egress, gates);
  }

  /** It will be due in the next moments. */
  want(due: DueDelivery): void {
    const ready = this.#ready.get(due.id);
    if (ready?.due.dueAt === due.dueAt || this.#isStopped) return;
    if (this.#wanted.get(due.id)?.dueAt === due.dueAt || !this.#places.hasRoom(due.partition)) return;
    if (ready !== undefined) this.#drop(ready);
    this.#wanted.set(due.id, due);
    this.#join(due);
    if (!this.#isSliceComing) this.#sliceIn(PAUSE_MS);
  }

  #join(due: DueDelivery): void {
    this.#places.hold(due.partition, 1);
    this.#turns.add(due.partition, due);
  }

  /** The next that is still wanted, where there is one among the first few. */
  #nextWanted(): DueDelivery | null {
    for (let looked = 0; looked < LOOKED_AT_MAX; looked++) {
      const due = this.#turns.next();
      if (due === undefined) return null;
      this.#places.release(due.partition, 1);
      if (this.#wanted.get(due.id) === due) return due;
    }
    return null;
  }

  /** It was changed: what was read is old. */
  forget(id: DeliveryId): void {
    this.#wanted.delete(id);
    const ready = this.#ready.get(id);
    if (ready !== undefined) this.#drop(ready);
  }

  /** It is due: hands over what is ready, with the reading of its gate, which `Gates.readEnds` ends. */
  take(due: DueDelivery): Ready | null {
    this.#wanted.delete(due.id);
    const ready = this.#ready.get(due.id);
    if (ready === undefined) return null;
    const isSame = ready.due.dueAt === due.dueAt && ready.due.endpoint === due.endpoint;
    if (!isSame || this.#ownership.epochOf(due) !== ready.epoch) {
      this.#drop(ready);
      return null;
    }
    this.#remove(ready);
    return ready;
  }

  stop(): void {
    this.#isStopped = true;
    this.#callOffSlice();
    this.#callOffRound?.();
    this.#wanted.clear();
    this.#turns.clear();
    for (const ready of this.#ready.values()) this.#drop(ready);
  }

  #sliceIn(ms: number): void {
    this.#isSliceComing = true;
    this.#callOffSlice = this.#dependencies.timers.after(ms, () => void this.#slice());
  }

  async #slice(): Promise<void> {
    const load = this.#load();
    const hasRoom = !this.#counts.isFull && !this.#bytes.isFull;
    this.#wasFull ||= !hasRoom;
    if (load !== 'busy' && hasRoom) {
      const dues = this.#next(load === 'calm' ? SLICE_MAX : SMALL_SLICE_MAX);
      if (dues.length > 0) await this.#make(dues);
    } else this.#passOver();
    if (!this.#turns.isEmpty) this.#sliceIn(load === 'busy' || !hasRoom ? BUSY_PAUSE_MS : PAUSE_MS);
    else this.#isSliceComing = false;
  }

  #next(limit: number): readonly DueDelivery[] {
    const now = this.#dependencies.clock.now();
    const dues: DueDelivery[] = [];
    for (let looked = 0; looked < LOOKED_AT_MAX && dues.length < limit; looked++) {
      const due = this.#nextWanted();
      if (due === null) break;
      this.#wanted.delete(due.id);
      // A delivery that is due already, or whose customer has its share, is read by whoever fires it.
      if (due.dueAt > now && this.#hasRoom(due)) dues.push(due);
      else this.#wasFull ||= due.dueAt > now;
    }
    return dues;
  }

  /** What is due already is read by whoever fires it; the others wait on. */
  #passOver(): void {
    const now = this.#dependencies.clock.now();
    for (let left = Math.min(this.#turns.size, LOOKED_AT_MAX); left > 0; left--) {
      const due = this.#nextWanted();
      if (due === null) return;
      if (due.dueAt > now) this.#join(due);
      else this.#wanted.delete(due.id);
    }
  }

  #hasRoom({ partition }: DueDelivery): boolean {
    if (this.#counts.heldBy(partition) >= READY_OF_EACH_MAX && this.#isShared()) return false;
    return this.#counts.hasRoom(partition) && this.#bytes.hasRoom(partition);
  }

  async #make(dues: readonly DueDelivery[]): Promise<void> {
    const epochs = dues.map((due) => this.#ownership.epochOf(due));
    const taken = new Set<DueDelivery>();
    this.#gates.pin(dues);
    try {
      const works = await this.#dependencies.store.loadDeliveries(dues);
      const found = dues.flatMap((due, index) => {
        const work = works[index] ?? null;
        const epoch = epochs[index] ?? null;
        return work === null || epoch === null || !isAsSeen(due, work) ? [] : [{ due, epoch, work }];
      });
      const small = found.map(({ work }) => work.delivery).filter(isSmall);
      const drafts = await this.#builder.drafts(small);
      const draftOf = new Map(small.map(({ id }, index) => [id, drafts[index]]));
      for (const read of found) {
        const draft = isSmall(read.work.delivery) ? draftOf.get(read.due.id) : null;
        if (draft === undefined || draft?.kind === 'unsendable') continue;
        if (this.#isStopped || this.#ready.has(read.due.id)) continue;
        taken.add(read.due);
        this.#keep({ ...read, draft, round: this.#round });
      }
    } catch {
      // Whoever fires them will find out.
    }
    this.#gates.unpin(dues.filter((due) => !taken.has(due)));
    this.#warmth.rise();
  }

  #keep(ready: Ready): void {
    this.#ready.set(ready.due.id, ready);
    this.#counts.hold(ready.due.partition, 1);
    this.#bytes.hold(ready.due.partition, bytesOf(ready));
    this.#warmth.expect(ready);
    this.#callOffRound ??= this.#dependencies.timers.after(ROUND_MS, () => this.#nextRound());
  }

  #drop(ready: Ready): void {
    this.#remove(ready);
    this.#gates.unpin([ready.due]);
  }

  #remove(ready: Ready): void {
    this.#ready.delete(ready.due.id);
    this.#counts.release(ready.due.partition, 1);
    this.#bytes.release(ready.due.partition, bytesOf(ready));
  }

  #nextRound(): void {
    this.#callOffRound = null;
    this.#round++;
    const roundsMax = this.#wasFull ? CROWDED_AGE_ROUNDS_MAX : AGE_ROUNDS_MAX;
    this.#wasFull = false;
    for (const ready of this.#ready.values()) {
      if (this.#round - ready.round < roundsMax) break;
      this.#drop(ready);
    }
    if (this.#ready.size === 0) return;
    this.#callOffRound = this.#dependencies.timers.after(ROUND_MS, () => this.#nextRound());
  }
}

function isAsSeen(due: DueDelivery, { delivery }: LoadedDelivery): boolean {
  const isSameTime = delivery.dueAt === due.dueAt && isWaiting(delivery.status);
  return isSameTime && endpointKeyOf(delivery.target) === due.endpoint;
}

function isSmall({ payloadBytes }: Delivery): boolean {
  return payloadBytes <= SMALL_PAYLOAD_BYTES_MAX;
}

/** About what it takes in memory: its work, and a few copies of the URL, which may be long. */
function bytesOf({ work, draft }: Ready): number {
  const own = WORK_BYTES + URL_COPIES * work.delivery.target.url.length;
  if (draft === null) return own;
  const headers = draft.headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return own + headers + (draft.body?.length ?? 0);
}

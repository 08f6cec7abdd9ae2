/**
 * The deliveries that this node has to send, in memory: `upcoming` until their instant, then `ready` in the queue of
 * their endpoint until a batch takes them. Scanner, claimer, attempt runner and recovery share it, and it calls none
 * of them.
 *
 * It remembers nothing that the store does not know. A scan finds again what was dropped, because a queue was full or
 * the store was away. In a cluster a slot may move to another node at any time, so ownership is checked again whenever
 * a delivery goes from one step to the next.
 */
import { type DueDelivery, isOverdue } from '#src/domain/due-delivery.ts';
import type { Partition } from '#src/domain/project.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { Prefetcher } from '#src/engine/prefetch/prefetcher.ts';
import type { Peers } from '#src/ports/hints.ts';
import type { Clock } from '#src/ports/system.ts';
import type { DueQueue } from './due-queue.ts';
import type { FairQueue, Punctuality } from './fair-queue.ts';
import type { Waker } from './waker.ts';

export interface WorkQueueDependencies {
  readonly clock: Clock;
  /** How far ahead the scans look. */
  readonly aheadMs: number;
  readonly ownership: Pick<SlotOwnership, 'epochOf'>;
  readonly peers: Peers;
  readonly upcoming: DueQueue;
  readonly ready: FairQueue;
  readonly prefetcher: Pick<Prefetcher, 'want' | 'forget'>;
  readonly waker: Waker;
}

export class WorkQueue {
  readonly #dependencies: WorkQueueDependencies;
  #state: 'new' | 'open' | 'closed' = 'new';

  constructor(dependencies: WorkQueueDependencies) {
    this.#dependencies = dependencies;
  }

  open(): void {
    this.#state = 'open';
  }

  /** No further delivery is taken in; those that hold permits go on. */
  close(): void {
    this.#state = 'closed';
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** A hint: the delivery has this due instant now. Null means that it no longer waits. */
  due(due: DueDelivery | null): void {
    if (due === null) return;
    this.#dependencies.prefetcher.forget(due.id);
    if (!this.#isSoon(due)) return;
    if (this.#isOurs(due)) this.#expect(due);
    else this.#dependencies.peers.due(due);
  }

  /** The same from another node. It is not passed on. */
  dueByPeer(due: DueDelivery): void {
    this.#dependencies.prefetcher.forget(due.id);
    if (this.#isSoon(due) && this.#isOurs(due)) this.#expect(due);
  }

  #expect(due: DueDelivery): void {
    if (this.#state === 'open' && this.addUpcoming(due)) this.#dependencies.waker.noLaterThan(due.dueAt);
  }

  hasRoomForUpcoming(partition: Partition): boolean {
    return this.#dependencies.upcoming.hasRoom(partition);
  }

  /** False when the customer has no room for more. */
  addUpcoming(due: DueDelivery): boolean {
    const { clock, upcoming, prefetcher } = this.#dependencies;
    const isAdded = upcoming.add(due);
    if (isAdded && due.dueAt > clock.now()) prefetcher.want(due);
    return isAdded;
  }

  get hasRoomForOverdue(): boolean {
    return this.#dependencies.ready.hasRoom;
  }

  /** False when the delivery is known already or finds no room. */
  addReady(due: DueDelivery): boolean {
    return this.#dependencies.ready.add(due, this.#punctualityOf(due));
  }

  /** Up to `limit` upcoming deliveries whose instant has come become ready. */
  moveDue(limit: number): void {
    const { clock, upcoming } = this.#dependencies;
    for (const due of upcoming.take(clock.now(), limit)) if (this.#isOurs(due)) this.addReady(due);
  }

  /** Takes up to `limit` deliveries, which hold their permits until they are released. */
  take(punctuality: Punctuality, limit: number, ofEachMax: number): readonly DueDelivery[] {
    return this.#dependencies.ready.take(punctuality, limit, ofEachMax);
  }

  /** Whether a delivery that holds permits was not taken up in time. */
  wasOverdue(due: DueDelivery): boolean {
    return this.#dependencies.ready.wasOverdue(due);
  }

  /** The store knows the delivery's new state, so a scan finds it again only if it waits again. */
  forget(due: DueDelivery): void {
    this.#dependencies.ready.forget(due);
  }

  /** Gives the permits of a delivery back. */
  release(due: DueDelivery): void {
    const { ready, waker } = this.#dependencies;
    ready.release(due);
    waker.soon();
  }

  /** Deliveries may have become ready. */
  wake(): void {
    this.#dependencies.waker.soon();
  }

  #isSoon({ dueAt }: DueDelivery): boolean {
    const { clock, aheadMs } = this.#dependencies;
    return dueAt <= clock.now() + aheadMs;
  }

  #isOurs(due: DueDelivery): boolean {
    return this.#dependencies.ownership.epochOf(due) !== null;
  }

  #punctualityOf({ dueAt }: DueDelivery): Punctuality {
    return isOverdue(dueAt, this.#dependencies.clock.now()) ? 'overdue' : 'in_time';
  }
}

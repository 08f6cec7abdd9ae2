/**
 * Slot ownership: which endpoints this process dispatches. Alone on its store it dispatches all of them; in a cluster,
 * those in the slots that it owns.
 *
 * Ownership may change at any moment between two steps. So it is asked again after every wait, and every write carries
 * the fence, which the store checks. Every change of owner begins a new epoch of the slot: the epoch is the fencing
 * token.
 */
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import { type Fence, type Slot, slotOf, UPKEEP_SLOT } from '#src/domain/slot.ts';
import type { ClusterDependencies } from '#src/engine/dependencies.ts';

export interface SlotOwnership {
  /** The slots to dispatch now; undefined means all of them. */
  readonly slots: ReadonlySet<Slot> | undefined;
  /** The fence that every write carries; undefined where writes need none. */
  readonly fence: Fence | undefined;
  /** Returns the epoch in which this process may dispatch the endpoint; null while it may not. */
  epochOf(ref: EndpointRef): number | null;
  /**
   * Returns true while no other node can have dispatched the endpoint since that epoch began. This process may still
   * be unable to dispatch it now, because its lease has run out.
   */
  isOwnedSince(ref: EndpointRef, epoch: number): boolean;
  /** Returns a function that is true as long as no other node can have taken this process for dead since this call. */
  watchLease(): () => boolean;
  /** The store refused a write that should have been accepted: ownership may have changed. */
  reportRefusedWrite(): void;
}

const ONLY_EPOCH = 0;

/** Ownership of a process that has its store to itself. */
export const OWNS_EVERY_SLOT: SlotOwnership = {
  slots: undefined,
  fence: undefined,
  epochOf: () => ONLY_EPOCH,
  isOwnedSince: () => true,
  watchLease: () => () => true,
  reportRefusedWrite: () => {},
};

export function slotOfEndpoint({ partition, endpoint }: EndpointRef): Slot {
  return slotOf(partition, endpoint);
}

/** Returns true on the one node that does the work that concerns the whole store, such as removing history. */
export function isUpkeepNode({ slots }: Pick<SlotOwnership, 'slots'>): boolean {
  return slots === undefined || slots.has(UPKEEP_SLOT);
}

const NO_SLOTS: ReadonlySet<Slot> = new Set();

/**
 * The slots that this node of a cluster owns, each with the epoch in which it took it.
 *
 * Nothing is dispatched while the lease may have run out, or while the clock is not synchronized. The slots are still
 * owned then, until another node takes them. A slot that is being released is owned, but no longer dispatched.
 */
export class OwnedSlots implements SlotOwnership {
  readonly #cluster: Pick<ClusterDependencies, 'stopwatch' | 'clock'>;
  readonly #releasing = new Set<Slot>();
  /** Never changed in place: every change makes a new fence, so that writes in flight keep theirs. */
  #fence: Fence;
  /** The owned slots without those that are being released. */
  #kept = NO_SLOTS;
  /** The end of the lease, by the stopwatch. */
  #leaseUntil = Number.NEGATIVE_INFINITY;
  #onRefusedWrite: () => void = () => {};

  constructor(cluster: Pick<ClusterDependencies, 'stopwatch' | 'clock'>, node: string) {
    this.#cluster = cluster;
    this.#fence = { node, epochs: new Map() };
  }

  get fence(): Fence {
    return this.#fence;
  }

  get isLeaseValid(): boolean {
    return this.#cluster.stopwatch.elapsed() < this.#leaseUntil;
  }

  /** Whether this node may dispatch. */
  get isActive(): boolean {
    return this.isLeaseValid && this.#cluster.clock.isSynchronized;
  }

  get slots(): ReadonlySet<Slot> {
    return this.isActive ? this.#kept : NO_SLOTS;
  }

  /** The owned slots without those that are being released, whether or not they may be dispatched now. */
  get kept(): ReadonlySet<Slot> {
    return this.#kept;
  }

  epochOf(ref: EndpointRef): number | null {
    const slot = slotOfEndpoint(ref);
    if (!this.#kept.has(slot) || !this.isActive) return null;
    return this.#fence.epochs.get(slot) ?? null;
  }

  isOwnedSince(ref: EndpointRef, epoch: number): boolean {
    return this.#fence.epochs.get(slotOfEndpoint(ref)) === epoch;
  }

  watchLease(): () => boolean {
    const leaseUntil = this.#leaseUntil;
    return () => this.#cluster.stopwatch.elapsed() < leaseUntil;
  }

  reportRefusedWrite(): void {
    this.#onRefusedWrite();
  }

  onRefusedWrite(act: () => void): void {
    this.#onRefusedWrite = act;
  }

  /** `elapsedMs` is a time of the stopwatch. */
  setLeaseUntil(elapsedMs: number): void {
    this.#leaseUntil = elapsedMs;
  }

  add(epochs: ReadonlyMap<Slot, number>): void {
    for (const slot of epochs.keys()) this.#releasing.delete(slot);
    this.#set(new Map([...this.#fence.epochs, ...epochs]));
  }

  /** Stops dispatching slots that are about to be released. Returns their fence. */
  beginRelease(slots: ReadonlySet<Slot>): Fence {
    for (const slot of slots) this.#releasing.add(slot);
    this.#set(this.#fence.epochs);
    const { node, epochs } = this.#fence;
    return { node, epochs: new Map([...epochs].filter(([slot]) => slots.has(slot))) };
  }

  /** The slots could not be released, so this node keeps them. */
  cancelRelease(slots: ReadonlySet<Slot>): void {
    for (const slot of slots) this.#releasing.delete(slot);
    this.#set(this.#fence.epochs);
  }

  remove(slots: ReadonlySet<Slot>): void {
    for (const slot of slots) this.#releasing.delete(slot);
    this.#set(new Map([...this.#fence.epochs].filter(([slot]) => !slots.has(slot))));
  }

  /** Returns the part of a former fence whose slots are still owned in the same epoch. */
  stillOwned({ node, epochs }: Fence): Fence {
    const now = this.#fence.epochs;
    return { node, epochs: new Map([...epochs].filter(([slot, epoch]) => now.get(slot) === epoch)) };
  }

  #set(epochs: ReadonlyMap<Slot, number>): void {
    this.#fence = { node: this.#fence.node, epochs };
    this.#kept = new Set([...epochs.keys()].filter((slot) => !this.#releasing.has(slot)));
  }
}

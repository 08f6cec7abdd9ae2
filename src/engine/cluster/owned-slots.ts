/**
 * The slots this node holds, each in the epoch in which it took it. Nothing is to be dispatched while the lease
 * may have run out, as counted here, or while it is not known what time it is; the slots are still held then,
 * until somebody else has taken them. A slot that is being given back is held, but not dispatched any more.
 */
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import type { Fence, Slot } from '#src/domain/slot.ts';
import type { ClusterDependencies } from '#src/engine/dependencies.ts';
import { type SlotOwnership, slotOfEndpoint } from './slot-ownership.ts';

const NONE: ReadonlySet<Slot> = new Set();

export class OwnedSlots implements SlotOwnership {
  readonly #cluster: ClusterDependencies;
  readonly #leaving = new Set<Slot>();
  readonly #doubt: () => void;
  #fence: Fence;
  #dispatched = NONE;
  #validUntil = Number.NEGATIVE_INFINITY;

  constructor(cluster: ClusterDependencies, node: string, doubt: () => void) {
    this.#cluster = cluster;
    this.#doubt = doubt;
    this.#fence = { node, epochs: new Map() };
  }

  /** Never changed: where something changes, there is another one. */
  get fence(): Fence {
    return this.#fence;
  }

  get isLeaseValid(): boolean {
    return this.#cluster.stopwatch.elapsed() < this.#validUntil;
  }

  get isActive(): boolean {
    return this.isLeaseValid && this.#cluster.clock.isSynchronized;
  }

  get slots(): ReadonlySet<Slot> {
    return this.isActive ? this.#dispatched : NONE;
  }

  /** Those held and not being given back, whether or not they may be dispatched at the moment. */
  get kept(): ReadonlySet<Slot> {
    return this.#dispatched;
  }

  epochOf(ref: EndpointRef): number | null {
    const slot = slotOfEndpoint(ref);
    if (!this.#dispatched.has(slot) || !this.isActive) return null;
    return this.#fence.epochs.get(slot) ?? null;
  }

  isOwnedSince(ref: EndpointRef, epoch: number): boolean {
    return this.#fence.epochs.get(slotOfEndpoint(ref)) === epoch;
  }

  watchLease(): () => boolean {
    const validUntil = this.#validUntil;
    return () => this.#cluster.stopwatch.elapsed() < validUntil;
  }

  reportRefusedWrite(): void {
    this.#doubt();
  }

  /** By the stopwatch. */
  leaseIsValidUntil(elapsedMs: number): void {
    this.#validUntil = elapsedMs;
  }

  hold(epochs: ReadonlyMap<Slot, number>): void {
    for (const slot of epochs.keys()) this.#leaving.delete(slot);
    this.#set(new Map([...this.#fence.epochs, ...epochs]));
  }

  /** To be given back: nothing new begins there. */
  leave(slots: Iterable<Slot>): void {
    for (const slot of slots) this.#leaving.add(slot);
    this.#set(this.#fence.epochs);
  }

  /** They could not be given back, and are kept after all. */
  keep(slots: Iterable<Slot>): void {
    for (const slot of slots) this.#leaving.delete(slot);
    this.#set(this.#fence.epochs);
  }

  drop(slots: ReadonlySet<Slot>): void {
    for (const slot of slots) this.#leaving.delete(slot);
    this.#set(new Map([...this.#fence.epochs].filter(([slot]) => !slots.has(slot))));
  }

  /** What is held of these. */
  fenceOf(slots: ReadonlySet<Slot>): Fence {
    const { node, epochs } = this.#fence;
    return { node, epochs: new Map([...epochs].filter(([slot]) => slots.has(slot))) };
  }

  /** What is held as it was then. */
  stillHeld({ node, epochs }: Fence): Fence {
    const now = this.#fence.epochs;
    return { node, epochs: new Map([...epochs].filter(([slot, epoch]) => now.get(slot) === epoch)) };
  }

  #set(epochs: ReadonlyMap<Slot, number>): void {
    this.#fence = { node: this.#fence.node, epochs };
    this.#dispatched = new Set([...epochs.keys()].filter((slot) => !this.#leaving.has(slot)));
  }
}

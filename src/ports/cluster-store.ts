/**
 * What nodes that share a store know of each other. A node lives as long as it renews its lease; a slot has
 * one owner at a time, and every change of owner is a new epoch of that slot. Instants are those of the
 * store's own clock, which is the same for all of them.
 */
import type { Instant } from '#src/domain/instant.ts';
import type { Fence, Slot } from '#src/domain/slot.ts';

export interface NodeLease {
  readonly node: string;
  readonly leaseUntil: Instant;
  /** It lives until its requests have ended, and wants no slots. */
  readonly isStopping: boolean;
}

export interface SlotState {
  readonly slot: Slot;
  /** Who took it last, alive or not; null once it was given back. */
  readonly owner: string | null;
  /** Rises with every change of owner; 0 for a slot that nobody has had. */
  readonly epoch: number;
}

/** The cluster as it was at one moment. */
export interface ClusterState {
  /** Those who have not left and were not removed as dead, whether or not their lease has run out. */
  readonly nodes: readonly NodeLease[];
  /** All of them, in their order. */
  readonly slots: readonly SlotState[];
}

export interface ClusterStore {
  /** The clock that all nodes go by, in milliseconds and as finely as it shows them. */
  readClock(): Promise<number>;
  /** Renews the lease, or begins it, and tells how things are after that. */
  renewLease(lease: NodeLease): Promise<ClusterState>;
  /**
   * Takes slots as they were seen: one that is in another epoch by now, or whose owner has a lease, is left.
   * Answers the fence of those that were taken. Without a lease of `node` none is.
   */
  takeSlots(node: string, seen: readonly Pick<SlotState, 'slot' | 'epoch'>[]): Promise<Fence>;
  /** Gives slots back; those that are not held any more are left alone. */
  releaseSlots(fence: Fence): Promise<void>;
  /** Gives everything back and ends the lease. */
  leave(node: string): Promise<void>;
  /** The same for a node that has died, by its lease as it was seen: one that was renewed since is left alone. */
  removeDeadNode(lease: Pick<NodeLease, 'node' | 'leaseUntil'>): Promise<'done' | 'stale'>;
}

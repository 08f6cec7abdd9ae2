/**
 * The state that nodes share through the store. A node is live as long as it renews its lease. A slot has one owner at
 * a time, and every change of owner starts a new epoch of the slot. Instants are those of the store's clock, which is
 * the same for all nodes.
 */
import type { Instant } from '#src/domain/instant.ts';
import type { Fence, Slot } from '#src/domain/slot.ts';

export interface NodeLease {
  readonly node: string;
  readonly leaseUntil: Instant;
  /** The node is live until its requests have ended, but it wants no slots. */
  readonly isStopping: boolean;
  /** The version of the program that the node runs. */
  readonly version: string;
}

export interface SlotState {
  readonly slot: Slot;
  /** The last owner, live or not; null once the slot was released. */
  readonly owner: string | null;
  /** Increases with every change of owner. It is 0 before the first owner. */
  readonly epoch: number;
}

/** A snapshot of the cluster. */
export interface ClusterState {
  /** The nodes that have not left and were not removed as dead. Their lease may have expired. */
  readonly nodes: readonly NodeLease[];
  /** All slots in their order. */
  readonly slots: readonly SlotState[];
}

export interface ClusterStore {
  /** Reads the clock of the store, in milliseconds with their fraction. */
  readClock(): Promise<number>;
  /** Lists the versions of the program that nodes run, each once. */
  listVersions(): Promise<readonly string[]>;
  /** From now on, programs with the schema of a version before `since` do not start. Those that run are not ended. */
  refuseOlderPrograms(since: string): Promise<void>;
  /** Renews or begins the lease. Returns the state after that. */
  renewLease(lease: NodeLease): Promise<ClusterState>;
  /**
   * Takes slots from a snapshot. A slot that is in another epoch now, or whose owner has a valid lease, is not taken.
   * Returns the fence of the taken slots. Nothing is taken when `node` has no lease.
   */
  takeSlots(node: string, seen: readonly Pick<SlotState, 'slot' | 'epoch'>[]): Promise<Fence>;
  /** Releases slots. A slot that the node no longer owns stays as it is. */
  releaseSlots(fence: Fence): Promise<void>;
  /** Releases all slots and ends the lease. */
  leave(node: string): Promise<void>;
  /** Does the same for a dead node. `lease` is its lease from a snapshot: a node that renewed it since stays. */
  removeDeadNode(lease: Pick<NodeLease, 'node' | 'leaseUntil'>): Promise<'done' | 'stale'>;
}

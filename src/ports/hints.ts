import type { DueDelivery } from '#src/domain/due-delivery.ts';

/**
 * Hints about due deliveries that the dispatcher may not have seen. Hints may be lost, because the dispatcher also
 * scans the store.
 */
export interface Hints {
  /** The delivery is now due at its `dueAt`; null when it no longer waits. */
  due(due: DueDelivery | null): void;
  /** Other deliveries became due. */
  rescan(): void;
}

/** Hints between nodes. A hint goes to all other nodes and is never forwarded. It may be lost, late or repeated. */
export interface Peers {
  /** Tells the owner of its slot that this delivery is due soon. */
  due(due: DueDelivery): void;
  rescan(): void;
  /** Slots were released, or a node joined, so that slots may have to be taken or released. */
  slotsChanged(): void;
}

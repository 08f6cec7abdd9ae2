import type { DueDelivery } from '#src/domain/due-delivery.ts';

/** Tells the dispatcher of work it may not have seen yet. Hints may be lost: it looks for itself as well. */
export interface Hints {
  /** This delivery is now due then; null when it no longer waits. */
  due(due: DueDelivery | null): void;
  /** Something became due that is not named here. */
  rescan(): void;
}

/**
 * What a node tells the others, and what it hears from them. It is told to all of them and never told on; it may
 * be lost, come late, and come twice.
 */
export interface Peers {
  /** For whoever holds its slot: it is due in the next moments. */
  due(due: DueDelivery): void;
  rescan(): void;
  /** Slots were given back, or a node joined: there may be some to take or to give back. */
  slotsChanged(): void;
}

/**
 * The part of all endpoints that this process dispatches: everything, or in a cluster the slots it holds. What
 * lies outside is left to others. It may change at any moment between two steps; so work is asked for again
 * after every wait, and everything that is written goes out under the fence, which the store checks.
 */
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import { type Fence, type Slot, slotOf } from '#src/domain/slot.ts';

export interface SlotOwnership {
  /** Where to look for due work; undefined: everywhere. */
  readonly slots: ReadonlySet<Slot> | undefined;
  /** What is written goes out under this; undefined: it needs no leave. */
  readonly fence: Fence | undefined;
  /** The epoch in which it is ours to dispatch; null while it is not. */
  epochOf(ref: EndpointRef): number | null;
  /** Whether nobody else can have dispatched it since that epoch began, whether or not it is to be now. */
  isOwnedSince(ref: EndpointRef, epoch: number): boolean;
  /** What it gives tells, whenever it is asked: since this call nobody can have taken this process for dead. */
  watchLease(): () => boolean;
  /** A write was refused that the store would have accepted as far as we know. */
  reportRefusedWrite(): void;
}

/** The slot whose owner is the upkeep node. */
const UPKEEP_SLOT = 0 as Slot;

/** Returns true on the one node that does the work that concerns the whole store, such as removing history. */
export function isUpkeepNode({ slots }: Pick<SlotOwnership, 'slots'>): boolean {
  return slots === undefined || slots.has(UPKEEP_SLOT);
}

const ALWAYS = 0;

/** Of a process that has its store to itself. */
export const OWNS_EVERY_SLOT: SlotOwnership = {
  slots: undefined,
  fence: undefined,
  epochOf: () => ALWAYS,
  isOwnedSince: () => true,
  watchLease: () => () => true,
  reportRefusedWrite: () => {},
};

export function slotOfEndpoint({ partition, endpoint }: EndpointRef): Slot {
  return slotOf(partition, endpoint);
}

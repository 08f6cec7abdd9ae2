/**
 * A slot is the unit by which endpoints are shared between nodes. An endpoint belongs to one of a fixed number of
 * slots, and a slot to one node at a time. The slot is stored with every waiting delivery, so neither the number of
 * slots nor the hash can change without rewriting them.
 */
import type { EndpointKey } from './endpoint-key.ts';
import type { Partition } from './project.ts';

export const SLOTS = 256;

export type Slot = number & { readonly __brand: 'Slot' };

/** The slot whose owner is the upkeep node. It does the work that concerns the whole store. */
export const UPKEEP_SLOT = 0 as Slot;

export const ALL_SLOTS: readonly Slot[] = Array.from({ length: SLOTS }, (_, slot) => slot as Slot);

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const BYTE_BITS = 8;

export function slotOf(partition: Partition, endpoint: EndpointKey): Slot {
  const text = `${partition}/${endpoint}`;
  let hash = FNV_OFFSET;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), FNV_PRIME);
    hash = Math.imul(hash ^ (unit >> BYTE_BITS), FNV_PRIME);
  }
  return (mixed(hash) % SLOTS) as Slot;
}

/** The low bits of FNV alone depend too much on the last characters. */
function mixed(hash: number): number {
  let bits = hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/**
 * The right of a node to dispatch its slots, each with the epoch in which the node took it. The store refuses a write
 * under a fence once the slot is in another epoch.
 */
export interface Fence {
  readonly node: string;
  readonly epochs: ReadonlyMap<Slot, number>;
}

/**
 * How slots are shared out between living nodes: evenly, and so that none moves without need. Each node decides
 * for itself what to take and what to give back, from what it saw of all of them at one moment; those that saw
 * the same decide alike, and so without getting in each other's way.
 *
 * Everyone's share is the same number or one more. Those who hold most have the one more already, and keep it;
 * among those who hold the same the name decides. Whoever holds more than its share gives the rest back, whoever
 * holds less takes from what nobody living holds, each its own part of it. A slot of a living node is never
 * taken: it has to be given back first. Decisions on what was seen a moment too long ago do no harm: the store
 * lets nobody take what has moved on, and what was too much is given back in the next round.
 */
import type { Slot } from './slot.ts';

export interface SlotSnapshot {
  readonly slot: Slot;
  readonly owner: string | null;
  readonly epoch: number;
}

/** All nodes and slots at one moment. */
export interface ClusterSnapshot {
  /** The living ones. One that stops lives on until its requests have ended, but wants no slots. */
  readonly nodes: readonly { readonly node: string; readonly isStopping: boolean }[];
  readonly slots: readonly SlotSnapshot[];
}

export interface RebalancePlan {
  readonly take: readonly SlotSnapshot[];
  readonly release: readonly Slot[];
}

const NOTHING: RebalancePlan = { take: [], release: [] };

/** What `node` should do, which holds `held` and is not already giving them back. */
export function planRebalance(seen: ClusterSnapshot, node: string, held: ReadonlySet<Slot>): RebalancePlan {
  const shares = sharesOf(seen);
  const share = shares.get(node);
  if (share === undefined) return NOTHING;
  if (held.size > share) return { take: [], release: [...held].sort((a, b) => a - b).slice(share) };
  const taken = shareOfFree(seen, shares, node);
  return { take: taken.slice(0, share - held.size), release: [] };
}

/** How many slots are due to each node that wants some. */
function sharesOf(seen: ClusterSnapshot): ReadonlyMap<string, number> {
  const wanting = seen.nodes.filter(({ isStopping }) => !isStopping).map(({ node }) => node);
  const ownedSlots = slotCounts(seen);
  const held = (node: string) => ownedSlots.get(node) ?? 0;
  const ranked = wanting.sort((a, b) => held(b) - held(a) || byName(a, b));
  const even = Math.floor(seen.slots.length / ranked.length);
  const rest = seen.slots.length % ranked.length;
  return new Map(ranked.map((node, rank) => [node, rank < rest ? even + 1 : even]));
}

function slotCounts({ slots }: ClusterSnapshot): ReadonlyMap<string, number> {
  const ownedSlots = new Map<string, number>();
  for (const { owner } of slots) if (owner !== null) ownedSlots.set(owner, (ownedSlots.get(owner) ?? 0) + 1);
  return ownedSlots;
}

/** What nobody living holds is dealt out by name, to each what it lacks: this is the part of one of them. */
function shareOfFree(
  seen: ClusterSnapshot,
  shares: ReadonlyMap<string, number>,
  node: string,
): readonly SlotSnapshot[] {
  const living = new Set(seen.nodes.map((one) => one.node));
  const free = seen.slots.filter(({ owner }) => owner === null || !living.has(owner));
  const ownedSlots = slotCounts(seen);
  let from = 0;
  for (const other of [...shares.keys()].sort(byName)) {
    const lacks = Math.max((shares.get(other) ?? 0) - (ownedSlots.get(other) ?? 0), 0);
    if (other === node) return free.slice(from, from + lacks);
    from += lacks;
  }
  return [];
}

function byName(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Plans how slots are shared between live nodes: evenly, and with as few moves as possible. Each node decides for
 * itself which slots to take and to release, from one snapshot of the cluster. Nodes with the same snapshot make the
 * same plan, so they do not get in each other's way.
 *
 * All shares are the same number or one more. The nodes with most slots keep the one more that they have; between
 * equals the name decides. A node above its share releases the rest. A node below its share takes from the slots
 * without a live owner, each node its own part of them. A slot of a live node is never taken: it must be released
 * first. A plan from an outdated snapshot does no harm. The store refuses to take a slot that has moved, and the next
 * round releases what is too much.
 */
import type { Slot } from './slot.ts';

export interface SlotSnapshot {
  readonly slot: Slot;
  readonly owner: string | null;
  readonly epoch: number;
}

/** All nodes and slots at one moment. */
export interface ClusterSnapshot {
  /** The live nodes. A node that stops is live until its requests have ended, but wants no slots. */
  readonly nodes: readonly { readonly node: string; readonly isStopping: boolean }[];
  readonly slots: readonly SlotSnapshot[];
}

export interface RebalancePlan {
  readonly take: readonly SlotSnapshot[];
  readonly release: readonly Slot[];
}

const NOTHING: RebalancePlan = { take: [], release: [] };

/** Plans the moves of `node`. `held` are its slots that it is not releasing yet. */
export function planRebalance(seen: ClusterSnapshot, node: string, held: ReadonlySet<Slot>): RebalancePlan {
  const shares = sharesOf(seen);
  const share = shares.get(node);
  if (share === undefined) return NOTHING;
  if (held.size > share) return { take: [], release: [...held].sort((a, b) => a - b).slice(share) };
  const taken = shareOfFree(seen, shares, node);
  return { take: taken.slice(0, share - held.size), release: [] };
}

/** Returns the share of each node that wants slots. */
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

/** Returns this node's part of the free slots. In the order of names, each node gets as many as it lacks. */
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

/** The leases of nodes, and the slots that they own. */
import type { Fence, Slot } from '#src/domain/slot.ts';
import type { ClusterStore, NodeLease, SlotState } from '#src/ports/cluster-store.ts';
import { LEASE } from './control-rows.ts';
import type { Dialect } from './dialect.ts';
import { listVersions } from './reads.ts';
import type { Step } from './steps.ts';

type SeenSlot = Pick<SlotState, 'slot' | 'epoch'>;

export function cluster({
  writers: { membership },
  readers: { api },
  ...dialect
}: Pick<Dialect, 'writers' | 'readers' | 'readClock' | 'renewLease' | 'refuseOlderPrograms'>): ClusterStore {
  return {
    listVersions: () => listVersions(api),
    refuseOlderPrograms: (since) => dialect.refuseOlderPrograms(since),
    readClock: () => dialect.readClock(),
    renewLease: (lease) => dialect.renewLease(lease),
    // Taking a slot raises its epoch, so writes under the old epoch are refused.
    takeSlots: async (node, seen) => {
      const verbs = seen.map(({ slot, epoch }): readonly Step[] => [
        ['nodeLives', 'stale', node],
        ['takeSlot', 'stale', node, slot, epoch],
      ]);
      return toFence(node, seen, await membership.runAll<'stale'>(verbs));
    },
    releaseSlots: async ({ node, epochs }) => {
      if (epochs.size === 0) return;
      await membership.run([...epochs].map(([slot, epoch]) => ['releaseSlot', null, slot, node, epoch]));
    },
    leave: async (node) => {
      await membership.run([
        ['endLease', null, node],
        ['releaseSlotsOf', null, node],
      ]);
    },
    removeDeadNode: ({ node, leaseUntil }) =>
      membership.run([
        ['endLeaseAsSeen', 'stale', node, leaseUntil],
        ['releaseSlotsOf', null, node],
      ]),
  };
}

export function renewLease(lease: NodeLease): Step<'renewLease'> {
  return ['renewLease', null, ...LEASE.values(lease)];
}

/** The fence of a node for the slots that it took. */
function toFence(node: string, seen: readonly SeenSlot[], answers: readonly ('done' | 'stale')[]): Fence {
  const epochs = new Map<Slot, number>();
  for (const [index, { slot, epoch }] of seen.entries()) {
    if (answers[index] === 'done') epochs.set(slot, epoch + 1);
  }
  return { node, epochs };
}

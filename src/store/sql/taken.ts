import type { Fence, Slot } from '#src/domain/slot.ts';
import type { SlotState } from '#src/ports/cluster-store.ts';

/** What a node holds of the slots it asked for: each in the epoch after the one it was seen in. */
export function toFence(
  node: string,
  seen: readonly Pick<SlotState, 'slot' | 'epoch'>[],
  answers: readonly ('done' | 'stale')[],
): Fence {
  const epochs = new Map<Slot, number>();
  for (const [index, { slot, epoch }] of seen.entries()) {
    if (answers[index] === 'done') epochs.set(slot, epoch + 1);
  }
  return { node, epochs };
}

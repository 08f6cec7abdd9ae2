import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { Commands } from './command.ts';

/**
 * Carries out what the last order to a schedule has left to do, piece by piece, so that nobody else waits for more
 * than a piece. It ends when the sweep is finished, or when another order has taken its place: whoever gave that one
 * carries it out. A process that dies on the way leaves the rest to the engine.
 */
export async function finishSweep(
  { store, hints }: Pick<Commands, 'store' | 'hints'>,
  partition: Partition,
  id: ScheduleId,
): Promise<void> {
  const first = await store.findSweep(partition, id);
  if (first === null) return;
  const { order, orderedAt } = first;
  let left: typeof first | null = first;
  while (left?.order === order && left.orderedAt === orderedAt) {
    await store.carryOnSweep(left);
    left = await store.findSweep(partition, id);
  }
  if (order === 'resume') hints.lookAgain();
}

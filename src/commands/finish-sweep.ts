import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Commands } from './command.ts';

/**
 * Carries out what the last order to a schedule has left to do, piece by piece, so that nobody else waits for more
 * than a piece. It ends when the sweep is finished, or when another order has taken its place: whoever gave that one
 * carries it out. A process that dies on the way leaves the rest to the engine.
 */
export async function finishSweep(
  { store, hints, pause }: Pick<Commands, 'store' | 'hints' | 'pause'>,
  partition: Partition,
  id: ScheduleId,
): Promise<void> {
  const unfinished = await store.findSweep(partition, id);
  if (unfinished === null) return;
  let place = await store.continueSweep(unfinished, null);
  while (place !== null) {
    await pause(partition, 'long');
    place = await store.continueSweep(unfinished, place);
  }
  if (unfinished.action === 'resume') hints.rescan();
}

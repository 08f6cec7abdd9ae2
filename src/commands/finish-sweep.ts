import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Commands } from './command.ts';

/**
 * Finishes the sweep that the last action on a schedule began. It works in pieces, so that other work waits for one
 * piece at most. It ends when the sweep is finished, or when a later action has replaced the sweep, which then finishes
 * its own. If the process dies in between, the engine finishes the sweep.
 */
export async function finishSweep(
  { store, hints, pause }: Pick<Commands, 'store' | 'hints' | 'pause'>,
  partition: Partition,
  id: ScheduleId,
): Promise<void> {
  const unfinished = await store.findSweep(partition, id);
  if (unfinished === null) return;
  let cursor = await store.continueSweep(unfinished, null);
  while (cursor !== null) {
    await pause(partition, 'long');
    cursor = await store.continueSweep(unfinished, cursor);
  }
  if (unfinished.action === 'resume') hints.rescan();
}

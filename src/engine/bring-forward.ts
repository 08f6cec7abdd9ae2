/** What an open breaker held back, and need not wait any longer: it is due at once. */
import { isWaiting, putOff } from '#src/domain/delivery-life.ts';
import { type Due, dueOf } from '#src/domain/due.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { EngineDependencies } from './dependencies.ts';
import type { Territory } from './territory.ts';

/** Read and written together. */
const TOGETHER_MAX = 64;

export async function bringForward(
  heldBack: readonly Due[],
  dependencies: Pick<EngineDependencies, 'store' | 'clock' | 'log'>,
  territory: Pick<Territory, 'tenure'>,
  queue: Pick<Hints, 'due'>,
): Promise<void> {
  const { store, clock } = dependencies;
  const putOffTo = new Map(heldBack.map(({ id, dueAt }) => [id, dueAt]));
  try {
    for (let at = 0; at < heldBack.length; at += TOGETHER_MAX) {
      const works = await store.findWork(heldBack.slice(at, at + TOGETHER_MAX));
      const now = clock.now();
      const forward = works
        .filter((work) => work !== null)
        .map(({ delivery }) => delivery)
        .filter((delivery) => delivery.dueAt === putOffTo.get(delivery.id) && isWaiting(delivery.status))
        .map((delivery) => putOff(delivery, now, false));
      const answers = await store.putOff(forward, territory.tenure);
      for (const [index, delivery] of forward.entries()) {
        if (answers[index] === 'done') queue.due(dueOf(delivery));
      }
    }
  } catch (error) {
    dependencies.log.warn({ error: String(error) }, 'deliveries held back wait for the end of the window');
  }
}

/** What an open breaker deferred, and need not wait any longer: it is due at once. */
import { defer, isWaiting } from '#src/domain/delivery-life.ts';
import { type DueDelivery, dueOf } from '#src/domain/due.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Hints } from '#src/ports/hints.ts';

/** Read and written together. */
const TOGETHER_MAX = 64;

export async function releaseDeferred(
  deferred: readonly DueDelivery[],
  dependencies: Pick<EngineDependencies, 'store' | 'clock' | 'log'>,
  ownership: Pick<SlotOwnership, 'fence'>,
  queue: Pick<Hints, 'due'>,
): Promise<void> {
  const { store, clock } = dependencies;
  const deferredTo = new Map(deferred.map(({ id, dueAt }) => [id, dueAt]));
  try {
    for (let at = 0; at < deferred.length; at += TOGETHER_MAX) {
      const works = await store.loadDeliveries(deferred.slice(at, at + TOGETHER_MAX));
      const now = clock.now();
      const forward = works
        .filter((work) => work !== null)
        .map(({ delivery }) => delivery)
        .filter((delivery) => delivery.dueAt === deferredTo.get(delivery.id) && isWaiting(delivery.status))
        .map((delivery) => defer(delivery, now, false));
      const answers = await store.defer(forward, ownership.fence);
      for (const [index, delivery] of forward.entries()) {
        if (answers[index] === 'done') queue.due(dueOf(delivery));
      }
    }
  } catch (error) {
    dependencies.log.warn({ error: String(error) }, 'deliveries deferred wait for the end of the window');
  }
}

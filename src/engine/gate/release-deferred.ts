/** Makes deliveries due at once that an open breaker deferred, because the breaker has closed. */

import { defer, isWaiting } from '#src/domain/delivery-lifecycle.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import type { Hints } from '#src/ports/hints.ts';

/** Deliveries that are read and written in one step. */
const BATCH_MAX = 64;

export interface ReleaseDeferredDependencies extends Pick<EngineDependencies, 'store' | 'clock' | 'log'> {
  readonly ownership: Pick<SlotOwnership, 'fence'>;
  readonly queue: Pick<Hints, 'due'>;
}

/** Never rejects: a delivery that could not be released waits for the end of the breaker's window. */
export async function releaseDeferred(
  { store, clock, log, ownership, queue }: ReleaseDeferredDependencies,
  deferred: readonly DueDelivery[],
): Promise<void> {
  const deferredTo = new Map(deferred.map(({ id, dueAt }) => [id, dueAt]));
  try {
    for (let at = 0; at < deferred.length; at += BATCH_MAX) {
      const loaded = await store.loadDeliveries(deferred.slice(at, at + BATCH_MAX));
      const now = clock.now();
      const released = loaded
        .filter((one) => one !== null)
        .map(({ delivery }) => delivery)
        .filter((delivery) => delivery.dueAt === deferredTo.get(delivery.id) && isWaiting(delivery.status))
        .map((delivery) => defer(delivery, now, false));
      const answers = await store.defer(released, ownership.fence);
      for (const [index, delivery] of released.entries()) {
        if (answers[index] === 'done') queue.due(dueDeliveryOf(delivery));
      }
    }
  } catch (error) {
    log.warn(
      { error: String(error) },
      'deferred deliveries could not be released: they wait for the end of the breaker window',
    );
  }
}

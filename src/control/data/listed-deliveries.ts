/** Presents the deliveries of a page with the names of their schedules and what they wait for, by one query. */
import type { DeliveryResource } from '#src/api/contract/resources.ts';
import type { Commands } from '#src/commands/command.ts';
import type { ListedDelivery } from '#src/control/http/data-contract.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Mode, Partition } from '#src/domain/project.ts';
import { waitOf } from '#src/domain/wait.ts';
import { presentWithFailure } from './operations.ts';
import { presentWait } from './present.ts';

export type Shown = ListedDelivery<DeliveryResource>;

/** In the order of the ids. Null for a delivery that retention has removed. */
export async function presentDeliveries(
  { store, clock }: Pick<Commands, 'store' | 'clock'>,
  { partition, mode }: { readonly partition: Partition; readonly mode: Mode },
  ids: readonly DeliveryId[],
): Promise<readonly (Shown | null)[]> {
  const loaded = ids.length === 0 ? [] : await store.loadDeliveries(ids.map((id) => ({ partition, id })));
  const now = clock.now();
  return loaded.map(
    (one) =>
      one && {
        ...presentWithFailure(one.delivery, mode),
        schedule_name: one.schedule?.name ?? null,
        waiting: presentWait(waitOf(one, now)),
      },
  );
}

/** A list of what tells of a delivery has its notification and the replays of that, and nothing else. */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { ApiCall } from '../api-call.ts';
import { Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'notifications';

interface Telling {
  readonly of: DeliveryId;
  readonly madeMs: number;
}

export function notificationListsChecker({ time, observer }: SimulationView) {
  /** Notifications, also those that were removed since. */
  const telling = new Map<DeliveryId, Telling>();
  return {
    made({ id, notificationOf }: Delivery): void {
      if (notificationOf !== null) telling.set(id, { of: notificationOf, madeMs: time.elapsedMs });
    },
    callAnswered({ what, rendered, calledMs }: ApiCall): void {
      if (rendered?.of !== 'list') return;
      const { notificationOf, ids } = rendered;
      const violation = (why: string) => new Violation(NAME, `${what} ${why}`);
      const listed = new Set(ids);
      if (listed.size < ids.length) throw violation('has one of them twice');
      const other = ids.find((id) => telling.get(id)?.of !== notificationOf);
      if (other !== undefined) throw violation(`has ${other}, which tells of ${telling.get(other)?.of}`);
      for (const [id, { of, madeMs }] of telling) {
        const isMissing = of === notificationOf && madeMs < calledMs && !listed.has(id);
        if (isMissing && observer.deliveries.has(id)) throw violation(`does not have ${id}`);
      }
    },
  };
}

/** The requests of customers that concern one delivery or the whole schedule, and need no input. */
import { cancelDelivery, replayDelivery } from '#src/commands/deliveries.ts';
import { applyScheduleAction, type ScheduleAction } from '#src/commands/schedules.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import { shortId } from './observer.ts';
import { delivered, type Request, viewed } from './request.ts';

/** More than tell of any delivery. */
const LISTED_MAX = 1_000;

/** Only a delivery that waits for a retry can be canceled. */
export function cancelOf({ id, partition }: Delivery, label: string): Request {
  return {
    what: `cancel ${shortId(id)}`,
    label,
    partition,
    cancels: id,
    repeats: 'never',
    send: ({ commands }, _, show) => cancelDelivery(commands, partition, id, delivered(show)),
  };
}

export function replayOf({ id, partition }: Delivery, label: string): Request {
  return {
    what: `replay ${shortId(id)}`,
    label,
    partition,
    repeats: 'with_its_key',
    send: ({ commands }, keep, show) => replayDelivery(commands, partition, id, delivered(show), keep),
  };
}

/** Lists the notifications that tell of the delivery, and their replays. */
export function listOf({ id, partition }: Delivery, label: string): Request {
  const filter = {
    status: null,
    scheduleId: null,
    notificationOf: id,
    createdAfter: null,
    createdBefore: null,
  };
  return {
    what: `list what tells of ${shortId(id)}`,
    label,
    partition,
    repeats: 'never',
    send: async ({ commands }, _, show) => {
      const page = { before: null, limit: LISTED_MAX };
      const found = await commands.store.listDeliveries(partition, filter, page);
      return show({ of: 'list', notificationOf: id, ids: found.map((one) => one.id) });
    },
  };
}

export function actionOn({ id, partition }: Schedule, action: ScheduleAction, label: string): Request {
  return {
    what: `${action} ${shortId(id)}`,
    label,
    partition,
    repeats: 'never',
    send: ({ commands }, _, show) => applyScheduleAction(commands, partition, id, action, viewed(show)),
  };
}

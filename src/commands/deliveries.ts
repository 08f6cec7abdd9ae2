import type { Delivery } from '#src/domain/delivery.ts';
import { cancel, isReplayable, replay } from '#src/domain/delivery-lifecycle.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import { canQuote } from '#src/ports/notifications.ts';
import { notCancelableText, notReplayableText, notTellableText } from '#src/texts/state-fault-text.ts';
import {
  type Commands,
  type MakeReceipt,
  type Render,
  type RenderedAnswer,
  requireFound,
  retryUntilWritten,
} from './command.ts';

/** The only delivery of a one-shot is canceled with its schedule. */
export function isCancelable(
  { id, status }: Pick<Delivery, 'id' | 'status'>,
  schedule: Pick<Schedule, 'pendingId'> | null,
): boolean {
  return status === 'retry_scheduled' && schedule?.pendingId !== id;
}

/** `checkFields` throws to refuse the request after the delivery and its status were checked. */
export function cancelDelivery(
  { store, clock, hints }: Commands,
  partition: Partition,
  id: DeliveryId,
  render: Render<Delivery>,
  checkFields: () => void = () => {},
): Promise<RenderedAnswer> {
  return retryUntilWritten(async () => {
    const delivery = requireFound(await store.findDelivery(partition, id), id);
    const { scheduleId } = delivery;
    const view = scheduleId === null ? null : await store.findSchedule(partition, scheduleId);
    if (!isCancelable(delivery, view?.schedule ?? null)) {
      throw new Refusal('not_cancelable', null, notCancelableText(delivery.status));
    }
    checkFields();
    const canceled = cancel(delivery, clock.now());
    const answer = render(canceled);
    const written = await store.replaceDelivery(canceled);
    if (written === 'done') hints.due(dueDeliveryOf(canceled));
    return { written, answer };
  });
}

/**
 * A finished delivery never changes again. Only retention can come in between, which removes it. `checkFields` throws
 * to refuse the request after the delivery and its status were checked.
 */
export function replayDelivery(
  { store, clock, ids, hints }: Commands,
  partition: Partition,
  id: DeliveryId,
  render: Render<Delivery>,
  makeReceipt: MakeReceipt,
  checkFields: () => void = () => {},
): Promise<RenderedAnswer> {
  return retryUntilWritten(async () => {
    const original = requireFound(await store.findDelivery(partition, id), id);
    if (!isReplayable(original.status)) {
      throw new Refusal('not_replayable', null, notReplayableText(original.status));
    }
    if (!(await canQuote(store, original))) {
      throw new Refusal('not_replayable', null, notTellableText(original.notificationOf ?? id));
    }
    checkFields();
    const now = clock.now();
    const delivery = replay(original, ids.mint('dlv', now), now);
    const answer = render(delivery);
    const written = await store.addReplay({ delivery, receipt: makeReceipt(answer, now) });
    if (written === 'done') hints.due(dueDeliveryOf(delivery));
    return { written, answer };
  });
}

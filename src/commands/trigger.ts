import type { Delivery } from '#src/domain/delivery.ts';
import { isWaiting } from '#src/domain/delivery-lifecycle.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { isEnded } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import { notTriggerableText } from '#src/texts/state-fault-text.ts';
import {
  type Commands,
  type MakeReceipt,
  type Render,
  type RenderedAnswer,
  requireFound,
  retryUntilWritten,
  type WriteResult,
} from './command.ts';

export interface TriggerAnswers {
  /** A delivery was added, beside the recurrence. */
  readonly added: Render<Delivery>;
  /** The delivery of a one-shot was made due. */
  readonly moved: Render<Delivery>;
}

/**
 * Sends the request of a schedule now. A recurring schedule may be paused. `checkFields` throws to refuse the request
 * after the schedule and its state were checked.
 */
export function triggerSchedule(
  { store, clock, ids, hints, mutex }: Commands,
  partition: Partition,
  id: ScheduleId,
  answers: TriggerAnswers,
  makeReceipt: MakeReceipt,
  checkFields: () => void = () => {},
): Promise<RenderedAnswer> {
  const write = async (): Promise<WriteResult> => {
    const view = requireFound(await store.findSchedule(partition, id), id);
    const { schedule, pending, profile } = view;
    const isOneShot = schedule.timing.kind === 'one_shot';
    if (isEnded(schedule) || (isOneShot && schedule.state === 'paused')) {
      throw new Refusal('schedule_not_active', null, notTriggerableText(schedule.state));
    }
    if (isOneShot && (pending === null || !isWaiting(pending.status)))
      throw new Refusal('delivery_in_progress');
    checkFields();
    const now = clock.now();
    if (isOneShot && pending !== null) {
      const changed = life.fireNow(view, pending, now);
      const moved = changed.pending ?? pending;
      const answer = answers.moved(moved);
      const written = await store.replaceSchedule({ ...changed, receipt: makeReceipt(answer, now) });
      if (written === 'done') hints.due(dueDeliveryOf(moved));
      return { written, answer };
    }
    const delivery = life.trigger(view, ids.mint('dlv', now), now);
    const answer = answers.added(delivery);
    const receipt = makeReceipt(answer, now);
    const written = await store.addTriggered({ delivery, schedule, profile, receipt });
    if (written === 'done') hints.due(dueDeliveryOf(delivery));
    return { written, answer };
  };
  return mutex.run(`${partition}/${id}`, () => retryUntilWritten(write));
}

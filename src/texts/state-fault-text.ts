/** Says why an object cannot be changed in its present state, and what to do instead. */
import type { DeliveryStatus } from '#src/domain/delivery.ts';
import type { ScheduleState } from '#src/domain/schedule.ts';

const REPLAYABLE = 'succeeded, dead_letter or expired';

export function notReplayableText(status: DeliveryStatus): string {
  return status === 'canceled'
    ? `This delivery is canceled: it was never to be sent again. Only a delivery that is ${REPLAYABLE} can be replayed. Create a new schedule.`
    : `This delivery is ${status}: it has not ended. Only a delivery that is ${REPLAYABLE} can be replayed. Wait until it ends.`;
}

export function scheduleEndedText(state: ScheduleState): string {
  return `This schedule is ${state}, so it cannot be rescheduled. Create a new schedule.`;
}

export function profileArchivedText(id: string): string {
  return `The endpoint profile "${id}" is archived, so no new schedule can use it. Use another profile, or create one.`;
}

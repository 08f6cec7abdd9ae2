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

export function notTriggerableText(state: ScheduleState): string {
  return state === 'paused'
    ? 'This one-shot schedule is paused. Resume it first: it then waits for its instant, and can be triggered.'
    : `This schedule is ${state}, so it cannot be triggered. Replay one of its deliveries, or create a new schedule.`;
}

export function notCancelableText(status: DeliveryStatus): string {
  return status === 'retry_scheduled'
    ? 'This is the pending delivery of its schedule. Cancel the schedule.'
    : `This delivery is ${status}. Only a delivery that waits for a retry (retry_scheduled) can be canceled. To stop what is still to come, pause or cancel the schedule.`;
}

export function olderNodeText(version: string, since: string): string {
  return `This needs Sched ${since} on every node, and a node with ${version} is still running. Nothing was changed. Try again when the upgrade is complete.`;
}

export function notTellableText(id: string): string {
  return `This notification tells of the delivery "${id}", which has been removed since: its history is older than the retention.`;
}

export function notifiedArchivedText(id: string): string {
  return `The endpoint profile "${id}" is archived, so it cannot be notified. Name another profile in notify.endpoint_id, or create one.`;
}

export function profileArchivedText(id: string): string {
  return `The endpoint profile "${id}" is archived, so no new schedule can use it. Use another profile, or create one.`;
}

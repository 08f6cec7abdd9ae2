/** The statuses of deliveries and schedules, and the replays that they allow. */
import type { Delivery, Schedule } from '../../../sdk/src/api-types.ts';

export type DeliveryStatus = Delivery['status'];
export type ScheduleState = Schedule['state'];

export const DELIVERY_STATUSES: readonly DeliveryStatus[] = [
  'scheduled',
  'claimed',
  'retry_scheduled',
  'succeeded',
  'dead_letter',
  'expired',
  'paused',
  'canceled',
];
export const SCHEDULE_STATES: readonly ScheduleState[] = ['active', 'paused', 'completed', 'canceled'];

/** Statuses that can be replayed in bulk. Succeeded deliveries are replayed one by one. */
export function isBulkReplayable(status: string | null): boolean {
  return status === 'dead_letter' || status === 'expired';
}

export function isReplayable(status: string): boolean {
  return isBulkReplayable(status) || status === 'succeeded';
}

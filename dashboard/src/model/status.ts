/** What the statuses of deliveries allow. */
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

/** Those that a person may order again in bulk; a succeeded one is replayed one by one. */
export function isBulkReplayable(status: string | null): boolean {
  return status === 'dead_letter' || status === 'expired';
}

export function isReplayable(status: string): boolean {
  return isBulkReplayable(status) || status === 'succeeded';
}

/** Nothing more will happen to it. */
export function isOver(status: string): boolean {
  return isReplayable(status) || status === 'canceled';
}

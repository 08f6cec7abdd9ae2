/** How soon the engine finds a delivery that is due. */
import type { Delivery } from '#src/domain/delivery.ts';

/** The time between two scans, and what they take. */
const SCANNED_MS_MAX = 1_500;

/**
 * If many notifications are made at once, only the first ones are hinted, and a scan finds the others. `revision` is that
 * in which the delivery was due.
 */
export function foundWithinMs(
  { notificationOf, replayOf }: Delivery,
  revision: number,
  hintedMsMax: number,
): number {
  const isNewNotification = notificationOf !== null && replayOf === null && revision === 1;
  return isNewNotification ? SCANNED_MS_MAX : hintedMsMax;
}

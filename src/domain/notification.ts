/**
 * A notification tells a customer how a delivery ended. It is an ordinary delivery to an endpoint profile, which belongs
 * to no schedule. It is created in the transaction that ends the delivery. A notification never notifies.
 *
 * Its body is composed when it is sent, so nothing is stored for it. The size of the body is estimated, because the
 * permits of a large one are taken before it is composed.
 */
import type { Delivery } from './delivery.ts';
import { materialize } from './delivery-lifecycle.ts';
import type { FiringProfile } from './endpoint-profile.ts';
import type { DeliveryId } from './id.ts';
import type { Instant } from './instant.ts';
import type { ActiveNotify } from './notify.ts';

/** The delivery and its last attempts, without the labels of the schedule and the kept answer. */
const BODY_BYTES = 8_192;

/** The attempts that a notification lists: the last ones. */
export const NOTIFIED_ATTEMPTS_MAX = 10;

/** Each endpoint gets at most so many notifications per second. */
export const NOTIFICATIONS_PER_SECOND = 50;

/** Returns where the end of this delivery has to be told, or null. */
export function notifiedBy({ notify, status }: Delivery): ActiveNotify | null {
  return notify?.on.some((outcome) => outcome === status) ? notify : null;
}

export interface NotificationTerms {
  readonly id: DeliveryId;
  /** The present version of the endpoint profile that is told. */
  readonly profile: FiringProfile;
  /** The size of what the body quotes: the labels of the schedule and the kept answer. */
  readonly quotedBytes: number;
}

export function notificationOf(
  ended: Delivery,
  { id, profile, quotedBytes }: NotificationTerms,
  now: Instant,
): Delivery {
  const notification = materialize({
    partition: ended.partition,
    id,
    scheduleId: null,
    occurrence: null,
    scheduledFor: now,
    ttl: null,
    idempotencyKey: id,
    notify: null,
    target: targetAt(profile),
    payloadBytes: BODY_BYTES + quotedBytes,
    payloadVersion: 1,
    retryPolicy: profile.retryPolicy,
    createdAt: now,
  });
  return { ...notification, notificationOf: ended.id };
}

/**
 * Returns the delivery as its next attempt sends it. A notification takes the version of its profile at its first claim.
 * A replay of one keeps what the original had.
 */
export function asSentNext(delivery: Delivery, profile: FiringProfile | null): Delivery {
  const isFirst = delivery.attemptCount === 0 && delivery.replayOf === null;
  if (delivery.notificationOf === null || !isFirst || profile === null) return delivery;
  if (profile.version === delivery.target.endpointVersion) return delivery;
  return { ...delivery, target: targetAt(profile), retryPolicy: profile.retryPolicy };
}

function targetAt({ id, url, method, version }: FiringProfile): Delivery['target'] {
  return { url, method, endpointId: id, endpointVersion: version };
}

/** Creates notifications of outcomes, and says what their bodies are composed of. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { IdMint } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { notificationOf, notifiedBy } from '#src/domain/notification.ts';
import type { Mode } from '#src/domain/project.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { KeptResponse } from './kept-response.ts';
import type { NotificationReads } from './notification-reads.ts';
import type { Store } from './store.ts';

export interface NotificationDependencies {
  readonly store: Pick<NotificationReads, 'findNotificationSource'>;
  readonly ids: IdMint;
}

/**
 * Returns the notification of a delivery that ends now, or null if none is wanted. It has to be stored in the transaction
 * that ends the delivery. `response` is what is kept of its last answer. A profile is never removed, so there is a source.
 */
export async function makeNotification(
  { store, ids }: NotificationDependencies,
  ended: Delivery,
  now: Instant,
  response: KeptResponse | null = null,
): Promise<Delivery | null> {
  const notify = notifiedBy(ended);
  if (notify === null) return null;
  const { partition, scheduleId } = ended;
  const source = await store.findNotificationSource(partition, notify.endpointId, scheduleId);
  if (source === null) return null;
  const { profile, metadataBytes } = source;
  const quotedBytes = metadataBytes + (response?.sealed.length ?? 0);
  return notificationOf(ended, { id: ids.mint('dlv', now), profile, quotedBytes }, now);
}

/** Returns false for a notification if retention has removed the delivery that it tells of. It cannot be replayed. */
export async function canQuote(
  store: Pick<Store, 'findDelivery'>,
  { partition, notificationOf }: Delivery,
): Promise<boolean> {
  return notificationOf === null || (await store.findDelivery(partition, notificationOf)) !== null;
}

/** What the body of a notification tells. */
export interface NotificationFacts {
  readonly notification: Delivery;
  readonly mode: Mode;
  /** The delivery that ended. */
  readonly delivery: Delivery;
  readonly schedule: Pick<Schedule, 'id' | 'name' | 'metadata'>;
  /** Its last attempts, in the order in which they were made. */
  readonly attempts: readonly Attempt[];
  /** The beginning of its last answer, if that is kept. */
  readonly response: NotifiedResponse | null;
}

export interface NotifiedResponse {
  readonly statusCode: number;
  readonly isTruncated: boolean;
  readonly bytes: Uint8Array;
}

/** Writes the body of a notification, as the API presents its parts. */
export type ComposeNotification = (facts: NotificationFacts) => string;

/**
 * The bounds of pages. Ids begin with the instant of their creation, so the deliveries created in a span of time
 * are a range of ids.
 */
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { type DeliveryId, firstIdAt } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';

/** The last delivery of the page before. The next page begins after it. */
export type DueCursor = Pick<DueDelivery, 'dueAt' | 'id'>;

/** The cursor of the first page of due deliveries. */
export const BEFORE_EVERY_DELIVERY = { dueAt: Number.MIN_SAFE_INTEGER, id: '' };
export const BEFORE_EVERY_PARTITION = Number.MIN_SAFE_INTEGER;
export const BEFORE_EVERY_ID = '';
/** Sorts after every id. A list that shows the newest first starts here. */
export const PAST_EVERY_ID = '\u{10ffff}';

/** Sorts after every attempt that ended. */
export const PAST_EVERY_ATTEMPT = { finishedAt: Number.MAX_SAFE_INTEGER, id: PAST_EVERY_ID };

/** The lowest id of a delivery that was created after this instant. */
export function idsAfter(createdAfter: Instant | null): string {
  return createdAfter === null ? BEFORE_EVERY_ID : firstIdAt('dlv', instant(createdAfter + 1));
}

/** The exclusive upper bound of the ids on a page: by its start and by the instant of creation. */
export function idsBefore(createdBefore: Instant | null, pageStart: DeliveryId | null): string {
  const start = pageStart ?? PAST_EVERY_ID;
  const end = createdBefore === null ? PAST_EVERY_ID : firstIdAt('dlv', createdBefore);
  return start < end ? start : end;
}

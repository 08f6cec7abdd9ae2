/** Ids begin with the instant of their creation: what was created in between has its ids in between. */
import { type DeliveryId, firstIdAt } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';

/** Sorts after every id: the start of a list. */
export const PAST_EVERY_ID = '\u{10ffff}';

/** The least id that is of a delivery created after. */
export function idsAfter(createdAfter: Instant | null): string {
  return createdAfter === null ? '' : firstIdAt('dlv', instant(createdAfter + 1));
}

/** The id before which those end that were created before, on a page that starts there. */
export function idsBefore(createdBefore: Instant | null, pageStart: DeliveryId | null): string {
  const start = pageStart ?? PAST_EVERY_ID;
  const end = createdBefore === null ? PAST_EVERY_ID : firstIdAt('dlv', createdBefore);
  return start < end ? start : end;
}

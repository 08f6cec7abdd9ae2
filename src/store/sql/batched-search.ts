/**
 * A search that no index can answer: it scans rows, newest first, and checks each. It reads in batches. The
 * first ones are small, because a match is often among the newest. The search stops when it has found enough, has
 * read enough, or its time is up. It reads at least one batch, so a caller that continues from `next` reaches the
 * end.
 */
import type { ScheduleId } from '#src/domain/id.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import type { Found } from '#src/ports/insight-store.ts';
import type { Listed, Page } from '#src/ports/lists.ts';
import type { ScannedRow } from './search-queries.ts';

type Scan<Id> = (before: Id | null, rows: number) => Promise<readonly ScannedRow<Id>[]>;

const FIRST_SCAN_ROWS = 256;
export const SCAN_ROWS_MAX = 4_096;

export interface SearchLimits {
  readonly scanMax: number;
  readonly scanRowsMax?: number;
  readonly isTimeUp?: () => boolean;
}

/** The matches that fit on a page. The search continues after the last of them. */
export function fitOnPage(
  { next, scanned }: Pick<Found<ScheduleId, ScheduleId>, 'next' | 'scanned'>,
  { items, hasMore }: Listed<ScheduleView>,
): Found<ScheduleView, ScheduleId> {
  return { found: items, next: hasMore ? (items.at(-1)?.schedule.id ?? next) : next, scanned };
}

export async function search<Id extends string>(
  scan: Scan<Id>,
  { before, limit }: Page<Id>,
  { scanMax, scanRowsMax = SCAN_ROWS_MAX, isTimeUp = () => false }: SearchLimits,
): Promise<Found<Id, Id>> {
  const found: Id[] = [];
  let scanned = 0;
  let from = before;
  for (let rows = FIRST_SCAN_ROWS; scanned < scanMax; rows *= 2) {
    const wanted = Math.min(rows, scanRowsMax, scanMax - scanned);
    const batch = await scan(from, wanted);
    const read = batch[0]?.scanned_rows ?? 0;
    scanned += read;
    found.push(...batch.filter(({ is_match }) => Boolean(is_match)).map(({ id }) => id));
    if (found.length > limit) {
      const enough = found.slice(0, limit);
      return { found: enough, next: enough.at(-1) ?? null, scanned };
    }
    if (read < wanted) return { found, next: null, scanned };
    from = batch.at(-1)?.id ?? from;
    if (isTimeUp()) break;
  }
  return { found, next: from, scanned };
}

/**
 * A search that no index answers: schedules are walked, newest first, and looked at. It goes on in pieces, small ones
 * first, since what is looked for is often among the newest, until enough are found, enough were looked at, or the
 * time is up. At least one piece is walked: whoever goes on from `next` comes to the end.
 */
import type { ScheduleId } from '#src/domain/id.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import type { Found } from '#src/ports/insight-store.ts';
import type { Listed, Page } from '#src/ports/store.ts';

/** Those of a piece that match, and its last one; newest first. */
export interface ScannedRow {
  readonly id: ScheduleId;
  readonly is_match: number | boolean;
  /** How many the piece has. */
  readonly looked: number;
}

type Walk = (before: ScheduleId | null, rows: number) => Promise<readonly ScannedRow[]>;

const FIRST_SCAN_ROWS = 256;
export const SCAN_ROWS_MAX = 4_096;

export interface SearchLimits {
  readonly lookAtMax: number;
  readonly pieceRowsMax?: number;
  readonly isTimeUp?: () => boolean;
}

/** Of a piece, under the name `walked` with an id and `is_match`, what is needed of it. */
export const MATCHES_AND_LAST = `SELECT id, is_match, looked FROM walked
  CROSS JOIN (SELECT min(id) AS last, count(*) AS looked FROM walked) AS piece
  WHERE is_match OR id = last ORDER BY id DESC`;

/** The found ones that fit on a page: the search goes on behind the last one. */
export function fitOnPage(
  { next, scanned }: Pick<Found<ScheduleId, ScheduleId>, 'next' | 'scanned'>,
  { items, hasMore }: Listed<ScheduleView>,
): Found<ScheduleView, ScheduleId> {
  return { found: items, next: hasMore ? (items.at(-1)?.schedule.id ?? next) : next, scanned };
}

export async function search(
  walk: Walk,
  { before, limit }: Page<ScheduleId>,
  { lookAtMax, pieceRowsMax = SCAN_ROWS_MAX, isTimeUp = () => false }: SearchLimits,
): Promise<Found<ScheduleId, ScheduleId>> {
  const found: ScheduleId[] = [];
  let scanned = 0;
  let from = before;
  for (let rows = FIRST_SCAN_ROWS; scanned < lookAtMax; rows *= 2) {
    const asked = Math.min(rows, pieceRowsMax, lookAtMax - scanned);
    const piece = await walk(from, asked);
    const looked = piece[0]?.looked ?? 0;
    scanned += looked;
    found.push(...piece.filter(({ is_match }) => Boolean(is_match)).map(({ id }) => id));
    if (found.length > limit) {
      const enough = found.slice(0, limit);
      return { found: enough, next: enough.at(-1) ?? null, scanned };
    }
    if (looked < asked) return { found, next: null, scanned };
    from = piece.at(-1)?.id ?? from;
    if (isTimeUp()) break;
  }
  return { found, next: from, scanned };
}

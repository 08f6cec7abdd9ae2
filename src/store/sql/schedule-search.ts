/**
 * A search that no index answers: schedules are walked, newest first, and looked at. It goes on in pieces, small ones
 * first, since what is looked for is often among the newest, until enough are found or enough were looked at.
 */
import type { ScheduleId } from '#src/domain/id.ts';
import type { Found } from '#src/ports/insight-store.ts';
import type { Page } from '#src/ports/store.ts';

/** Those of a piece that match, and its last one; newest first. */
export interface WalkedRow {
  readonly id: ScheduleId;
  readonly is_match: number | boolean;
  /** How many the piece has. */
  readonly looked: number;
}

type Walk = (before: ScheduleId | null, rows: number) => Promise<readonly WalkedRow[]>;

const FIRST_PIECE_ROWS = 256;
const PIECE_ROWS_MAX = 4_096;

/** Of a piece, under the name `walked` with an id and `is_match`, what is needed of it. */
export const OF_A_PIECE = `SELECT id, is_match, looked FROM walked
  CROSS JOIN (SELECT min(id) AS last, count(*) AS looked FROM walked) AS piece
  WHERE is_match OR id = last ORDER BY id DESC`;

export async function search(
  walk: Walk,
  { before, limit }: Page<ScheduleId>,
  lookAtMax: number,
): Promise<Found<ScheduleId, ScheduleId>> {
  const found: ScheduleId[] = [];
  let lookedAt = 0;
  let from = before;
  for (let rows = FIRST_PIECE_ROWS; lookedAt < lookAtMax; rows = Math.min(2 * rows, PIECE_ROWS_MAX)) {
    const asked = Math.min(rows, lookAtMax - lookedAt);
    const piece = await walk(from, asked);
    const looked = piece[0]?.looked ?? 0;
    lookedAt += looked;
    found.push(...piece.filter(({ is_match }) => Boolean(is_match)).map(({ id }) => id));
    if (found.length > limit) {
      const enough = found.slice(0, limit);
      return { found: enough, next: enough.at(-1) ?? null, lookedAt };
    }
    if (looked < asked) return { found, next: null, lookedAt };
    from = piece.at(-1)?.id ?? from;
  }
  return { found, next: from, lookedAt };
}

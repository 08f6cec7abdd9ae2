/** How a search looks at a piece of the schedules: along one index, whatever else is asked of them. */
import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/partition.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES } from '#src/domain/schedule.ts';
import type { ScheduleFilter } from '#src/ports/store.ts';
import { PAST_EVERY_ID } from '#src/store/sql/id-ranges.ts';
import { labelDigest } from '#src/store/sql/rows.ts';
import { OF_A_PIECE } from '#src/store/sql/schedule-search.ts';
import { STATE_KEY } from './migrations.ts';
import type { SqlValue } from './reader.ts';

/** What a destination must be. */
export interface Wanted {
  readonly part: string;
  /** Profiles whose destination has that part. */
  readonly profiles: readonly EndpointId[];
}

export interface Piece {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

/** Whatever its case, by the letters of ASCII: as every other text that is compared, by its bytes. */
export function contains(text: string, part: string): string {
  return `position(lower(${part} COLLATE "C") IN lower(${text} COLLATE "C")) > 0`;
}

/** Those that are looked at before this one, and which of them match. */
export function pieceOf(
  partition: Partition,
  filter: ScheduleFilter,
  wanted: Wanted | null,
  before: ScheduleId | null,
  rows: number,
): Piece {
  const parameters: SqlValue[] = [partition, before ?? PAST_EVERY_ID, rows];
  const place = (value: SqlValue) => `$${parameters.push(value)}`;
  const conditions = conditionsOf(filter, wanted, place);
  const isMatch = conditions.length === 0 ? 'true' : conditions.map((one) => `(${one})`).join(' AND ');
  const [label] = filter.labels;
  const walked =
    label === undefined ? alongStates(filter, isMatch) : alongLabel(place(labelDigest(...label)), isMatch);
  return { sql: `WITH walked AS (${walked}) ${OF_A_PIECE}`, parameters };
}

type Place = (value: SqlValue) => string;

/** A walk for each state and kind that fits, merged. `$2`: where the piece starts; `$3`: how long it is. */
function alongStates({ state, kind }: ScheduleFilter, isMatch: string): string {
  const look = `SELECT s.id, ${isMatch} AS is_match FROM schedules s WHERE s.partition = $1`;
  if (state === null && kind === null) return `${look} AND s.id < $2 ORDER BY s.id DESC LIMIT $3`;
  // What is written into a statement is one of our own words.
  const starts = SCHEDULE_STATES.filter((each) => state === null || each === state).flatMap((each) =>
    SCHEDULE_KINDS.filter((other) => kind === null || other === kind).map((other) => `'${each}/${other}/'`),
  );
  const walks = starts.map(
    (start) => `(${look} AND ${STATE_KEY} >= ${start} AND ${STATE_KEY} < ${start} || $2
      ORDER BY ${STATE_KEY} DESC LIMIT $3)`,
  );
  return `SELECT id, is_match FROM (${walks.join(' UNION ALL ')}) a ORDER BY id DESC LIMIT $3`;
}

/** The empty text keeps the planner from going the other way, along the schedules. */
function alongLabel(digest: string, isMatch: string): string {
  return `SELECT l.schedule_id AS id, ${isMatch} AS is_match FROM (
      SELECT schedule_id FROM schedule_labels WHERE partition = $1 AND digest = ${digest} AND schedule_id < $2
      ORDER BY schedule_id DESC LIMIT $3
    ) l JOIN schedules s ON s.partition = $1 AND s.id = l.schedule_id || ''`;
}

/** What the walk does not see to. */
function conditionsOf(filter: ScheduleFilter, wanted: Wanted | null, place: Place): readonly string[] {
  const [label, ...others] = filter.labels;
  const conditions = others.map(
    (other) => `EXISTS (SELECT 1 FROM schedule_labels o
      WHERE o.partition = $1 AND o.digest = ${place(labelDigest(...other))} AND o.schedule_id = l.schedule_id)`,
  );
  if (label !== undefined && filter.state !== null) conditions.push(`s.state = ${place(filter.state)}`);
  if (label !== undefined && filter.kind !== null) conditions.push(`s.kind = ${place(filter.kind)}`);
  if (wanted !== null) {
    conditions.push(
      `CASE WHEN s.endpoint_id IS NULL THEN ${contains('s.endpoint', `${place(wanted.part)}::text`)}
        ELSE s.endpoint_id = ANY(${place(wanted.profiles)}::text[]) END`,
    );
  }
  return conditions;
}

/** How a search looks at a piece of the schedules: along one index, whatever else is asked of them. */
import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/partition.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES } from '#src/domain/schedule.ts';
import type { ScheduleFilter } from '#src/ports/store.ts';
import { PAST_EVERY_ID } from '#src/store/sql/id-ranges.ts';
import { labelDigest } from '#src/store/sql/rows.ts';
import { OF_A_PIECE } from '#src/store/sql/schedule-search.ts';
import type { Parameter } from './questions.ts';

/** What a destination must be. */
export interface Wanted {
  readonly part: string;
  /** Profiles whose destination has that part. */
  readonly profiles: readonly EndpointId[];
}

interface Sql {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** Those that are looked at before this one, and which of them match. */
export function pieceOf(
  partition: Partition,
  filter: ScheduleFilter,
  wanted: Wanted | null,
  before: ScheduleId | null,
  rows: number,
): Sql {
  const conditions = conditionsOf(partition, filter, wanted);
  const isMatch = {
    sql: conditions.length === 0 ? '1' : conditions.map(({ sql }) => `(${sql})`).join(' AND '),
    parameters: conditions.flatMap(({ parameters }) => parameters),
  };
  const [label] = filter.labels;
  const { sql, parameters } =
    label === undefined
      ? alongStates(partition, filter, isMatch, before ?? PAST_EVERY_ID)
      : alongLabel(partition, label, isMatch, before ?? PAST_EVERY_ID);
  return {
    sql: `WITH walked AS (${sql} ORDER BY id DESC LIMIT ?) ${OF_A_PIECE}`,
    parameters: [...parameters, rows],
  };
}

/** A walk for each state and kind that fits. They are merged step by step: each goes no further than it has to. */
function alongStates(
  partition: Partition,
  { state, kind }: ScheduleFilter,
  isMatch: Sql,
  before: string,
): Sql {
  if (state === null && kind === null) {
    return {
      sql: `SELECT s.id, ${isMatch.sql} AS is_match FROM schedules s WHERE s.partition = ? AND s.id < ?`,
      parameters: [...isMatch.parameters, partition, before],
    };
  }
  const walks = (state === null ? SCHEDULE_STATES : [state]).flatMap((each) =>
    (kind === null ? SCHEDULE_KINDS : [kind]).map((other) => [each, other] as const),
  );
  const walk = `SELECT s.id, ${isMatch.sql} AS is_match FROM schedules s INDEXED BY schedules_by_state
    WHERE s.partition = ? AND s.state = ? AND s.kind = ? AND s.id < ?`;
  return {
    sql: walks.map(() => walk).join(' UNION ALL '),
    parameters: walks.flatMap(([each, other]) => [...isMatch.parameters, partition, each, other, before]),
  };
}

/** The + keeps the planner from trading the look-up by id for a walk past the piece's start. */
function alongLabel(partition: Partition, label: Labels[number], isMatch: Sql, before: string): Sql {
  return {
    sql: `SELECT l.schedule_id AS id, ${isMatch.sql} AS is_match FROM schedule_labels l
      CROSS JOIN schedules s ON s.partition = l.partition AND s.id = +l.schedule_id
      WHERE l.partition = ? AND l.digest = ? AND l.schedule_id < ?`,
    parameters: [...isMatch.parameters, partition, labelDigest(...label), before],
  };
}

/** What the walk does not see to. */
function conditionsOf(partition: Partition, filter: ScheduleFilter, wanted: Wanted | null): readonly Sql[] {
  const [label, ...others] = filter.labels;
  const conditions: Sql[] = others.map((other) => ({
    sql: `EXISTS (SELECT 1 FROM schedule_labels o
      WHERE o.partition = ? AND o.digest = ? AND o.schedule_id = l.schedule_id)`,
    parameters: [partition, labelDigest(...other)],
  }));
  if (label !== undefined && filter.state !== null) {
    conditions.push({ sql: 's.state = ?', parameters: [filter.state] });
  }
  if (label !== undefined && filter.kind !== null) {
    conditions.push({ sql: 's.kind = ?', parameters: [filter.kind] });
  }
  if (wanted !== null) {
    conditions.push({
      sql: `CASE WHEN s.endpoint_id IS NULL THEN instr(lower(s.endpoint), lower(?)) > 0
        ELSE s.endpoint_id IN (SELECT value FROM json_each(?)) END`,
      parameters: [wanted.part, JSON.stringify(wanted.profiles)],
    });
  }
  return conditions;
}

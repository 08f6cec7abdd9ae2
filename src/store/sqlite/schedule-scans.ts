/** Searches for schedules. Each batch follows a single index, whatever the filter is. */

import type { ScheduleId } from '#src/domain/id.ts';
import type { Label, Labels } from '#src/domain/labels.ts';
import { labelDigest } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import { HIDDEN_QUERY } from '#src/domain/role.ts';
import type { ScheduleFilter } from '#src/ports/store.ts';
import type { Query, ScheduleScans } from '#src/store/sql/dialect.ts';
import { labelBytes } from '#src/store/sql/digests.ts';
import { PROFILES_MATCHING_MAX, PROFILES_SCANNED_MAX } from '#src/store/sql/insight-queries.ts';
import { rangesOf } from '#src/store/sql/label-rows.ts';
import { PAST_EVERY_ID } from '#src/store/sql/page-bounds.ts';
import { MATCHES_AND_LAST, type WantedDestination } from '#src/store/sql/schedule-search.ts';

/** SQL: the URL contains a text, ignoring case. Parameters: whether its query is hidden, and the text. */
function hasPart(url: string): string {
  return `instr(lower(CASE WHEN ? AND instr(${url}, '?') > 0
    THEN substr(${url}, 1, instr(${url}, '?')) || '${HIDDEN_QUERY}' ELSE ${url} END), lower(?)) > 0`;
}

/** Reads the next rows before an id, and tells which of them match. */
function scanQuery(
  partition: Partition,
  filter: ScheduleFilter,
  wanted: WantedDestination | null,
  before: ScheduleId | null,
  rows: number,
): Query {
  const [label, ...others] = filter.labels;
  const start = before ?? PAST_EVERY_ID;
  const { sql, parameters } =
    label === undefined
      ? alongStates(partition, filter, wanted, start)
      : alongLabel(partition, filter, label, others, wanted, start, rows);
  return {
    sql: `WITH scanned AS (${sql} ORDER BY id DESC LIMIT ?) ${MATCHES_AND_LAST}`,
    parameters: [...parameters, rows],
  };
}

/**
 * One scan for each matching pair of state and kind. SQLite merges them row by row, so none reads more than it must.
 */
function alongStates(
  partition: Partition,
  filter: ScheduleFilter,
  wanted: WantedDestination | null,
  before: string,
): Query {
  const isMatch = allOf(destinationIs(wanted));
  if (filter.state === null && filter.kind === null) {
    return {
      sql: `SELECT s.id, ${isMatch.sql} AS is_match FROM schedules s WHERE s.partition = ? AND s.id < ?`,
      parameters: [...isMatch.parameters, partition, before],
    };
  }
  const scan = `SELECT s.id, ${isMatch.sql} AS is_match FROM schedules s INDEXED BY schedules_by_state
    WHERE s.partition = ? AND s.state = ? AND s.kind = ? AND s.id < ?`;
  const ranges = rangesOf(filter);
  return {
    sql: ranges.map(() => scan).join(' UNION ALL '),
    parameters: ranges.flatMap(([state, kind]) => [...isMatch.parameters, partition, state, kind, before]),
  };
}

/**
 * The same on the rows of a label. The schedule itself is read only for a search by destination. The `+` keeps the
 * planner from replacing the look-up by id with a range scan.
 */
function alongLabel(
  partition: Partition,
  filter: ScheduleFilter,
  label: Label,
  others: Labels,
  wanted: WantedDestination | null,
  before: string,
  rows: number,
): Query {
  const isMatch = allOf([...hasLabels(partition, others), ...destinationIs(wanted)]);
  const schedule =
    wanted === null ? '' : 'CROSS JOIN schedules s ON s.partition = l.partition AND s.id = +l.schedule_id';
  const scan = `SELECT partition, state, kind, schedule_id FROM schedule_labels w
    WHERE w.partition = ? AND w.digest = ? AND w.state = ? AND w.kind = ? AND w.schedule_id < ?`;
  const digest = labelBytes(...label);
  const ranges = rangesOf(filter);
  return {
    sql: `SELECT l.schedule_id AS id, ${isMatch.sql} AS is_match FROM (
        ${ranges.map(() => scan).join(' UNION ALL ')} ORDER BY schedule_id DESC LIMIT ?
      ) l ${schedule}`,
    parameters: [
      ...isMatch.parameters,
      ...ranges.flatMap(([state, kind]) => [partition, digest, state, kind, before]),
      rows,
    ],
  };
}

/** Further labels share one condition. Each SQL text is kept as a prepared statement, so there must not be many. */
const LABELS_WRITTEN_OUT_MAX = 3;

/** Another label of the same schedule has a row with the same state and kind, so it is found by its whole key. */
function hasLabels(partition: Partition, labels: Labels): readonly Query[] {
  const row = (
    digest: string,
  ) => `SELECT 1 FROM schedule_labels o WHERE o.partition = ? AND o.digest = ${digest}
    AND o.state = l.state AND o.kind = l.kind AND o.schedule_id = l.schedule_id`;
  const conditions: Query[] = labels.slice(0, LABELS_WRITTEN_OUT_MAX).map((label) => ({
    sql: `EXISTS (${row('?')})`,
    parameters: [partition, labelBytes(...label)],
  }));
  const rest = labels.slice(LABELS_WRITTEN_OUT_MAX);
  if (rest.length > 0) {
    conditions.push({
      sql: `NOT EXISTS (SELECT 1 FROM json_each(?) d WHERE NOT EXISTS (${row('unhex(d.value)')}))`,
      parameters: [JSON.stringify(rest.map((label) => labelDigest(...label))), partition],
    });
  }
  return conditions;
}

function destinationIs(wanted: WantedDestination | null): readonly Query[] {
  if (wanted === null) return [];
  return [
    {
      sql: `CASE WHEN s.endpoint_id IS NULL THEN ${hasPart('s.url')}
        ELSE s.endpoint_id IN (SELECT value FROM json_each(?)) END`,
      parameters: [Number(wanted.hidesQueries), wanted.part, JSON.stringify(wanted.profiles)],
    },
  ];
}

function allOf(conditions: readonly Query[]): Query {
  return {
    sql: conditions.length === 0 ? '1' : conditions.map(({ sql }) => `(${sql})`).join(' AND '),
    parameters: conditions.flatMap(({ parameters }) => parameters),
  };
}

/** How many schedules have each label. Counting stops at `countMax`. */
function labelCountsQuery(partition: Partition, labels: Labels, countMax: number): Query {
  return {
    sql: `SELECT (SELECT count(*) FROM (
        SELECT 1 FROM schedule_labels WHERE partition = ? AND digest = unhex(d.value) LIMIT ?
      )) AS count FROM json_each(?) d ORDER BY d.key`,
    parameters: [partition, countMax, JSON.stringify(labels.map((label) => labelDigest(...label)))],
  };
}

/** The newest profiles whose URL contains a text. */
function profilesQuery(partition: Partition, part: string, hidesQueries: boolean): Query {
  return {
    sql: `SELECT p.id FROM (
        SELECT id, version FROM endpoint_profiles WHERE partition = ? ORDER BY id DESC LIMIT ?
      ) p CROSS JOIN endpoint_profile_versions v ON v.partition = ? AND v.endpoint_id = p.id AND v.version = p.version
      WHERE ${hasPart('v.url')} LIMIT ?`,
    parameters: [
      partition,
      PROFILES_SCANNED_MAX,
      partition,
      Number(hidesQueries),
      part,
      PROFILES_MATCHING_MAX,
    ],
  };
}

export const SCANS: ScheduleScans = {
  scan: scanQuery,
  labelCounts: labelCountsQuery,
  profilesOf: profilesQuery,
};

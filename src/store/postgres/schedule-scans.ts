/** Searches for schedules. Each batch follows a single index, whatever the filter is. */

import type { ScheduleId } from '#src/domain/id.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import { HIDDEN_QUERY } from '#src/domain/role.ts';
import type { ScheduleFilter } from '#src/ports/store.ts';
import type { Query, ScheduleScans } from '#src/store/sql/dialect.ts';
import { labelBytes } from '#src/store/sql/digests.ts';
import { PROFILES_MATCHING_MAX, PROFILES_SCANNED_MAX } from '#src/store/sql/insight-queries.ts';
import { rangesOf } from '#src/store/sql/label-rows.ts';
import { PAST_EVERY_ID } from '#src/store/sql/page-bounds.ts';
import { MATCHES_AND_LAST, type WantedDestination } from '#src/store/sql/schedule-search.ts';
import { STATE_KEY } from './migrations.ts';
import type { SqlValue } from './parameter-encoding.ts';

/** SQL: contains a text, ignoring the case of ASCII letters. Bytes are compared, as in all other comparisons. */
function contains(text: string, part: string): string {
  return `position(lower(${part} COLLATE "C") IN lower(${text} COLLATE "C")) > 0`;
}

/** SQL: the URL that is compared. If `hides` is 1, its query is left out. */
function comparedUrl(url: string, hides: string): string {
  return `CASE WHEN ${hides}::integer = 1 AND position('?' IN ${url}) > 0
    THEN left(${url}, position('?' IN ${url})) || '${HIDDEN_QUERY}' ELSE ${url} END`;
}

/** Reads the next rows before an id, and tells which of them match. */
function scanQuery(
  partition: Partition,
  filter: ScheduleFilter,
  wanted: WantedDestination | null,
  before: ScheduleId | null,
  rows: number,
): Query {
  const parameters: SqlValue[] = [partition, before ?? PAST_EVERY_ID, rows];
  const bind = (value: SqlValue) => `$${parameters.push(value)}`;
  const [label, ...others] = filter.labels;
  const scanned =
    label === undefined
      ? alongStates(filter, allOf(destinationIs(wanted, bind)))
      : alongLabel(filter, bind(labelBytes(...label)), wanted !== null, [
          ...hasLabels(others, bind),
          ...destinationIs(wanted, bind),
        ]);
  return { sql: `WITH scanned AS (${scanned}) ${MATCHES_AND_LAST}`, parameters };
}

type Bind = (value: SqlValue) => string;

/** One scan for each matching pair of state and kind, merged. `$2`: where the batch starts; `$3`: its length. */
function alongStates(filter: ScheduleFilter, isMatch: string): string {
  const select = `SELECT s.id, ${isMatch} AS is_match FROM schedules s WHERE s.partition = $1`;
  if (filter.state === null && filter.kind === null) {
    return `${select} AND s.id < $2 ORDER BY s.id DESC LIMIT $3`;
  }
  // Only constants of this program become part of the SQL text.
  const scans = rangesOf(filter).map(
    ([state, kind]) => `(${select} AND ${STATE_KEY} >= '${state}/${kind}/'
      AND ${STATE_KEY} < '${state}/${kind}/' || $2 ORDER BY ${STATE_KEY} DESC LIMIT $3)`,
  );
  return `SELECT id, is_match FROM (${scans.join(' UNION ALL ')}) a ORDER BY id DESC LIMIT $3`;
}

/**
 * The same on the rows of a label. The schedule itself is read only for a search by destination. The empty text
 * keeps the planner from scanning schedules instead of label rows.
 */
function alongLabel(
  filter: ScheduleFilter,
  digest: string,
  needsSchedule: boolean,
  conditions: readonly string[],
): string {
  const schedule = needsSchedule ? "JOIN schedules s ON s.partition = $1 AND s.id = l.schedule_id || ''" : '';
  return `SELECT l.schedule_id AS id, ${allOf(conditions)} AS is_match
    FROM (${newestOfLabel(filter, digest)}) l ${schedule}`;
}

/** The newest `$3` rows of a label before `$2`, of every matching state and kind. */
export function newestOfLabel(filter: ScheduleFilter, digest: string): string {
  const scans = rangesOf(filter).map(
    ([state, kind]) => `(SELECT schedule_id, state, kind FROM schedule_labels
      WHERE partition = $1 AND digest = ${digest} AND state = '${state}' AND kind = '${kind}' AND schedule_id < $2
      ORDER BY schedule_id DESC LIMIT $3)`,
  );
  return `SELECT * FROM (${scans.join(' UNION ALL ')}) a ORDER BY schedule_id DESC LIMIT $3`;
}

/** Another label of the same schedule has a row with the same state and kind, so it is found by its whole key. */
function hasLabels(labels: Labels, bind: Bind): readonly string[] {
  if (labels.length === 0) return [];
  // Labels are distinct, because they are counted. The SQL text is the same for any number of labels, because each
  // text is cached.
  const distinct = new Map(labels.map((label) => [JSON.stringify(label), labelBytes(...label)]));
  const digests = `${bind([...distinct.values()])}::bytea[]`;
  return [
    `(SELECT count(*) FROM schedule_labels o WHERE o.partition = $1 AND o.digest = ANY(${digests})
      AND o.state = l.state AND o.kind = l.kind AND o.schedule_id = l.schedule_id) = cardinality(${digests})`,
  ];
}

function destinationIs(wanted: WantedDestination | null, bind: Bind): readonly string[] {
  if (wanted === null) return [];
  const url = comparedUrl('s.url', bind(Number(wanted.hidesQueries)));
  return [
    `CASE WHEN s.endpoint_id IS NULL THEN ${contains(`(${url})`, `${bind(wanted.part)}::text`)}
      ELSE s.endpoint_id = ANY(${bind(wanted.profiles)}::text[]) END`,
  ];
}

function allOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.map((one) => `(${one})`).join(' AND ');
}

/** How many schedules have each label. Counting stops at `countMax`. */
function labelCountsQuery(partition: Partition, labels: Labels, countMax: number): Query {
  return {
    sql: `SELECT (SELECT count(*) FROM (
        SELECT 1 FROM schedule_labels WHERE partition = $1 AND digest = d.digest LIMIT $2
      ) a) AS count FROM unnest($3::bytea[]) WITH ORDINALITY AS d (digest, position) ORDER BY d.position`,
    parameters: [partition, countMax, labels.map((label) => labelBytes(...label))],
  };
}

/** The newest profiles whose URL contains a text. */
function profilesQuery(partition: Partition, part: string, hidesQueries: boolean): Query {
  return {
    sql: `SELECT p.id FROM (
        SELECT id, version FROM endpoint_profiles WHERE partition = $1 ORDER BY id DESC LIMIT $2
      ) p CROSS JOIN LATERAL (
        SELECT v.url FROM endpoint_profile_versions v
        WHERE v.partition = $1 AND v.endpoint_id = p.id AND v.version = p.version LIMIT 1
      ) v WHERE ${contains(`(${comparedUrl('v.url', '$5')})`, '$3::text')} LIMIT $4`,
    parameters: [partition, PROFILES_SCANNED_MAX, part, PROFILES_MATCHING_MAX, Number(hidesQueries)],
  };
}

export const SCANS: ScheduleScans = {
  scan: scanQuery,
  labelCounts: labelCountsQuery,
  profilesOf: profilesQuery,
};

/** How a search looks at a piece of the schedules: along one index, whatever else is asked of them. */

import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import { HIDDEN_QUERY } from '#src/domain/role.ts';
import type { ScheduleFilter } from '#src/ports/store.ts';
import { labelBytes } from '#src/store/sql/digests.ts';
import { rangesOf } from '#src/store/sql/label-rows.ts';
import { PAST_EVERY_ID } from '#src/store/sql/page-bounds.ts';
import { MATCHES_AND_LAST } from '#src/store/sql/schedule-search.ts';
import { STATE_KEY } from './migrations.ts';
import type { SqlValue } from './parameter-encoding.ts';

/** What a destination must be. */
export interface WantedDestination {
  readonly part: string;
  readonly hidesQueries: boolean;
  /** Profiles whose destination has that part. */
  readonly profiles: readonly EndpointId[];
}

export interface Query {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

/** Whatever its case, by the letters of ASCII: as every other text that is compared, by its bytes. */
export function contains(text: string, part: string): string {
  return `position(lower(${part} COLLATE "C") IN lower(${text} COLLATE "C")) > 0`;
}

/** A URL as it is compared: where `hides` is 1, without its query. */
export function comparedUrl(url: string, hides: string): string {
  return `CASE WHEN ${hides}::integer = 1 AND position('?' IN ${url}) > 0
    THEN left(${url}, position('?' IN ${url})) || '${HIDDEN_QUERY}' ELSE ${url} END`;
}

/** Those that are looked at before this one, and which of them match. */
export function scanQuery(
  partition: Partition,
  filter: ScheduleFilter,
  wanted: WantedDestination | null,
  before: ScheduleId | null,
  rows: number,
): Query {
  const parameters: SqlValue[] = [partition, before ?? PAST_EVERY_ID, rows];
  const place = (value: SqlValue) => `$${parameters.push(value)}`;
  const [label, ...others] = filter.labels;
  const scanned =
    label === undefined
      ? alongStates(filter, allOf(destinationIs(wanted, place)))
      : alongLabel(filter, place(labelBytes(...label)), wanted !== null, [
          ...hasLabels(others, place),
          ...destinationIs(wanted, place),
        ]);
  return { sql: `WITH scanned AS (${scanned}) ${MATCHES_AND_LAST}`, parameters };
}

type Place = (value: SqlValue) => string;

/** A scan for each state and kind that fits, merged. `$2`: where the piece starts; `$3`: how long it is. */
function alongStates(filter: ScheduleFilter, isMatch: string): string {
  const look = `SELECT s.id, ${isMatch} AS is_match FROM schedules s WHERE s.partition = $1`;
  if (filter.state === null && filter.kind === null) {
    return `${look} AND s.id < $2 ORDER BY s.id DESC LIMIT $3`;
  }
  // What is written into a statement is one of our own words.
  const scans = rangesOf(filter).map(
    ([state, kind]) => `(${look} AND ${STATE_KEY} >= '${state}/${kind}/'
      AND ${STATE_KEY} < '${state}/${kind}/' || $2 ORDER BY ${STATE_KEY} DESC LIMIT $3)`,
  );
  return `SELECT id, is_match FROM (${scans.join(' UNION ALL ')}) a ORDER BY id DESC LIMIT $3`;
}

/**
 * The same along the rows of a label. The schedule itself is read only where its destination counts; the empty text
 * keeps the planner from going the other way, along the schedules.
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

/** The newest `$3` rows before `$2` of a label, with any state and kind that fits. */
export function newestOfLabel(filter: ScheduleFilter, digest: string): string {
  const scans = rangesOf(filter).map(
    ([state, kind]) => `(SELECT schedule_id, state, kind FROM schedule_labels
      WHERE partition = $1 AND digest = ${digest} AND state = '${state}' AND kind = '${kind}' AND schedule_id < $2
      ORDER BY schedule_id DESC LIMIT $3)`,
  );
  return `SELECT * FROM (${scans.join(' UNION ALL ')}) a ORDER BY schedule_id DESC LIMIT $3`;
}

/** A further label of a schedule has a row with the same state and kind: it is found by its whole key. */
function hasLabels(labels: Labels, place: Place): readonly string[] {
  if (labels.length === 0) return [];
  // Each once: they are counted. One text, however many there are: what is known of each text is kept.
  const distinct = new Map(labels.map((label) => [JSON.stringify(label), labelBytes(...label)]));
  const digests = `${place([...distinct.values()])}::bytea[]`;
  return [
    `(SELECT count(*) FROM schedule_labels o WHERE o.partition = $1 AND o.digest = ANY(${digests})
      AND o.state = l.state AND o.kind = l.kind AND o.schedule_id = l.schedule_id) = cardinality(${digests})`,
  ];
}

function destinationIs(wanted: WantedDestination | null, place: Place): readonly string[] {
  if (wanted === null) return [];
  const url = comparedUrl('s.endpoint', place(Number(wanted.hidesQueries)));
  return [
    `CASE WHEN s.endpoint_id IS NULL THEN ${contains(`(${url})`, `${place(wanted.part)}::text`)}
      ELSE s.endpoint_id = ANY(${place(wanted.profiles)}::text[]) END`,
  ];
}

function allOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.map((one) => `(${one})`).join(' AND ');
}

/** How many schedules have each label, counted no further than that. */
export function labelCountsQuery(partition: Partition, labels: Labels, countMax: number): Query {
  return {
    sql: `SELECT (SELECT count(*) FROM (
        SELECT 1 FROM schedule_labels WHERE partition = $1 AND digest = d.digest LIMIT $2
      ) a) AS count FROM unnest($3::bytea[]) WITH ORDINALITY AS d (digest, place) ORDER BY d.place`,
    parameters: [partition, countMax, labels.map((label) => labelBytes(...label))],
  };
}

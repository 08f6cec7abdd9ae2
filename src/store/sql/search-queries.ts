/** The queries of a search for schedules. Each batch follows a single index, whatever the filter is. */
import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import { type Labels, labelDigest } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import { HIDDEN_QUERY } from '#src/domain/role.ts';
import type { ScheduleFilter } from '#src/ports/store.ts';
import type { Syntax } from './dialect.ts';
import { labelBytes } from './digests.ts';
import { joined, type Query, raw, sql } from './query.ts';
import { labelScans, scheduleScans, schedulesOf } from './scans.ts';

/** The newest endpoint profiles that a search by destination reads. */
const PROFILES_SCANNED_MAX = 10_000;
/** Endpoint profiles that may match a search by destination. */
const PROFILES_MATCHING_MAX = 1_000;

/** A text that the destination of a schedule must contain. */
export interface WantedPart {
  readonly part: string;
  readonly hidesQueries: boolean;
}

/** The destination that a schedule must have. */
export interface WantedDestination extends WantedPart {
  /** Endpoint profiles whose URL contains the text. */
  readonly profiles: readonly EndpointId[];
}

/** The rows of a batch that match, and its last row; newest first. */
export interface ScannedRow {
  readonly id: ScheduleId;
  readonly is_match: number | boolean;
  /** How many rows the batch has. */
  readonly scanned_rows: number;
}

/** Reads the next rows before an id, and tells which of them match. Its rows are `ScannedRow`. */
export function scanQuery(
  syntax: Syntax,
  partition: Partition,
  filter: ScheduleFilter,
  wanted: WantedDestination | null,
  before: ScheduleId | null,
  rows: number,
): Query {
  const [label, ...others] = filter.labels;
  const isWanted = wanted === null ? raw('true') : destinationIs(syntax, wanted);
  const batch =
    label === undefined
      ? syntax.merge(
          scheduleScans(syntax, sql`s.id, ${isWanted} AS is_match`, partition, filter, before),
          rows,
        )
      : // The schedule itself is read only for a search by destination.
        sql`SELECT l.id, ${hasLabels(syntax, partition, others)} AND ${isWanted} AS is_match
          FROM (${syntax.merge(labelScans(label, partition, filter, before), rows)}) l
          ${wanted === null ? raw('') : schedulesOf(partition)}`;
  // SQLite would otherwise scan a batch once for each of its two uses.
  return sql`WITH scanned AS MATERIALIZED (${batch}) SELECT id, is_match, scanned_rows FROM scanned
    CROSS JOIN (SELECT min(id) AS last, count(*) AS scanned_rows FROM scanned) AS batch
    WHERE is_match OR id = last ORDER BY id DESC`;
}

/** Another label of the same schedule has a row with the same state and kind, so it is found by its whole key. */
function hasLabels(syntax: Syntax, partition: Partition, labels: Labels): Query {
  if (labels.length === 0) return raw('true');
  // Labels are distinct, because they are counted.
  const distinct = [...new Map(labels.map((label) => [labelDigest(...label), label])).values()];
  return sql`(SELECT count(*) FROM schedule_labels o
    WHERE o.partition = ${partition} AND ${syntax.isDigestOfOne('o.digest', distinct)}
      AND o.state = l.state AND o.kind = l.kind AND o.schedule_id = l.id) = ${distinct.length}`;
}

function destinationIs(syntax: Syntax, wanted: WantedDestination): Query {
  return sql`CASE WHEN s.endpoint_id IS NULL THEN ${contains(syntax, 's.url', wanted)}
    ELSE ${syntax.isOneOf('s.endpoint_id', wanted.profiles)} END`;
}

/** The URL contains a text, ignoring the case of ASCII letters. */
function contains({ lower, positionOf }: Syntax, url: string, { part, hidesQueries }: WantedPart): Query {
  const queryAt = `${positionOf}(${url}, '?')`;
  const shown = hidesQueries
    ? `CASE WHEN ${queryAt} > 0 THEN substr(${url}, 1, ${queryAt}) || '${HIDDEN_QUERY}' ELSE ${url} END`
    : url;
  return sql`${raw(positionOf)}(${lower(raw(`(${shown})`))}, ${lower(sql`CAST(${part} AS text)`)}) > 0`;
}

/** The newest profiles whose URL contains a text. */
export function profilesQuery(syntax: Syntax, partition: Partition, wanted: WantedPart): Query {
  return sql`SELECT id FROM (
      SELECT p.id, (
        SELECT v.url FROM endpoint_profile_versions v
        WHERE v.partition = ${partition} AND v.endpoint_id = p.id AND v.version = p.version
      ) AS url FROM endpoint_profiles p WHERE p.partition = ${partition}
      ORDER BY p.id DESC LIMIT ${PROFILES_SCANNED_MAX}
    ) newest WHERE ${contains(syntax, 'url', wanted)} LIMIT ${PROFILES_MATCHING_MAX}`;
}

/** Counts the schedules of each label, named by its position. Counting stops at `countMax`. */
export function labelCountsQuery(partition: Partition, labels: Labels, countMax: number): Query {
  const counts = labels.map(
    (label, position) => sql`SELECT ${raw(String(position))} AS position, count(*) AS count FROM (
      SELECT 1 FROM schedule_labels
      WHERE partition = ${partition} AND digest = ${labelBytes(...label)} LIMIT ${countMax}
    ) a`,
  );
  return joined(counts, ' UNION ALL ');
}

/** The queries of searches. Each batch follows a single index, whatever the filter is. */
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { LabelDigest } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import { HIDDEN_QUERY } from '#src/domain/role.ts';
import type { DeliveryFilter, ScheduleSearch } from '#src/ports/lists.ts';
import type { Syntax } from './dialect.ts';
import { digestBytes } from './digests.ts';
import { joined, type Query, raw, sql } from './query.ts';
import { deliveryScans, firstOfEach, labelScans, scheduleScans, schedulesOf, uncoveredBy } from './scans.ts';

export interface WantedSchedules extends ScheduleSearch {
  /** Of the label or the name whose rows are scanned. Null: the schedules of the profile or the state are. */
  readonly scannedDigest: LabelDigest | null;
  readonly otherDigests: readonly LabelDigest[];
}

/** The rows of a batch that match, and its last row; newest first. */
export interface ScannedRow<Id> {
  readonly id: Id;
  readonly is_match: number | boolean | null;
  /** How many rows the batch has. */
  readonly scanned_rows: number;
}

/** Reads the next schedules before an id, and tells which of them match. Its rows are `ScannedRow`. */
export function scanQuery(
  syntax: Syntax,
  partition: Partition,
  wanted: WantedSchedules,
  before: ScheduleId | null,
  rows: number,
): Query {
  const { scannedDigest: digest, otherDigests, endpointId = null, destination } = wanted;
  const isWanted = destination === null ? raw('true') : destinationIs(syntax, partition, wanted, destination);
  if (digest === null) {
    const isMatch = sql`${hasDigests(syntax, partition, 's', 's.id', otherDigests)} AND ${isWanted}`;
    const scans = scheduleScans(syntax, sql`s.id, ${isMatch} AS is_match`, partition, wanted, before);
    return matchesIn(syntax.merge(scans, rows));
  }
  const hasProfile = endpointId === null ? raw('true') : sql`s.endpoint_id = ${endpointId}`;
  // The schedule itself is read only for its profile and its destination.
  const schedules = endpointId === null && destination === null ? raw('') : schedulesOf(partition);
  return matchesIn(
    sql`SELECT l.id, ${hasDigests(syntax, partition, 'l', 'l.id', otherDigests)} AND ${hasProfile} AND ${isWanted}
        AS is_match
      FROM (${syntax.merge(labelScans(digest, partition, wanted, before), rows)}) l ${schedules}`,
  );
}

/** The same of deliveries. */
export function deliveryScanQuery(
  syntax: Syntax,
  partition: Partition,
  wanted: DeliveryFilter,
  before: DeliveryId | null,
  rows: number,
): Query {
  const columns = sql`id, ${uncoveredBy(wanted)} AS is_match`;
  return matchesIn(syntax.merge(deliveryScans(syntax, columns, partition, wanted, before), rows));
}

function matchesIn(batch: Query): Query {
  // SQLite would otherwise scan a batch once for each of its two uses.
  return sql`WITH scanned AS MATERIALIZED (${batch}) SELECT id, is_match, scanned_rows FROM scanned
    CROSS JOIN (SELECT min(id) AS last, count(*) AS scanned_rows FROM scanned) AS batch
    WHERE is_match OR id = last ORDER BY id DESC`;
}

/**
 * Another label of the schedule in the table `row` has a row with the same state and kind, so it is found by its whole
 * key.
 */
function hasDigests(
  syntax: Syntax,
  partition: Partition,
  row: string,
  id: string,
  digests: readonly LabelDigest[],
): Query {
  if (digests.length === 0) return raw('true');
  return sql`(SELECT count(*) FROM schedule_labels o
    WHERE o.partition = ${partition} AND ${syntax.isDigestOfOne('o.digest', digests)}
      AND o.state = ${raw(row)}.state AND o.kind = ${raw(row)}.kind AND o.schedule_id = ${raw(id)}) = ${digests.length}`;
}

/** The URL of the schedule `s`, or the present URL of its profile, contains a text. Its name may contain it instead. */
function destinationIs(
  syntax: Syntax,
  partition: Partition,
  { hidesQueries, inNames = false }: ScheduleSearch,
  part: string,
): Query {
  const urlContains = (url: string) => contains(syntax, hidesQueries ? visible(syntax, url) : url, part);
  const ofProfile = sql`(SELECT ${urlContains('v.url')} FROM endpoint_profiles p
    JOIN endpoint_profile_versions v
      ON v.partition = ${partition} AND v.endpoint_id = p.id AND v.version = p.version
    WHERE p.partition = ${partition} AND p.id = s.endpoint_id)`;
  const isTo = sql`CASE WHEN s.endpoint_id IS NULL THEN ${urlContains('s.url')} ELSE ${ofProfile} END`;
  return inNames ? sql`(${contains(syntax, 's.name', part)} OR ${isTo})` : isTo;
}

function visible({ positionOf }: Syntax, url: string): string {
  const queryAt = `${positionOf}(${url}, '?')`;
  return `(CASE WHEN ${queryAt} > 0 THEN substr(${url}, 1, ${queryAt}) || '${HIDDEN_QUERY}' ELSE ${url} END)`;
}

/** A column contains a text, ignoring the case of ASCII letters. */
function contains({ lower, positionOf }: Syntax, column: string, part: string): Query {
  return sql`${raw(positionOf)}(${lower(raw(column))}, ${lower(sql`CAST(${part} AS text)`)}) > 0`;
}

/**
 * Counts the schedules of each digest, named by its position, and then those of the profile. Counting stops at
 * `countMax`.
 */
export function countsQuery(
  syntax: Syntax,
  partition: Partition,
  digests: readonly LabelDigest[],
  endpointId: EndpointId | null,
  countMax: number,
): Query {
  const counted = digests.map(
    (digest) => sql`schedule_labels WHERE partition = ${partition} AND digest = ${digestBytes(digest)}`,
  );
  if (endpointId !== null) {
    const filter = { state: null, kind: null, endpointId };
    const ofProfile = scheduleScans(syntax, raw('s.id'), partition, filter, null);
    counted.push(sql`(${firstOfEach(ofProfile, countMax)}) c`);
  }
  const counts = counted.map(
    (rows, position) =>
      sql`SELECT ${raw(String(position))} AS position, count(*) AS count
        FROM (SELECT 1 FROM ${rows} LIMIT ${countMax}) a`,
  );
  return joined(counts, ' UNION ALL ');
}

/**
 * The queries of the API. Each is one statement about one partition: a look-up by key or a bounded index scan. Joins
 * happen after the page was cut.
 *
 * The partition is a parameter for every table, and is not only joined. Each table then finds its rows by a
 * constant, and Citus sends the whole query to one server. Columns are listed, and never `*`, because a prepared
 * statement must not change when a later version adds a column.
 */

import { DELIVERY_STATUSES, type Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import {
  type DeliveryFilter,
  LISTED_BYTES_MAX,
  type Listed,
  type ListFilter,
  type Page,
} from '#src/ports/store.ts';
import { labelBytes } from '#src/store/sql/digests.ts';
import {
  FIRING_PROFILE_COLUMNS,
  JOINED_DELIVERY,
  JOINED_SCHEDULE,
  PROFILE_COLUMNS,
  profileIn,
  viewIn,
} from '#src/store/sql/joined-rows.ts';
import { rangesOf } from '#src/store/sql/label-rows.ts';
import type { Row } from '#src/store/sql/mapping.ts';
import { idsAfter, idsBefore, PAST_EVERY_ID } from '#src/store/sql/page-bounds.ts';
import { DELIVERY } from '#src/store/sql/rows.ts';
import { STATE_KEY, STATUS_KEY } from './migrations.ts';
import type { Reader } from './read-pool.ts';
import { newestOfLabel } from './schedule-scans.ts';

const NEWEST_VERSION = `JOIN endpoint_profile_versions v
  ON v.partition = $1 AND v.endpoint_id = p.id AND v.version = p.version`;

/** Schedules under the alias `s`, joined with what the API shows with them. */
function viewsOf(schedules: string, more = ''): string {
  return `SELECT ${JOINED_SCHEDULE.columns}, ${JOINED_DELIVERY.columns}, ${FIRING_PROFILE_COLUMNS} ${more}
    FROM ${schedules} s
    LEFT JOIN deliveries d ON d.partition = $1 AND d.id = s.pending_id
    LEFT JOIN (endpoint_profiles p ${NEWEST_VERSION}) ON p.partition = $1 AND p.id = s.endpoint_id`;
}

/**
 * The newest rows that fit into the byte limit of a page. PostgreSQL knows the size of a value without reading it,
 * and rows that do not fit are not read. `$3`: one more than the page shows, which tells whether there is more.
 */
function fitting(rows: string): string {
  return `(SELECT * FROM (
      SELECT r.*, row_number() OVER newest AS position, sum(r.bytes) OVER newest AS bytes_so_far, count(*) OVER () AS scanned
      FROM (${rows}) r WINDOW newest AS (ORDER BY r.id DESC)
    ) r WHERE r.position = 1 OR r.position < $3 AND r.bytes_so_far <= ${LISTED_BYTES_MAX})`;
}

function listedOf<T>(rows: readonly Row[], itemIn: (row: Row) => T): Listed<T> {
  return { items: rows.map(itemIn), hasMore: Number(rows[0]?.scanned ?? 0) > rows.length };
}

const SCHEDULE_SIZE = `octet_length(s.metadata) + octet_length(s.header_names)
  + coalesce(octet_length(s.url), 0) AS bytes`;

function fittingViews(schedules: string): string {
  return `${viewsOf(fitting(`SELECT s.*, ${SCHEDULE_SIZE} FROM (${schedules}) s`), ', s.scanned')} ORDER BY s.id DESC`;
}

const VIEWS = fittingViews('SELECT s.* FROM schedules s WHERE s.partition = $1 AND s.id = ANY($2::text[])');

/** `$2`: where the page starts; `$3`: its length. */
const NEWEST_FIRST = 'ORDER BY s.id DESC LIMIT $3';

function listed(scans: readonly string[]): string {
  const all = scans.map((scan) => `(${scan})`).join(' UNION ALL ');
  return fittingViews(`SELECT s.* FROM (${all}) s ${NEWEST_FIRST}`);
}

const ALL_SCHEDULES = listed([
  `SELECT s.* FROM schedules s WHERE s.partition = $1 AND s.id < $2 ${NEWEST_FIRST}`,
]);

/**
 * One bounded scan for each matching pair of state and kind, merged. One index serves every combination. Only
 * constants of this program become part of the SQL text.
 */
function byState(filter: ListFilter): string {
  return listed(
    rangesOf(filter).map(
      ([state, kind]) => `SELECT s.* FROM schedules s
        WHERE s.partition = $1 AND ${STATE_KEY} >= '${state}/${kind}/' AND ${STATE_KEY} < '${state}/${kind}/' || $2
        ORDER BY ${STATE_KEY} DESC LIMIT $3`,
    ),
  );
}

/** `$4`: the label. The empty text keeps the planner from scanning schedules instead of label rows. */
function byLabel(filter: ListFilter): string {
  return listed([
    `SELECT s.* FROM (${newestOfLabel(filter, '$4')}) l
     JOIN schedules s ON s.partition = $1 AND s.id = l.schedule_id || ''`,
  ]);
}

const PROFILE_SIZE = `SELECT octet_length(v.metadata) + octet_length(v.header_names) + octet_length(v.url)
  FROM endpoint_profile_versions v WHERE v.partition = $1 AND v.endpoint_id = p.id AND v.version = p.version`;

/** Ids begin with the instant of creation, so a range of instants is a range of ids. */
const CREATED = 'id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4';
const IN_PARTITION = `SELECT ${DELIVERY.columns.join(', ')} FROM deliveries
  WHERE partition = $1`;
const DELIVERIES = `${IN_PARTITION} AND ${CREATED}`;
const DELIVERIES_OF_STATUS = `${IN_PARTITION}
  AND ${STATUS_KEY} >= $5 || '/' || $2 AND ${STATUS_KEY} < $5 || '/' || $3
  ORDER BY ${STATUS_KEY} DESC LIMIT $4`;
const OF_SCHEDULE = `${IN_PARTITION} AND schedule_id = $5`;
const DELIVERIES_OF_SCHEDULE_AND_STATUS = `${OF_SCHEDULE} AND status = $6 AND ${CREATED}`;
/** One bounded scan for each status, merged. One index serves the list of a schedule with and without this filter. */
const DELIVERIES_OF_SCHEDULE = `${DELIVERY_STATUSES.map(
  (status) => `(${OF_SCHEDULE} AND status = '${status}' AND ${CREATED})`,
).join(' UNION ALL ')} ORDER BY id DESC LIMIT $4`;

export class Reads {
  readonly #reader: Reader;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  async schedules(
    partition: Partition,
    filter: ListFilter,
    page: Page<ScheduleId>,
  ): Promise<Listed<ScheduleView>> {
    const rows = await this.#reader.query<Row>(
      listOf(filter),
      partition,
      page.before ?? PAST_EVERY_ID,
      page.limit + 1,
      ...filter.labels.map((label) => labelBytes(...label)),
    );
    return listedOf(rows, viewIn);
  }

  async schedulesOf(partition: Partition, ids: readonly ScheduleId[]): Promise<Listed<ScheduleView>> {
    if (ids.length === 0) return { items: [], hasMore: false };
    return listedOf(await this.#reader.query<Row>(VIEWS, partition, ids, ids.length + 1), viewIn);
  }

  async deliveries(
    partition: Partition,
    { status, scheduleId, createdAfter, createdBefore }: DeliveryFilter,
    page: Page<DeliveryId>,
  ): Promise<readonly Delivery[]> {
    const range = [partition, idsAfter(createdAfter), idsBefore(createdBefore, page.before), page.limit];
    const read = (sql: string, ...more: readonly string[]) => this.#reader.query<Row>(sql, ...range, ...more);
    const rows = await (scheduleId === null
      ? status === null
        ? read(DELIVERIES)
        : read(DELIVERIES_OF_STATUS, status)
      : status === null
        ? read(DELIVERIES_OF_SCHEDULE, scheduleId)
        : read(DELIVERIES_OF_SCHEDULE_AND_STATUS, scheduleId, status));
    return rows.map(DELIVERY.from);
  }

  async profiles(
    partition: Partition,
    includeArchived: boolean,
    page: Page<EndpointId>,
  ): Promise<Listed<EndpointProfile>> {
    const rows = await this.#reader.query<Row>(
      `SELECT ${PROFILE_COLUMNS}, p.scanned FROM ${fitting(
        `SELECT p.*, (${PROFILE_SIZE}) AS bytes FROM (
           SELECT * FROM endpoint_profiles WHERE partition = $1 AND id < $2 ${includeArchived ? '' : 'AND archived = 0'}
           ORDER BY id DESC LIMIT $3
         ) p`,
      )} p ${NEWEST_VERSION} ORDER BY p.id DESC`,
      partition,
      page.before ?? PAST_EVERY_ID,
      page.limit + 1,
    );
    return listedOf(rows, profileIn);
  }
}

function listOf(filter: ListFilter): string {
  if (filter.labels.length > 0) return byLabel(filter);
  return filter.state === null && filter.kind === null ? ALL_SCHEDULES : byState(filter);
}

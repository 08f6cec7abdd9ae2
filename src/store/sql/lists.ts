/**
 * The lists of the API and the dashboard. Each is one query: bounded index scans, and joins after the page was cut.
 * Every table is asked for its partition by a parameter, so that Citus sends the whole query to one server.
 */
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { LISTED_BYTES_MAX, type Listed } from '#src/ports/lists.ts';
import type { Store } from '#src/ports/store.ts';
import { RECENT_ATTEMPT_COLUMNS, recentAttemptIn } from './attempt-rows.ts';
import type { SqlReader, Syntax } from './dialect.ts';
import { digestsIn } from './digests.ts';
import { profileIn, viewIn } from './joined-rows.ts';
import type { Row } from './mapping.ts';
import { PAST_EVERY_ID } from './page-bounds.ts';
import { type Query, raw, sql } from './query.ts';
import { objectTexts, VIEW_JOINS } from './reads.ts';
import { DELIVERY } from './rows.ts';
import {
  attemptScans,
  deliveryScans,
  LAST_ENDED_FIRST,
  labelScans,
  scheduleScans,
  schedulesOf,
} from './scans.ts';

/** Both databases know the size of a value without reading it. */
const SCHEDULE_BYTES = `octet_length(s.metadata) + octet_length(s.header_names)
  + coalesce(octet_length(s.url), 0) AS bytes`;
const PROFILE_BYTES = `SELECT octet_length(v.metadata) + octet_length(v.header_names) + octet_length(v.url)
  FROM endpoint_profile_versions v`;
const DELIVERY_COLUMNS = raw(DELIVERY.columns.join(', '));

type Lists = Pick<
  Store,
  | 'listSchedules'
  | 'findSchedules'
  | 'listDeliveries'
  | 'findDeliveries'
  | 'listRecentAttempts'
  | 'listProfiles'
>;

export function lists(reader: SqlReader, syntax: Syntax): Lists {
  const { indexedBy, merge, scansCarryRows } = syntax;
  const texts = objectTexts(syntax.longText);
  const sized = raw(`${scansCarryRows ? 's.*' : 's.id'}, ${SCHEDULE_BYTES}`);
  const ask = (query: Query) => reader.query<Row>(query.sql, ...query.parameters);

  async function views(partition: Partition, schedules: Query, limit: number) {
    const fits = fitting(schedules, limit);
    const source = scansCarryRows
      ? sql`(${fits}) s`
      : sql`(${fits}) f LEFT JOIN schedules s ON s.partition = ${partition} AND s.id = f.id`;
    const joins = { sql: VIEW_JOINS, parameters: [partition, partition, partition] };
    const rows = await ask(sql`SELECT ${raw(texts.viewColumns)}, scanned FROM ${source} ${joins}`);
    return listed(rows, 's_id', viewIn);
  }

  return {
    listSchedules: (partition, filter, { before, limit }) => {
      // One row more than the page shows tells whether there is more.
      const rows = limit + 1;
      const [digest] = digestsIn(filter);
      if (digest === undefined) {
        return views(partition, merge(scheduleScans(syntax, sized, partition, filter, before), rows), rows);
      }
      const labelled = merge(labelScans(digest, partition, filter, before), rows);
      return views(partition, sql`SELECT ${sized} FROM (${labelled}) l ${schedulesOf(partition)}`, rows);
    },

    findSchedules: async (partition, ids: readonly ScheduleId[]) => {
      if (ids.length === 0) return { items: [], hasMore: false };
      const schedules = sql`SELECT ${sized} FROM schedules s
        WHERE s.partition = ${partition} AND ${syntax.isOneOf('s.id', ids)}`;
      return views(partition, schedules, ids.length + 1);
    },

    listDeliveries: async (partition, filter, { before, limit }) => {
      const scans = deliveryScans(syntax, DELIVERY_COLUMNS, partition, filter, before);
      return (await ask(merge(scans, limit))).map(DELIVERY.from);
    },

    findDeliveries: async (partition, ids: readonly DeliveryId[]) => {
      if (ids.length === 0) return [];
      const rows = await ask(sql`SELECT ${DELIVERY_COLUMNS} FROM deliveries
        WHERE partition = ${partition} AND ${syntax.isOneOf('id', ids)}`);
      return newestFirst(rows, 'id').map(DELIVERY.from);
    },

    listRecentAttempts: async (partition, filter, before, limit) => {
      const ended = merge(attemptScans(syntax, partition, filter, before), limit, LAST_ENDED_FIRST);
      const rows = await ask(sql`SELECT ${raw(RECENT_ATTEMPT_COLUMNS)} FROM (${ended}) k
        LEFT JOIN attempts a
          ON a.partition = ${partition} AND a.delivery_id = k.delivery_id AND a.attempt_no = k.attempt_no
        LEFT JOIN deliveries d ON d.partition = ${partition} AND d.id = k.delivery_id
        LEFT JOIN schedules s ON s.partition = ${partition} AND s.id = d.schedule_id
        ORDER BY k.finished_at DESC, k.id DESC`);
      return rows.map(recentAttemptIn);
    },

    listProfiles: async (partition, includeArchived, { before, limit }) => {
      const [index, condition] = includeArchived
        ? ['', '']
        : [indexedBy('endpoint_profiles_unarchived'), 'AND archived = 0'];
      const heads = sql`SELECT p.*, (${raw(PROFILE_BYTES)}
          WHERE v.partition = ${partition} AND v.endpoint_id = p.id AND v.version = p.version) AS bytes
        FROM (
          SELECT * FROM endpoint_profiles ${raw(index)}
          WHERE partition = ${partition} AND id < ${before ?? PAST_EVERY_ID} ${raw(condition)}
          ORDER BY id DESC LIMIT ${limit + 1}
        ) p`;
      const rows = await ask(
        sql`SELECT ${raw(texts.profileColumns)}, scanned FROM (${fitting(heads, limit + 1)}) p
          LEFT JOIN endpoint_profile_versions v
            ON v.partition = ${partition} AND v.endpoint_id = p.id AND v.version = p.version`,
      );
      return listed(rows, 'p_id', profileIn);
    },
  };
}

/** The newest of `rows` that fit into the byte limit of a page, and fewer than `limit`. The others are not read. */
function fitting(rows: Query, limit: number): Query {
  return sql`SELECT * FROM (
      SELECT r.*, row_number() OVER newest AS position, sum(r.bytes) OVER newest AS bytes_so_far,
        count(*) OVER () AS scanned
      FROM (${rows}) r WINDOW newest AS (ORDER BY r.id DESC)
    ) r WHERE r.position = 1 OR r.position < ${limit} AND r.bytes_so_far <= ${LISTED_BYTES_MAX}`;
}

function listed<T>(rows: readonly Row[], id: string, itemIn: (row: Row) => T): Listed<T> {
  return { items: newestFirst(rows, id).map(itemIn), hasMore: Number(rows[0]?.scanned ?? 0) > rows.length };
}

/** Rows are sorted here: SQLite would copy all their columns to sort them. */
function newestFirst(rows: readonly Row[], id: string): readonly Row[] {
  return rows.toSorted((one, other) => (String(one[id]) < String(other[id]) ? 1 : -1));
}

/** The queries of the API, on a read-only connection. Each is one look-up by key or one bounded index scan. */

import { DELIVERY_STATUSES, type Delivery, type DeliveryStatus } from '#src/domain/delivery.ts';
import type { EndpointProfile, FiringProfile } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { FiringSchedule, ScheduleView } from '#src/domain/schedule.ts';
import {
  type DeliveryFilter,
  LISTED_BYTES_MAX,
  type Listed,
  type ListFilter,
  type Page,
} from '#src/ports/store.ts';
import { labelBytes } from '#src/store/sql/digests.ts';
import { profileIn, viewIn } from '#src/store/sql/joined-rows.ts';
import { rangesOf } from '#src/store/sql/label-rows.ts';
import type { Row } from '#src/store/sql/mapping.ts';
import { idsAfter, idsBefore, PAST_EVERY_ID } from '#src/store/sql/page-bounds.ts';
import { objectTexts } from '#src/store/sql/reads.ts';
import { DELIVERY, FIRING_PROFILE_VERSION, FIRING_SCHEDULE, PROFILE_HEAD } from '#src/store/sql/rows.ts';
import type { Parameter } from '#src/store/sql/steps.ts';
import type { Db } from './connection.ts';
import { PreparedQueries } from './prepared-queries.ts';

export class Reads {
  readonly #queries: PreparedQueries;

  constructor(db: Db) {
    this.#queries = new PreparedQueries(db);
  }

  #view(partition: Partition, id: ScheduleId): ScheduleView | null {
    const key = [partition, partition, partition, partition, id];
    const row = this.#queries.get<Row>(TEXTS.scheduleView, ...key);
    return row === undefined ? null : viewIn(row);
  }

  firingSchedule(partition: Partition, id: ScheduleId): FiringSchedule | null {
    const sql = `SELECT ${FIRING_SCHEDULE.columns.join(', ')} FROM schedules WHERE partition = ? AND id = ?`;
    const row = this.#queries.get<Row>(sql, partition, id);
    return row === undefined ? null : FIRING_SCHEDULE.from(row);
  }

  schedules(partition: Partition, filter: ListFilter, page: Page<ScheduleId>): Listed<ScheduleView> {
    return this.#queries.inSnapshot(() => {
      // One id more than the page shows tells whether there is more.
      const ids = this.#newest(partition, filter, { ...page, limit: page.limit + 1 });
      return this.#views(
        partition,
        ids.map(({ id }) => id),
        page.limit,
      );
    });
  }

  schedulesOf(partition: Partition, ids: readonly ScheduleId[]): Listed<ScheduleView> {
    return this.#queries.inSnapshot(() => this.#views(partition, ids.toSorted().toReversed(), ids.length));
  }

  #views(partition: Partition, ids: readonly ScheduleId[], limit: number): Listed<ScheduleView> {
    return listed(
      ids,
      limit,
      (id) => this.#queries.get<SizeRow>(SCHEDULE_SIZE, partition, id),
      (id) => this.#view(partition, id),
    );
  }

  #newest(partition: Partition, filter: ListFilter, page: Page<ScheduleId>): readonly IdRow[] {
    const [label] = filter.labels;
    if (label !== undefined) {
      return this.#merged(NEWEST_OF_LABEL, [partition, labelBytes(...label)], filter, page);
    }
    if (filter.state !== null || filter.kind !== null) {
      return this.#merged(NEWEST_OF_STATE, [partition], filter, page);
    }
    return this.#queries.all<IdRow>(NEWEST, partition, page.before ?? PAST_EVERY_ID, page.limit);
  }

  /** One bounded scan for each matching pair of state and kind, merged. One index serves every combination. */
  #merged(
    scan: string,
    key: readonly Parameter[],
    filter: ListFilter,
    { before, limit }: Page<ScheduleId>,
  ): readonly IdRow[] {
    const ranges = rangesOf(filter);
    const scans = ranges.map(() => `SELECT id FROM (${scan})`).join(' UNION ALL ');
    return this.#queries.all<IdRow>(
      `${scans} ORDER BY id DESC LIMIT ?`,
      ...ranges.flatMap((range) => [...key, ...range, before ?? PAST_EVERY_ID, limit]),
      limit,
    );
  }

  payload(partition: Partition, id: ScheduleId): Uint8Array | null {
    const sql = 'SELECT sealed FROM payloads WHERE partition = ? AND schedule_id = ?';
    return this.#queries.get<{ sealed: Uint8Array }>(sql, partition, id)?.sealed ?? null;
  }

  delivery(partition: Partition, id: DeliveryId): Delivery | null {
    const row = this.#queries.get<Row>(
      'SELECT * FROM deliveries WHERE partition = ? AND id = ?',
      partition,
      id,
    );
    return row === undefined ? null : DELIVERY.from(row);
  }

  deliveries(partition: Partition, filter: DeliveryFilter, page: Page<DeliveryId>): readonly Delivery[] {
    const range = [idsAfter(filter.createdAfter), idsBefore(filter.createdBefore, page.before), page.limit];
    const rows =
      filter.scheduleId === null
        ? this.#queries.all<Row>(
            filter.status === null
              ? `SELECT * FROM deliveries WHERE partition = ? AND ${PAGE}`
              : `SELECT * FROM deliveries INDEXED BY deliveries_by_status
                 WHERE partition = ? AND status = ? AND ${PAGE}`,
            partition,
            ...(filter.status === null ? [] : [filter.status]),
            ...range,
          )
        : this.#ofSchedule(partition, filter.scheduleId, filter.status, range, page.limit);
    return rows.map(DELIVERY.from);
  }

  /** One bounded scan for each status, merged. One index serves the list of a schedule with and without this filter. */
  #ofSchedule(
    partition: Partition,
    scheduleId: ScheduleId,
    status: DeliveryStatus | null,
    range: readonly Parameter[],
    limit: number,
  ): readonly Row[] {
    const statuses = status === null ? DELIVERY_STATUSES : [status];
    const scans = statuses.map(
      () => `SELECT * FROM (SELECT * FROM deliveries INDEXED BY deliveries_of_schedule
        WHERE partition = ? AND schedule_id = ? AND status = ? AND ${PAGE})`,
    );
    return this.#queries.all<Row>(
      `${scans.join(' UNION ALL ')} ORDER BY id DESC LIMIT ?`,
      ...statuses.flatMap((each) => [partition, scheduleId, each, ...range]),
      limit,
    );
  }

  firingProfile(partition: Partition, id: EndpointId): FiringProfile | null {
    const sql = 'SELECT * FROM endpoint_profiles WHERE partition = ? AND id = ?';
    const row = this.#queries.get<Row>(sql, partition, id);
    if (row === undefined) return null;
    const head = PROFILE_HEAD.from(row);
    const version = this.#queries.get<Row>(
      `SELECT ${FIRING_PROFILE_VERSION.columns.join(', ')} FROM endpoint_profile_versions
       WHERE partition = ? AND endpoint_id = ? AND version = ?`,
      partition,
      id,
      head.version,
    );
    return version === undefined ? null : { ...head, ...FIRING_PROFILE_VERSION.from(version) };
  }

  profile(partition: Partition, id: EndpointId): EndpointProfile | null {
    const row = this.#queries.get<Row>(TEXTS.profile, partition, partition, id);
    return row === undefined ? null : profileIn(row);
  }

  profiles(partition: Partition, includeArchived: boolean, page: Page<EndpointId>): Listed<EndpointProfile> {
    return this.#queries.inSnapshot(() => {
      const heads = this.#queries.all<Pick<EndpointProfile, 'id' | 'version'>>(
        `SELECT id, version FROM endpoint_profiles ${includeArchived ? '' : 'INDEXED BY endpoint_profiles_unarchived'}
         WHERE partition = ? AND id < ? ${includeArchived ? '' : 'AND archived = 0'}
         ORDER BY id DESC LIMIT ?`,
        partition,
        page.before ?? PAST_EVERY_ID,
        page.limit + 1,
      );
      return listed(
        heads,
        page.limit,
        ({ id, version }) => this.#queries.get<SizeRow>(PROFILE_SIZE, partition, id, version),
        ({ id }) => this.profile(partition, id),
      );
    });
  }
}

const NEWEST = 'SELECT id FROM schedules WHERE partition = ? AND id < ? ORDER BY id DESC LIMIT ?';
const NEWEST_OF_STATE = `SELECT id FROM schedules
  WHERE partition = ? AND state = ? AND kind = ? AND id < ? ORDER BY id DESC LIMIT ?`;
/** The rows of a label repeat state and kind. */
const NEWEST_OF_LABEL = `SELECT schedule_id AS id FROM schedule_labels
  WHERE partition = ? AND digest = ? AND state = ? AND kind = ? AND schedule_id < ?
  ORDER BY schedule_id DESC LIMIT ?`;

interface IdRow {
  readonly id: ScheduleId;
}

interface SizeRow {
  readonly bytes: number;
}

/** Node decodes a long text that is not ASCII much faster than the SQLite driver. */
export function longText(column: string): string {
  return `CAST(${column} AS BLOB)`;
}

const TEXTS = objectTexts(longText);

/** The header of a row holds the size of each column, so a large value is not read for it. */
export const SCHEDULE_SIZE = `SELECT octet_length(metadata) + octet_length(header_names) + ifnull(octet_length(url), 0) AS bytes
  FROM schedules WHERE partition = ? AND id = ?`;
export const PROFILE_SIZE = `SELECT octet_length(metadata) + octet_length(header_names) + octet_length(url) AS bytes
  FROM endpoint_profile_versions WHERE partition = ? AND endpoint_id = ? AND version = ?`;

/** Asks for sizes first, and reads no object that does not fit. */
function listed<Key, T>(
  keys: readonly Key[],
  limit: number,
  sizeOf: (key: Key) => SizeRow | undefined,
  read: (key: Key) => T | null,
): Listed<T> {
  const items: T[] = [];
  let bytes = 0;
  for (const [position, key] of keys.entries()) {
    bytes += sizeOf(key)?.bytes ?? 0;
    if (position === limit || (items.length > 0 && bytes > LISTED_BYTES_MAX)) return { items, hasMore: true };
    const item = read(key);
    if (item !== null) items.push(item);
  }
  return { items, hasMore: false };
}

/** Ids begin with the instant of creation, so a range of instants is a range of ids. */
const PAGE = 'id >= ? AND id < ? ORDER BY id DESC LIMIT ?';

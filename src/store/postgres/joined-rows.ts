/**
 * Rows of several tables in one: each table's columns are given its alias as a prefix on their way out, and are
 * told apart by it when they come in. Where many are read at a time, they are told apart by their places.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile, FiringProfile } from '#src/domain/endpoint-profile.ts';
import type { FiringSchedule, Schedule } from '#src/domain/schedule.ts';
import {
  ATTEMPT_FIXED,
  ATTEMPT_OUTCOME,
  DELIVERY_FIXED,
  DELIVERY_MUTABLE,
  PROFILE_FIXED,
  PROFILE_MUTABLE,
  PROFILE_VERSION,
  PROFILE_VERSION_FIRING,
  SCHEDULE_FIRING,
  SCHEDULE_FIXED,
  SCHEDULE_MUTABLE,
} from '#src/store/sql/columns.ts';
import {
  type AttemptRow,
  type DeliveryRow,
  type FiringProfileVersionRow,
  type FiringScheduleRow,
  fromDeliveryRow,
  fromFiringProfileRows,
  fromFiringScheduleRow,
  fromProfileRows,
  fromScheduleRow,
  type ProfileHeadRow,
  type ProfileVersionRow,
  type ScheduleRow,
} from '#src/store/sql/rows.ts';
import type { Values } from './read-pool.ts';

export type JoinedRow = Readonly<Record<string, unknown>>;

export interface TableColumns<Row> {
  /** What to select, from the table under this alias. */
  readonly columns: string;
  /** How many. */
  readonly width: number;
  /** Its row; null where an outer join found none. */
  of(joined: JoinedRow): Row | null;
  /** The same, where its columns are the values from this place on. */
  at(values: Values, place: number): Row | null;
}

function tableColumns<Row>(alias: string, columns: readonly (keyof Row & string)[]): TableColumns<Row> {
  const names = columns.map((column) => [column, `${alias}_${column}`] as const);
  const partition = `${alias}_partition`;
  const partitionPlace = columns.indexOf('partition' as keyof Row & string);
  // A copy of a row that has its columns already is filled in faster than one that gets them one by one.
  const empty: Readonly<Record<string, unknown>> = Object.fromEntries(
    columns.map((column) => [column, null]),
  );
  return {
    columns: names.map(([column, name]) => `${alias}.${column} AS ${name}`).join(', '),
    width: columns.length,
    of(joined) {
      if (joined[partition] === null) return null;
      const row = { ...empty };
      for (const [column, name] of names) row[column] = joined[name];
      return row as Row;
    },
    at(values, place) {
      if (values[place + partitionPlace] === null) return null;
      const row = { ...empty };
      let at = place;
      for (const column of columns) row[column] = values[at++];
      return row as Row;
    },
  };
}

export const SCHEDULE = tableColumns<ScheduleRow>('s', [...SCHEDULE_FIXED, ...SCHEDULE_MUTABLE]);
export const FIRING_SCHEDULE = tableColumns<FiringScheduleRow>('s', SCHEDULE_FIRING);
export const DELIVERY = tableColumns<DeliveryRow>('d', [...DELIVERY_FIXED, ...DELIVERY_MUTABLE]);
export const ATTEMPT = tableColumns<AttemptRow>('a', [...ATTEMPT_FIXED, ...ATTEMPT_OUTCOME]);
const HEAD = tableColumns<ProfileHeadRow>('p', [...PROFILE_FIXED, ...PROFILE_MUTABLE]);
const VERSION = tableColumns<ProfileVersionRow>('v', PROFILE_VERSION);
const FIRING_VERSION = tableColumns<FiringProfileVersionRow>('v', PROFILE_VERSION_FIRING);
export const PROFILE_COLUMNS = `${HEAD.columns}, ${VERSION.columns}`;
export const FIRING_PROFILE = {
  columns: `${HEAD.columns}, ${FIRING_VERSION.columns}`,
  width: HEAD.width + FIRING_VERSION.width,
};

export function scheduleIn(joined: JoinedRow): Schedule | null {
  const row = SCHEDULE.of(joined);
  return row === null ? null : fromScheduleRow(row);
}

export function deliveryIn(joined: JoinedRow): Delivery | null {
  const row = DELIVERY.of(joined);
  return row === null ? null : fromDeliveryRow(row);
}

export function profileIn(joined: JoinedRow): EndpointProfile | null {
  const head = HEAD.of(joined);
  const version = VERSION.of(joined);
  return head === null || version === null ? null : fromProfileRows(head, version);
}

export function firingScheduleIn(joined: JoinedRow): FiringSchedule | null {
  const row = FIRING_SCHEDULE.of(joined);
  return row === null ? null : fromFiringScheduleRow(row);
}

export function firingProfileIn(joined: JoinedRow): FiringProfile | null {
  const head = HEAD.of(joined);
  const version = FIRING_VERSION.of(joined);
  return head === null || version === null ? null : fromFiringProfileRows(head, version);
}

export function firingProfileAt(values: Values, place: number): FiringProfile | null {
  const head = HEAD.at(values, place);
  const version = FIRING_VERSION.at(values, place + HEAD.width);
  return head === null || version === null ? null : fromFiringProfileRows(head, version);
}

/**
 * Rows that join several tables. Each column gets the alias of its table as a prefix in the result. Where many rows
 * are read, columns are found by position instead.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { EndpointProfile, FiringProfile } from '#src/domain/endpoint-profile.ts';
import type { FiringSchedule, Schedule, ScheduleView } from '#src/domain/schedule.ts';
import {
  DELIVERY_FIXED,
  DELIVERY_MUTABLE,
  PROFILE_FIXED,
  PROFILE_MUTABLE,
  PROFILE_VERSION,
  PROFILE_VERSION_FIRING,
  SCHEDULE_FIRING,
  SCHEDULE_FIXED,
  SCHEDULE_MUTABLE,
} from './columns.ts';
import {
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
} from './rows.ts';

/** The values of one row, in the order of the columns. */
export type Values = readonly unknown[];

export type JoinedRow = Readonly<Record<string, unknown>>;

export interface TableColumns<Row> {
  /** The select list of the table under this alias. */
  readonly columns: string;
  /** The number of columns. */
  readonly width: number;
  /** The row of this table; null if an outer join found none. */
  of(joined: JoinedRow): Row | null;
  /** The same, for a result whose columns of this table begin at `position`. */
  at(values: Values, position: number): Row | null;
}

function tableColumns<Row>(alias: string, columns: readonly (keyof Row & string)[]): TableColumns<Row> {
  const names = columns.map((column) => [column, `${alias}_${column}`] as const);
  const partition = `${alias}_partition`;
  const partitionPosition = columns.indexOf('partition' as keyof Row & string);
  // Copying an object that already has all keys is faster than adding them one by one.
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
    at(values, position) {
      if (values[position + partitionPosition] === null) return null;
      const row = { ...empty };
      let at = position;
      for (const column of columns) row[column] = values[at++];
      return row as Row;
    },
  };
}

/** Labels may be long. Each driver gives them in the form that it decodes fastest. */
type WithLabels<Row> = Omit<Row, 'metadata'> & { readonly metadata: string | Buffer };

export const SCHEDULE = tableColumns<WithLabels<ScheduleRow>>('s', [...SCHEDULE_FIXED, ...SCHEDULE_MUTABLE]);
export const FIRING_SCHEDULE = tableColumns<FiringScheduleRow>('s', SCHEDULE_FIRING);
export const DELIVERY = tableColumns<DeliveryRow>('d', [...DELIVERY_FIXED, ...DELIVERY_MUTABLE]);
const HEAD = tableColumns<ProfileHeadRow>('p', [...PROFILE_FIXED, ...PROFILE_MUTABLE]);
const VERSION = tableColumns<WithLabels<ProfileVersionRow>>('v', PROFILE_VERSION);
const FIRING_VERSION = tableColumns<FiringProfileVersionRow>('v', PROFILE_VERSION_FIRING);
export const PROFILE_COLUMNS = `${HEAD.columns}, ${VERSION.columns}`;
export const FIRING_PROFILE = {
  columns: `${HEAD.columns}, ${FIRING_VERSION.columns}`,
  width: HEAD.width + FIRING_VERSION.width,
};

function scheduleIn(joined: JoinedRow): Schedule | null {
  const row = SCHEDULE.of(joined);
  return row === null ? null : fromScheduleRow({ ...row, metadata: row.metadata.toString() });
}

export function deliveryIn(joined: JoinedRow): Delivery | null {
  const row = DELIVERY.of(joined);
  return row === null ? null : fromDeliveryRow(row);
}

export function profileIn(joined: JoinedRow): EndpointProfile | null {
  const head = HEAD.of(joined);
  const version = VERSION.of(joined);
  if (head === null || version === null) return null;
  return fromProfileRows(head, { ...version, metadata: version.metadata.toString() });
}

/** A schedule with what the API shows with it. */
export function viewIn(joined: JoinedRow): ScheduleView | null {
  const schedule = scheduleIn(joined);
  return schedule && { schedule, pending: deliveryIn(joined), profile: firingProfileIn(joined) };
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

export function firingProfileAt(values: Values, position: number): FiringProfile | null {
  const head = HEAD.at(values, position);
  const version = FIRING_VERSION.at(values, position + HEAD.width);
  return head === null || version === null ? null : fromFiringProfileRows(head, version);
}

/**
 * Filters are in the address, so that a view can be shared. They are read from the query of the page and written as the
 * query of the API. Invalid values in an address are ignored.
 */
import type { DeliveryQuery } from '../../../src/control/http/data-contract.ts';
import { DELIVERY_STATUSES, type DeliveryStatus, SCHEDULE_STATES, type ScheduleState } from './status.ts';

export interface ScheduleFilter {
  readonly q: string;
  readonly state: ScheduleState | null;
  readonly kind: 'one_shot' | 'recurring' | null;
}

/** The limit of the service. The beginning of a longer text finds the same schedules. */
export const SEARCH_CHARACTERS_MAX = 512;

export function readScheduleFilter(query: URLSearchParams): ScheduleFilter {
  const state = query.get('state');
  const kind = query.get('kind');
  return {
    q: (query.get('q') ?? '').trim().slice(0, SEARCH_CHARACTERS_MAX),
    state: SCHEDULE_STATES.find((known) => known === state) ?? null,
    kind: kind === 'one_shot' || kind === 'recurring' ? kind : null,
  };
}

/** The query of the page and of the API, which are the same. */
export function writeScheduleFilter({ q, state, kind }: ScheduleFilter): URLSearchParams {
  return queryOf({ q: q === '' ? null : q, state, kind });
}

export const RANGES = ['15m', '1h', '24h', '7d', '30d'] as const;
export type Range = (typeof RANGES)[number];

const MINUTE_MS = 60_000;
const RANGE_MS: Readonly<Record<Range, number>> = {
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '24h': 24 * 60 * MINUTE_MS,
  '7d': 7 * 24 * 60 * MINUTE_MS,
  '30d': 30 * 24 * 60 * MINUTE_MS,
};

export interface DeliveryFilter {
  readonly status: DeliveryStatus | null;
  /** At most one of schedule and endpoint profile is given, since there is no index for both. */
  readonly scheduleId: string | null;
  readonly endpointId: string | null;
  /** A range moves with the clock. `after` and `before` are fixed. */
  readonly range: Range | null;
  readonly after: string | null;
  readonly before: string | null;
}

export const NO_DELIVERY_FILTER: DeliveryFilter = {
  status: null,
  scheduleId: null,
  endpointId: null,
  range: null,
  after: null,
  before: null,
};

export function readDeliveryFilter(query: URLSearchParams): DeliveryFilter {
  const range = RANGES.find((known) => known === query.get('range')) ?? null;
  const scheduleId = readScheduleId(query.get('schedule'));
  return {
    status: readStatus(query.get('status')),
    scheduleId,
    endpointId: scheduleId === null ? readEndpointId(query.get('endpoint')) : null,
    range,
    after: range === null ? readInstant(query.get('after')) : null,
    before: range === null ? readInstant(query.get('before')) : null,
  };
}

export function writeDeliveryFilter(filter: DeliveryFilter): URLSearchParams {
  const { status, scheduleId, endpointId, range, after, before } = filter;
  return queryOf({ status, schedule: scheduleId, endpoint: endpointId, range, after, before });
}

/** The query of a bulk replay, which knows no endpoint profile. A range begins at a whole minute, so that the query does not change every second. */
export function deliveryQuery(filter: DeliveryFilter, nowMs: number): DeliveryQuery {
  const after = filter.range === null ? filter.after : rangeStart(filter.range, nowMs);
  return {
    ...(filter.status !== null && { status: filter.status }),
    ...(filter.scheduleId !== null && { schedule_id: filter.scheduleId }),
    ...(after !== null && { created_after: after }),
    ...(filter.before !== null && { created_before: filter.before }),
  };
}

/** The filter of a query, for a bulk replay that stores its query. */
export function filterOfQuery(query: DeliveryQuery): DeliveryFilter {
  const { status, schedule_id, created_after, created_before } = query;
  return {
    status: readStatus(status ?? null),
    scheduleId: schedule_id ?? null,
    endpointId: null,
    range: null,
    after: created_after ?? null,
    before: created_before ?? null,
  };
}

function rangeStart(range: Range, nowMs: number): string {
  const minute = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  return new Date(minute - RANGE_MS[range]).toISOString();
}

function readStatus(text: string | null): DeliveryStatus | null {
  return DELIVERY_STATUSES.find((known) => known === text) ?? null;
}

/** The whole id: the service refuses one that is half typed. */
export function readScheduleId(text: string | null): string | null {
  const trimmed = (text ?? '').trim();
  return /^sch_[0-9a-z]{26}$/.test(trimmed) ? trimmed : null;
}

export function readEndpointId(text: string | null): string | null {
  return text !== null && /^ep_[0-9a-z]{26}$/.test(text) ? text : null;
}

function readInstant(text: string | null): string | null {
  if (text === null || !/^\d{4}-\d\d-\d\dT/.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

export function queryOf(fields: Readonly<Record<string, string | null | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) query.set(name, value);
  }
  return query;
}

/** Joins a path and a query, without a question mark for an empty query. */
export function pathWithQuery(path: string, query: URLSearchParams): string {
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

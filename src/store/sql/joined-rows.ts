/** Rows that join schedules, deliveries and endpoint profiles, each under its alias. */
import type { EndpointProfile, FiringProfile } from '#src/domain/endpoint-profile.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import type { Row, Values } from './mapping.ts';
import {
  DELIVERY,
  FIRING_PROFILE_VERSION,
  FIRING_SCHEDULE,
  PROFILE_HEAD,
  PROFILE_VERSION,
  SCHEDULE,
} from './rows.ts';

export const JOINED_SCHEDULE = SCHEDULE.joined('s');
export const JOINED_FIRING_SCHEDULE = FIRING_SCHEDULE.joined('s');
export const JOINED_DELIVERY = DELIVERY.joined('d');
const HEAD = PROFILE_HEAD.joined('p');
const VERSION = PROFILE_VERSION.joined('v');
const FIRING_VERSION = FIRING_PROFILE_VERSION.joined('v');
export const PROFILE_COLUMNS = `${HEAD.columns}, ${VERSION.columns}`;
export const FIRING_PROFILE_COLUMNS = `${HEAD.columns}, ${FIRING_VERSION.columns}`;

export function profileIn(row: Row): EndpointProfile {
  return { ...HEAD.from(row), ...VERSION.from(row) };
}

/** A schedule with what the API shows with it. */
export function viewIn(row: Row): ScheduleView {
  return {
    schedule: JOINED_SCHEDULE.from(row),
    pending: JOINED_DELIVERY.find(row),
    profile: firingProfileIn(row),
  };
}

export function firingProfileIn(row: Row): FiringProfile | null {
  const head = HEAD.find(row);
  const version = FIRING_VERSION.find(row);
  return head === null || version === null ? null : { ...head, ...version };
}

export function firingProfileAt(values: Values, position: number): FiringProfile | null {
  const head = PROFILE_HEAD.at(values, position);
  const version = FIRING_PROFILE_VERSION.at(values, position + PROFILE_HEAD.columns.length);
  return head === null || version === null ? null : { ...head, ...version };
}

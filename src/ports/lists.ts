/**
 * Filters and pages of lists. Some filters have an index. The others need a search, which reads in parts and may answer
 * before it has found a whole page.
 */
import type { AttemptOutcome, DeliveryStatus, FinishedAttempt } from '#src/domain/delivery.ts';
import type { Method } from '#src/domain/destination.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Label, Labels } from '#src/domain/labels.ts';
import type { ScheduleKind, ScheduleState } from '#src/domain/schedule.ts';

/** A page of a list, newest first, before the id `before`. */
export interface Page<Id extends string> {
  readonly before: Id | null;
  readonly limit: number;
}

/** A list of large objects is read in parts of this size, so that other queries do not wait long. */
export const LISTED_BYTES_MAX = 131_072;

/**
 * The first objects of a page. There are fewer than requested at the end of the list, and when one more would exceed
 * `LISTED_BYTES_MAX`. A list that is not empty has at least one.
 */
export interface Listed<T> {
  readonly items: readonly T[];
  /** True when the list has more objects after these. */
  readonly hasMore: boolean;
}

export interface ScheduleFilter {
  readonly state: ScheduleState | null;
  readonly kind: ScheduleKind | null;
  /** All labels must match. */
  readonly labels: Labels;
  /** Ended schedules are found by the name that they had. */
  readonly name?: string | null;
  readonly endpointId?: EndpointId | null;
}

/** A filter for which there is an index: at most one label, name or endpoint profile, with any state and kind. */
export type ListFilter = ScheduleFilter &
  (
    | { readonly labels: readonly [] | readonly [Label]; readonly name?: null; readonly endpointId?: null }
    | { readonly labels: readonly []; readonly endpointId?: null }
    | { readonly labels: readonly []; readonly name?: null }
  );

/** Returns the filter of a search for which there is an index, else null. */
export function listFilterOf({
  state,
  kind,
  labels,
  name = null,
  endpointId = null,
  destination,
}: ScheduleSearch): ListFilter | null {
  const [label, ...others] = labels;
  const given = [label ?? null, name, endpointId, destination].filter((one) => one !== null);
  if (others.length > 0 || given.length > 1 || destination !== null) return null;
  if (label !== undefined) return { state, kind, labels: [label] };
  return name === null ? { state, kind, labels: [], endpointId } : { state, kind, labels: [], name };
}

export interface ScheduleSearch extends ScheduleFilter {
  /** A part of the destination in any case; null for any destination. */
  readonly destination: string | null;
  /** Whether a schedule is found by a part of its name as well as of its destination. The default is false. */
  readonly inNames?: boolean;
  /** True when destinations are compared in the form that viewers see (`domain/role.ts`). */
  readonly hidesQueries: boolean;
}

export interface FoundIds<Id extends string> {
  /** The ids of the found objects, newest first. */
  readonly found: readonly Id[];
  /** The search continues before this id; null when it has reached the end. */
  readonly next: Id | null;
}
export type FoundSchedules = FoundIds<ScheduleId>;

export interface DeliveryFilter {
  readonly status: DeliveryStatus | null;
  readonly scheduleId: ScheduleId | null;
  readonly endpointId?: EndpointId | null;
  /** The original of replays. */
  readonly replayOf?: DeliveryId | null;
  /** The delivery of whose end notifications tell. */
  readonly notificationOf?: DeliveryId | null;
  /** Both ends are exclusive. */
  readonly createdAfter: Instant | null;
  readonly createdBefore: Instant | null;
}

/**
 * Whether there is an index: for one schedule, profile, original or subject of notifications, and for a status except
 * of replays and notifications.
 */
export function hasIndex(filter: DeliveryFilter): boolean {
  const { status, scheduleId, endpointId = null, replayOf = null, notificationOf = null } = filter;
  const origins = [replayOf, notificationOf].filter((id) => id !== null);
  const owners = [scheduleId, endpointId].filter((id) => id !== null);
  if (origins.length === 0) return owners.length <= 1;
  return origins.length === 1 && owners.length === 0 && status === null;
}

export interface AttemptFilter {
  readonly outcome: AttemptOutcome | null;
  readonly endpointId: EndpointId | null;
}

/** The position of an attempt in the list of attempts that ended. */
export type AttemptPosition = Pick<FinishedAttempt, 'finishedAt' | 'id'>;

/** An attempt with what a list shows of its delivery and schedule. */
export interface RecentAttempt {
  readonly attempt: FinishedAttempt;
  readonly scheduleId: ScheduleId | null;
  readonly scheduleName: string | null;
  readonly url: string;
  readonly method: Method;
}

/**
 * The columns of each table, in the order in which statements take their values. Columns that never change and
 * columns that do are listed apart.
 *
 * A claim, a settlement and a deferral happen to almost every delivery. Each has its own list of only the columns
 * that it changes. This sends fewer values, and an index without any of these columns is not touched.
 */
import type { DeliveryRow, ProfileHeadRow, ProfileVersionRow, ScheduleRow } from './rows.ts';

export const SCHEDULE_FIXED = [
  'partition',
  'id',
  'endpoint_id',
  'header_names',
  'payload_bytes',
  'jitter',
  'idempotency_key',
  'rate_limit',
  'created_at',
] as const satisfies readonly (keyof ScheduleRow)[];

export const SCHEDULE_MUTABLE = [
  'state',
  'kind',
  'url',
  'method',
  'fire_at',
  'cron',
  'timezone',
  'ttl',
  'retry_policy',
  'label_digests',
  'metadata',
  'pending_id',
  'cron_at',
  'last_occurrence',
  'updated_at',
  'ended_at',
  'revision',
] as const satisfies readonly (keyof ScheduleRow)[];

/** Columns of a schedule that firing reads. A customer cannot make any of them large. */
export const SCHEDULE_FIRING = [...SCHEDULE_FIXED, ...SCHEDULE_MUTABLE].filter(isSmall);

/** Columns that a claim changes when it takes the pending delivery of a recurring schedule. */
export const SCHEDULE_ADVANCED = [
  'pending_id',
  'cron_at',
  'last_occurrence',
  'revision',
] as const satisfies readonly (typeof SCHEDULE_MUTABLE)[number][];

/** Columns that change when the last delivery of a schedule ends. */
export const SCHEDULE_COMPLETED = [
  'state',
  'updated_at',
  'ended_at',
  'revision',
] as const satisfies readonly (typeof SCHEDULE_MUTABLE)[number][];

export const DELIVERY_FIXED = [
  'partition',
  'id',
  'schedule_id',
  'replay_of',
  'endpoint_id',
  'endpoint_version',
  'payload_bytes',
  'created_at',
] as const satisfies readonly (keyof DeliveryRow)[];

export const DELIVERY_MUTABLE = [
  'status',
  'occurrence',
  'scheduled_for',
  'due_at',
  'reserved',
  'ttl',
  'deadline',
  'attempt_count',
  'last_status_code',
  'error',
  'idempotency_key',
  'url',
  'method',
  'retry_policy',
  'claim_node',
  'claim_attempt_id',
  'claim_due_at',
  'claim_fired_at',
  'finalized_at',
  'revision',
] as const satisfies readonly (keyof DeliveryRow)[];

/** Columns that a claim changes. */
export const DELIVERY_CLAIMED = [
  'status',
  'due_at',
  'reserved',
  'attempt_count',
  'claim_node',
  'claim_attempt_id',
  'claim_due_at',
  'claim_fired_at',
  'revision',
] as const satisfies readonly (typeof DELIVERY_MUTABLE)[number][];

/** Columns that change when an attempt ends, or when a delivery ends without one. The claim ends as well. */
export const DELIVERY_SETTLED = [
  'status',
  'due_at',
  'reserved',
  'last_status_code',
  'error',
  'finalized_at',
  'revision',
] as const satisfies readonly (typeof DELIVERY_MUTABLE)[number][];

/** SQL: the delivery is not claimed. */
export const UNCLAIMED =
  'claim_node = NULL, claim_attempt_id = NULL, claim_due_at = NULL, claim_fired_at = NULL';

/** Columns that change when the gate of the endpoint defers a delivery. */
export const DELIVERY_DEFERRED = [
  'due_at',
  'reserved',
  'revision',
] as const satisfies readonly (typeof DELIVERY_MUTABLE)[number][];

export const PROFILE_FIXED = [
  'partition',
  'id',
  'created_at',
] as const satisfies readonly (keyof ProfileHeadRow)[];

export const PROFILE_MUTABLE = [
  'version',
  'archived',
  'updated_at',
  'revision',
] as const satisfies readonly (keyof ProfileHeadRow)[];

export const PROFILE_VERSION = [
  'partition',
  'endpoint_id',
  'version',
  'url',
  'method',
  'header_names',
  'timeout',
  'retry_policy',
  'retry_budget',
  'rate_limit',
  'breaker_policy',
  'metadata',
] as const satisfies readonly (keyof ProfileVersionRow)[];

/** Columns of an endpoint profile's version that firing reads. */
export const PROFILE_VERSION_FIRING = PROFILE_VERSION.filter(isSmall);

function isSmall<C extends string>(column: C): column is Exclude<C, 'header_names' | 'metadata'> {
  return column !== 'header_names' && column !== 'metadata';
}

/**
 * The columns of each table, in the order in which their values are handed over: those that never change, and those
 * that do. What happens to every delivery on its way has columns of its own, only those that it changes: less is
 * handed over, and an index that has none of them is left alone.
 */
import type { AttemptRow, DeliveryRow, ProfileHeadRow, ProfileVersionRow, ScheduleRow } from './rows.ts';

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
  'endpoint',
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

/** Columns of a schedule that firing reads. None of them can be made large by its customer. */
export const SCHEDULE_FIRING = [...SCHEDULE_FIXED, ...SCHEDULE_MUTABLE].filter(isSmall);

/** By a claim that takes the pending delivery of a recurring schedule. */
export const SCHEDULE_ADVANCED = [
  'pending_id',
  'cron_at',
  'last_occurrence',
  'revision',
] as const satisfies readonly (typeof SCHEDULE_MUTABLE)[number][];

/** By the end of its delivery. */
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
  'booked',
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
  'claim_token',
  'finalized_at',
  'revision',
] as const satisfies readonly (keyof DeliveryRow)[];

/** By a claim. */
export const DELIVERY_CLAIMED = [
  'status',
  'due_at',
  'booked',
  'attempt_count',
  'claim_node',
  'claim_token',
  'revision',
] as const satisfies readonly (typeof DELIVERY_MUTABLE)[number][];

/** By the end of an attempt, or by an end without one. */
export const DELIVERY_SETTLED = [
  'status',
  'due_at',
  'booked',
  'last_status_code',
  'error',
  'claim_node',
  'claim_token',
  'finalized_at',
  'revision',
] as const satisfies readonly (typeof DELIVERY_MUTABLE)[number][];

/** By its endpoint's gate. */
export const DELIVERY_DEFERRED = [
  'due_at',
  'booked',
  'revision',
] as const satisfies readonly (typeof DELIVERY_MUTABLE)[number][];

export const ATTEMPT_FIXED = [
  'partition',
  'delivery_id',
  'attempt_no',
  'id',
  'due_at',
  'fired_at',
] as const satisfies readonly (keyof AttemptRow)[];

export const ATTEMPT_OUTCOME = [
  'outcome',
  'status_code',
  'finished_at',
  'egress_ms',
  'error',
  'timing',
] as const satisfies readonly (keyof AttemptRow)[];

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

/** Columns of a profile version that firing reads. */
export const PROFILE_VERSION_FIRING = PROFILE_VERSION.filter(isSmall);

function isSmall<C extends string>(column: C): column is Exclude<C, 'header_names' | 'metadata'> {
  return column !== 'header_names' && column !== 'metadata';
}

export const ENDPOINT_SECRET = [
  'partition',
  'endpoint_id',
  'id',
  'sealed',
  'created_at',
  'expires_at',
  'alone_from',
] as const;

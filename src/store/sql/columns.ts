/** The columns of each table, in the order in which their values are handed over: those that never change, and those that do. */
import type { AttemptRow, DeliveryRow, ProfileHeadRow, ProfileVersionRow, ScheduleRow } from './rows.ts';

export const SCHEDULE_FIXED = [
  'partition',
  'id',
  'endpoint_id',
  'header_names',
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
  'metadata',
  'pending_id',
  'cron_at',
  'last_occurrence',
  'updated_at',
  'ended_at',
  'revision',
] as const satisfies readonly (keyof ScheduleRow)[];

export const DELIVERY_FIXED = [
  'partition',
  'id',
  'schedule_id',
  'replay_of',
  'endpoint_id',
  'endpoint_version',
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

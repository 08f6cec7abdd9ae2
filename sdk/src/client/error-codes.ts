/** The stable error codes of the service. Programs should branch on these, not on messages. */
export const ERROR_CODES = [
  'missing_api_key',
  'invalid_api_key',
  'not_found',
  'invalid_request',
  'unknown_field',
  'invalid_json',
  'invalid_duration',
  'invalid_fire_at',
  'multiple_timing',
  'multiple_endpoint',
  'method_on_profile',
  'invalid_method',
  'invalid_cursor',
  'invalid_version',
  'payload_too_large',
  'idempotency_key_too_long',
  'idempotency_key_reuse',
  'idempotency_in_progress',
  'not_replayable',
  'profile_in_use',
  'schedule_not_active',
  'missing_timing',
  'missing_endpoint',
  'sub_floor_delay',
  'fire_at_in_past',
  'fire_at_too_far',
  'invalid_cron',
  'too_many_labels',
  'url_blocked',
  'invalid_retry_policy',
  'missing_url',
  'invalid_endpoint',
  'endpoint_archived',
  'invalid_timeout',
  'invalid_retry_budget',
  'invalid_rate_limit',
  'invalid_breaker_policy',
  'internal_error',
  'unavailable',
] as const;

/** Codes of the client itself: there was no answer, or the answer did not come from Sched. */
export type ClientErrorCode = 'connection_failed' | 'timeout' | 'unexpected_answer';

/** The known codes, and any other text, because a newer service may have more codes. */
export type ErrorCode = (typeof ERROR_CODES)[number] | ClientErrorCode | (string & {});

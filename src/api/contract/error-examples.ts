/** An example of each error: the answer to one request that causes it. */
import { ERRORS, type ErrorCode } from '#src/domain/errors.ts';
import { exampleId } from './forms.ts';
import type { ErrorResource } from './resources.ts';

/** The field at fault in the example. Null if the error has none. */
const PARAMS: Readonly<Record<ErrorCode, string | null>> = {
  missing_api_key: null,
  invalid_api_key: null,
  not_found: null,
  invalid_request: 'metadata',
  unknown_field: 'timeout',
  invalid_json: null,
  invalid_duration: 'delay',
  invalid_fire_at: 'fire_at',
  multiple_timing: 'cron',
  multiple_endpoint: 'endpoint_id',
  method_on_profile: 'method',
  invalid_method: 'method',
  invalid_cursor: 'cursor',
  invalid_version: 'Sched-Version',
  payload_too_large: 'body',
  idempotency_key_too_long: null,
  idempotency_key_reuse: null,
  idempotency_in_progress: null,
  not_replayable: null,
  profile_in_use: null,
  schedule_not_active: null,
  missing_timing: null,
  missing_endpoint: 'endpoint',
  sub_floor_delay: 'delay',
  fire_at_in_past: 'fire_at',
  fire_at_too_far: 'fire_at',
  invalid_cron: 'cron',
  too_many_labels: 'metadata',
  url_blocked: 'endpoint',
  invalid_retry_policy: 'retry_policy',
  missing_url: 'url',
  invalid_endpoint: 'endpoint_id',
  endpoint_archived: 'endpoint_id',
  invalid_timeout: 'timeout',
  invalid_retry_budget: 'retry_budget',
  invalid_rate_limit: 'rate_limit',
  invalid_breaker_policy: 'breaker_policy',
  internal_error: null,
  unavailable: null,
};

/** Returns the examples by code, as components of the document. */
export function errorExamples(): Record<string, { summary: string; value: ErrorResource }> {
  return Object.fromEntries(
    (Object.keys(PARAMS) as ErrorCode[]).map((code) => {
      const { status, type, message } = ERRORS[code];
      const value: ErrorResource = {
        error: { type, code, message, param: PARAMS[code], request_id: exampleId('req') },
      };
      return [code, { summary: `${status} ${code}`, value }];
    }),
  );
}

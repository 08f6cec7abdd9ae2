import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorCode, Refusal } from './errors.ts';

/** Every row of the tables in the specification and in the decisions: status, type and code. */
const DOCUMENTED = `
  400 invalid_request_error invalid_json
  400 idempotency_error     idempotency_key_too_long
  400 invalid_request_error invalid_duration
  400 invalid_request_error multiple_timing
  400 invalid_request_error multiple_endpoint
  400 invalid_request_error method_on_profile
  400 invalid_request_error invalid_method
  400 invalid_request_error invalid_cursor
  401 authentication_error  missing_api_key
  401 authentication_error  invalid_api_key
  404 not_found_error       not_found
  409 idempotency_error     idempotency_key_reuse
  409 idempotency_error     idempotency_in_progress
  409 invalid_request_error not_replayable
  409 invalid_request_error profile_in_use
  413 invalid_request_error payload_too_large
  422 invalid_request_error sub_floor_delay
  422 invalid_request_error fire_at_in_past
  422 invalid_request_error fire_at_too_far
  422 invalid_request_error missing_timing
  422 invalid_request_error invalid_cron
  422 invalid_request_error too_many_labels
  422 invalid_request_error url_blocked
  422 invalid_request_error invalid_retry_policy
  422 invalid_request_error missing_url
  422 invalid_request_error invalid_endpoint
  422 invalid_request_error endpoint_archived
  422 invalid_request_error invalid_timeout
  422 invalid_request_error invalid_retry_budget
  422 invalid_request_error invalid_rate_limit
  422 invalid_request_error invalid_breaker_policy
  400 invalid_request_error invalid_request
  400 invalid_request_error invalid_fire_at
  400 invalid_request_error invalid_version
  400 invalid_request_error unknown_field
  409 invalid_request_error schedule_not_active
  422 invalid_request_error missing_endpoint
  409 invalid_request_error name_taken
  409 invalid_request_error delivery_in_progress
  409 invalid_request_error not_cancelable
  422 invalid_request_error invalid_name
  422 invalid_request_error invalid_response_excerpt
  422 invalid_request_error invalid_notify
  422 invalid_request_error invalid_signature
  500 api_error             internal_error
  503 api_error             unavailable`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

describe('the table of errors', () => {
  test.for(DOCUMENTED)('%s %s %s', ([status, type, code]) => {
    expect(ERRORS[code as ErrorCode]).toMatchObject({ status: Number(status), type });
  });

  test('has no other rows', () => {
    expect(Object.keys(ERRORS).toSorted()).toEqual(DOCUMENTED.map(([, , code = '']) => code).toSorted());
  });

  test('has a sentence for each code', () => {
    for (const { message } of Object.values(ERRORS)) expect(message).toMatch(/^[A-Za-z].+\.$/s);
  });

  test('has the type that belongs to the status, except for idempotency; no code is a rate limit', () => {
    for (const [code, { status, type }] of Object.entries(ERRORS)) {
      if (code.startsWith('idempotency_')) expect(type).toBe('idempotency_error');
      else if (status === 401) expect(type).toBe('authentication_error');
      else if (status === 404) expect(type).toBe('not_found_error');
      else expect(type).toBe(status >= 500 ? 'api_error' : 'invalid_request_error');
      expect(status).not.toBe(429);
    }
  });
});

describe('a refusal', () => {
  test('carries its code, the field at fault and the message of the table', () => {
    const refusal = new Refusal('invalid_cron', 'timezone');
    expect(refusal).toBeInstanceOf(Error);
    expect(refusal).toMatchObject({
      code: 'invalid_cron',
      param: 'timezone',
      message: ERRORS.invalid_cron.message,
    });
    expect(new Refusal('not_found').param).toBeNull();
    expect(new Refusal('invalid_request', 'state', 'Say one of these.').message).toBe('Say one of these.');
  });
});

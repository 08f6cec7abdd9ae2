import { describe, expect, test } from 'vitest';
import { type ErrorFacts, errorOf } from './errors.ts';
import { backoffMs, isRetryable, parseRetryAfter } from './retry.ts';

function error(facts: Partial<ErrorFacts>) {
  return errorOf({
    type: 'invalid_request_error',
    code: 'invalid_request',
    status: 400,
    param: null,
    requestId: null,
    message: '',
    ...facts,
  });
}

describe('whether a call is retried', () => {
  test.each<readonly [boolean, Partial<ErrorFacts>]>([
    [true, { type: 'connection_error', code: 'connection_failed', status: null }],
    [true, { type: 'connection_error', code: 'timeout', status: null }],
    [true, { type: 'api_error', code: 'internal_error', status: 500 }],
    [true, { type: 'api_error', code: 'unexpected_answer', status: 502 }],
    [true, { type: 'api_error', code: 'unavailable', status: 503 }],
    [true, { type: 'idempotency_error', code: 'idempotency_in_progress', status: 409 }],
    [false, { type: 'idempotency_error', code: 'idempotency_key_reuse', status: 409 }],
    [false, { type: 'invalid_request_error', code: 'not_replayable', status: 409 }],
    [false, { type: 'invalid_request_error', code: 'invalid_cron', status: 422 }],
    [false, { type: 'authentication_error', code: 'invalid_api_key', status: 401 }],
    [false, { type: 'not_found_error', code: 'not_found', status: 404 }],
    [false, { type: 'rate_limit_error', code: 'too_many', status: 429 }],
    [false, { type: 'api_error', code: 'unexpected_answer', status: 200 }],
    [false, { type: 'api_error', code: 'unexpected_answer', status: 0 }],
  ])('%s: %o', (isRepeated, facts) => {
    expect(isRetryable(error(facts))).toBe(isRepeated);
  });
});

describe('the backoff', () => {
  test('doubles from 200 ms up to 5 s', () => {
    const longest = [1, 2, 3, 4, 5, 6, 7, 50].map((attempts) => backoffMs(attempts, 1));
    expect(longest).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
  });

  test('is random between 0 and that', () => {
    expect([0, 0.25, 0.5].map((random) => backoffMs(3, random))).toEqual([0, 200, 400]);
  });

  test('is not shorter than Retry-After, up to 30 s', () => {
    expect(backoffMs(1, 0.5, 2_000)).toBe(2_000);
    expect(backoffMs(6, 1, 2_000)).toBe(5_000);
    expect(backoffMs(1, 0.5, 86_400_000)).toBe(30_000);
  });
});

describe('Retry-After', () => {
  const nowMs = Date.UTC(2026, 10, 15, 8, 0, 0);
  test.each([
    [null, 0],
    ['0', 0],
    ['3', 3_000],
    ['Sun, 15 Nov 2026 08:00:07 GMT', 7_000],
    ['Sun, 15 Nov 2026 07:00:00 GMT', 0],
    ['', 0],
    ['soon', 0],
    ['-3', 0],
    ['99999999999999999999999', Number('99999999999999999999999') * 1_000],
  ])('%s', (value, ms) => {
    expect(parseRetryAfter(value, nowMs)).toBe(ms);
  });
});

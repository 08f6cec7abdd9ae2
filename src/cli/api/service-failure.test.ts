import { expect, test } from 'vitest';
import { ApiError, AuthenticationError, ConnectionError, InvalidRequestError } from '#sdk/index.ts';
import { EXIT } from '#src/cli/failure.ts';
import type { Connection } from './connection.ts';
import { failureOf } from './service-failure.ts';

const FACTS = { type: 'invalid_request_error', status: 422, param: null, requestId: 'req_1' } as const;
const DEFAULT = { value: 'x', from: 'the fixed values of "sched dev"', isDefault: true };
const CHOSEN = { value: 'x', from: 'SCHED_URL' };
const UNANSWERED = new ConnectionError({
  ...FACTS,
  type: 'api_error',
  code: 'connection_failed',
  status: null,
  requestId: null,
  message: 'No answer.',
});

function lineOf(error: Parameters<typeof failureOf>[0], connection: Connection, options = {}): string {
  return failureOf(error, connection, options).message;
}

test('without a service at the default address, the line says how to start or name one', () => {
  expect(lineOf(UNANSWERED, { url: DEFAULT, apiKey: DEFAULT })).toBe(
    'connection_failed: No answer. This is the default address. Start a service there with "sched dev", or give the address of yours with --url, SCHED_URL or "sched context set".',
  );
  expect(lineOf(UNANSWERED, { url: CHOSEN, apiKey: CHOSEN })).toBe(
    'connection_failed: No answer. The address came from SCHED_URL.',
  );
  expect(failureOf(UNANSWERED, { url: DEFAULT, apiKey: DEFAULT }, {}).exit).toBe(EXIT.unavailable);
});

test('if another program answers at the default address, the line says so', () => {
  const error = new ApiError({
    ...FACTS,
    type: 'api_error',
    code: 'unexpected_answer',
    message: 'HTTP 404.',
  });
  expect(lineOf(error, { url: DEFAULT, apiKey: DEFAULT })).toContain('another program answers there');
});

test('if a service refuses the key of sched dev, the line says where to get another', () => {
  const error = new AuthenticationError({
    ...FACTS,
    type: 'authentication_error',
    code: 'invalid_api_key',
    status: 401,
    message: 'Unknown key.',
  });
  expect(lineOf(error, { url: DEFAULT, apiKey: DEFAULT })).toMatch(
    /^401 invalid_api_key: Unknown key\. This is the fixed key of "sched dev", .+ "sched key create --mode test" makes one\. \[req_1\]$/,
  );
  expect(lineOf(error, { url: CHOSEN, apiKey: { value: 'x', from: 'SCHED_API_KEY' } })).toContain(
    'The API key came from SCHED_API_KEY. [req_1]',
  );
});

test.each([
  ['delay', { delay: '1d' }, ' (--delay)'],
  ['fire_at', { at: 'x' }, ' (fire_at, --at)'],
  ['timezone', { tz: 'x' }, ' (timezone, --tz)'],
  ['url', { endpoint: 'x' }, ' (url, --endpoint)'],
  ['idempotency_key', { idempotencyKey: 'x' }, ' (--idempotency-key)'],
  ['retry_policy', { maxAttempts: '1', retryBase: '1s' }, ' (retry_policy, --max-attempts, --retry-base)'],
  ['notify', { notify: 'ep_1', notifyOn: 'failed' }, ' (notify, --notify, --notify-on)'],
  ['delay', {}, ' (delay)'],
  ['unknown(.*', { delay: '1d' }, ' (unknown(.*)'],
])('an error about %s with %j names it as%s', (param, options, named) => {
  const error = new InvalidRequestError({ ...FACTS, code: 'invalid_request', param, message: 'Wrong.' });
  expect(lineOf(error, { url: CHOSEN, apiKey: CHOSEN }, options)).toBe(
    `422 invalid_request${named}: Wrong. [req_1]`,
  );
});

test('an error about a member of a field names the flag of that member', () => {
  const error = new InvalidRequestError({
    ...FACTS,
    code: 'invalid_retry_policy',
    param: 'retry_policy',
    message: 'retry_policy.base must be longer than retry_policy.maximum.',
  });
  const options = { maxAttempts: '1', retryBase: '1s', retryMax: '1s' };
  expect(lineOf(error, { url: CHOSEN, apiKey: CHOSEN }, options)).toContain(
    ' (retry_policy, --retry-base): ',
  );
});

/** The errors of calls, by type and code, and what they never reveal. */
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import {
  ApiError,
  AuthenticationError,
  ConnectionError,
  IdempotencyError,
  InvalidRequestError,
  NotFoundError,
  RateLimitError,
  type Sched,
  SchedError,
} from '#sdk/index.ts';
import { type Sched as Service, TEST_KEY } from '#test/e2e/harness.ts';
import { ONE_SHOT, UNKNOWN } from '#test/e2e/resources.ts';
import { clientAt, recordingClient, rejection } from './client-calls.ts';
import { type Fault, startFaultyProxy } from './client-proxy.ts';

const REQUEST_ID = /^req_[0-9a-z]{26}$/;
const RATE_LIMITED = {
  error: {
    type: 'rate_limit_error',
    code: 'too_many',
    message: 'Slow down.',
    param: null,
    request_id: 'req_1',
  },
};
const NEWER = { error: { ...RATE_LIMITED.error, type: 'quota_error' } };

/** Requests that the service refuses. */
const REFUSED: readonly (readonly [
  string,
  typeof SchedError,
  (sched: Sched) => Promise<unknown>,
  Partial<SchedError>,
])[] = [
  [
    'an invalid request',
    InvalidRequestError,
    ({ schedules }) => schedules.create({ ...ONE_SHOT, delay: undefined, cron: '61 * * * *' }),
    { type: 'invalid_request_error', code: 'invalid_cron', status: 422, param: 'cron' },
  ],
  [
    'an unknown id',
    NotFoundError,
    ({ deliveries }) => deliveries.get(UNKNOWN.delivery),
    { type: 'not_found_error', code: 'not_found', status: 404, param: null },
  ],
  [
    'an id with special characters',
    NotFoundError,
    ({ schedules }) => schedules.cancel('../endpoints/ä?x=%2F#'),
    { type: 'not_found_error', code: 'not_found', status: 404 },
  ],
  [
    'a list of an unknown schedule',
    NotFoundError,
    ({ schedules }) => schedules.deliveries(UNKNOWN.schedule).page(),
    { type: 'not_found_error', code: 'not_found', status: 404 },
  ],
  [
    'a cursor of another list',
    InvalidRequestError,
    ({ endpoints }) => endpoints.list({ cursor: 'nonsense' }).toArray(1),
    { type: 'invalid_request_error', code: 'invalid_cursor', status: 400, param: 'cursor' },
  ],
  [
    'an idempotency key that is too long',
    IdempotencyError,
    ({ schedules }) => schedules.create(ONE_SHOT, { idempotencyKey: 'x'.repeat(256) }),
    { type: 'idempotency_error', code: 'idempotency_key_too_long', status: 400 },
  ],
  [
    'an idempotency key that was used for another request',
    IdempotencyError,
    async ({ schedules }) => {
      const idempotencyKey = crypto.randomUUID();
      await schedules.create(ONE_SHOT, { idempotencyKey });
      return schedules.create({ ...ONE_SHOT, delay: '2h' }, { idempotencyKey });
    },
    { type: 'idempotency_error', code: 'idempotency_key_reuse', status: 409 },
  ],
];

/** Answers that do not come from the service. */
const MADE: readonly (readonly [string, typeof SchedError, Fault, Partial<SchedError>])[] = [
  [
    'too many requests',
    RateLimitError,
    { status: 429, body: JSON.stringify(RATE_LIMITED) },
    { type: 'rate_limit_error', code: 'too_many', status: 429, requestId: 'req_1' },
  ],
  [
    'a type that this client does not know',
    SchedError,
    { status: 418, body: JSON.stringify(NEWER) },
    { code: 'too_many', status: 418 },
  ],
  [
    'an error page of a proxy',
    ApiError,
    { status: 502, body: '<html>Bad gateway</html>' },
    { type: 'api_error', code: 'unexpected_answer', status: 502, requestId: null },
  ],
  [
    'a refusal without an error object',
    ApiError,
    { status: 403, body: '{"error":"forbidden"}' },
    { code: 'unexpected_answer', status: 403 },
  ],
  [
    'a redirect, even to the right place',
    ApiError,
    { status: 307, headers: { location: '/v1/schedules' }, body: '' },
    { code: 'unexpected_answer', status: 307 },
  ],
  [
    'an answer that is not JSON',
    ApiError,
    { status: 200, body: 'OK' },
    { code: 'unexpected_answer', status: 200 },
  ],
  ['an empty answer', ApiError, { status: 204, body: '' }, { code: 'unexpected_answer', status: 204 }],
  ['null', ApiError, { status: 200, body: 'null' }, { code: 'unexpected_answer', status: 200 }],
  [
    'another object',
    ApiError,
    { status: 200, body: '{"object":"endpoint"}' },
    { code: 'unexpected_answer', status: 200 },
  ],
  [
    'no answer',
    ConnectionError,
    'lose the request',
    { type: 'connection_error', code: 'connection_failed', status: null },
  ],
  [
    'no answer in time',
    ConnectionError,
    'hang',
    { type: 'connection_error', code: 'timeout', status: null, param: null, requestId: null },
  ],
];

export function errors({ url }: Service): void {
  it.each(REFUSED)('%s: %o', async (_what, type, call, facts) => {
    const { sched, seen } = recordingClient(url());
    const error = await rejection(call(sched));
    expect(error).toBeInstanceOf(type);
    expect(error).toBeInstanceOf(SchedError);
    expect(error).toMatchObject({ name: type.prototype.constructor.name, ...facts });
    const { code, requestId, message } = error as SchedError;
    expect(requestId).toMatch(REQUEST_ID);
    // The message is the sentence of the service. A text of the whole error has the rest too.
    expect(message).toMatch(/^\S.*\.$/s);
    expect(message).not.toContain(requestId);
    for (const part of [message, code, requestId ?? '']) expect(String(error)).toContain(part);
    // A refusal is not retried.
    expect(seen.filter(({ status }) => status === facts.status)).toHaveLength(1);
    expectNoKey(error);
  });

  it.each(MADE)('%s', async (_what, type, fault, facts) => {
    await using proxy = await startFaultyProxy(url(), fault);
    const sched = clientAt(proxy.url, { retries: 0, timeoutMs: fault === 'hang' ? 200 : 10_000 });
    const error = await rejection(sched.schedules.get(UNKNOWN.schedule));
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject(facts);
    if (facts.status) expect(String(error)).toContain(`(${facts.status} ${facts.code}`);
    expect(proxy.requests).toHaveLength(1);
    expectNoKey(error);
  });

  it('a malformed list is an error', async () => {
    await using proxy = await startFaultyProxy(url(), { status: 200, body: '{"object":"list","data":{}}' });
    const error = await rejection(clientAt(proxy.url).schedules.list().page());
    expect(error).toMatchObject({ name: 'ApiError', code: 'unexpected_answer', status: 200 });
  });

  it('an unknown API key is an authentication error', async () => {
    const wrong = 'sk_test_wrongWRONGwrongWRONG012345';
    const error = await rejection(clientAt(url(), { apiKey: wrong }).schedules.list().page());
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ code: 'invalid_api_key', status: 401 });
    expectNoKey(error, wrong);
  });

  it('an address without a service is a connection error', async () => {
    const gone = await startFaultyProxy(url());
    await gone[Symbol.asyncDispose]();
    const error = await rejection(clientAt(gone.url, { retries: 0 }).schedules.get(UNKNOWN.schedule));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'connection_failed' });
    expect((error as Error).message).toContain('ECONNREFUSED');
    expect((error as Error).cause).toBeInstanceOf(Error);
    expectNoKey(error);
  });

  it('printing the client does not show the key', () => {
    expectNoKey(clientAt(url()));
  });
}

function expectNoKey(value: unknown, key: string = TEST_KEY): void {
  const shown = [
    inspect(value, { depth: 20, showHidden: true }),
    JSON.stringify(value),
    String(value),
  ].join();
  expect(shown).not.toContain(key);
}

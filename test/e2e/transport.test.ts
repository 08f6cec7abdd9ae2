/** The form of requests: content types, sizes, methods, paths, and bytes that are not HTTP. */
import { describe, expect, it } from 'vitest';
import { planted, REQUEST_ID } from './client.ts';
import { created, createdProfile, expectError, expectStatus, schedule } from './expectations.ts';
import { TEST_KEY, useSched } from './harness.ts';
import { exchangeBytes, parseAnswer } from './raw.ts';
import { type ErrorBody, ONE_SHOT, PROFILE, type Schedule, UNKNOWN } from './resources.ts';

const { api, anonymous, url } = useSched();

const BODY_BYTES_MAX = 1_048_576;

/** A valid body of this many bytes, filled with spaces. */
function ofBytes(bytes: number): string {
  const [open, ...rest] = JSON.stringify(ONE_SHOT);
  return `${open}${' '.repeat(bytes - rest.length - 1)}${rest.join('')}`;
}

describe('a body is parsed as JSON with any content type', () => {
  it.each([
    ['application/json'],
    ['application/json; charset=utf-8'],
    ['APPLICATION/JSON'],
    ['application/vnd.api+json'],
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['not a content type'],
    [';;;'],
    [''],
  ])('%j', async (contentType) => {
    const sending = { raw: JSON.stringify(ONE_SHOT), headers: { 'content-type': contentType } };
    expectStatus(await api.send('POST', '/v1/schedules', sending), 201);
  });

  it('without a content type', async () => {
    expectStatus(await api.send('POST', '/v1/schedules', { raw: JSON.stringify(ONE_SHOT) }), 201);
  });

  it('in chunks, without a length', async () => {
    expectStatus(
      await api.send('POST', '/v1/schedules', { raw: JSON.stringify(ONE_SHOT), chunked: true }),
      201,
    );
  });

  it('with a byte order mark', async () => {
    expectStatus(await api.send('POST', '/v1/schedules', { raw: `\ufeff${JSON.stringify(ONE_SHOT)}` }), 201);
  });
});

describe('400 invalid_json: a body that is not a JSON object', () => {
  const bodies: readonly (readonly [string, string | Uint8Array])[] = [
    ['nothing', ''],
    ['spaces', '  '],
    ['an open brace', '{'],
    ['a trailing comma', '{"delay":"1h",}'],
    ['single quotes', "{'delay':'1h'}"],
    ['a text after the object', '{} x'],
    ['null', 'null'],
    ['a number', '5'],
    ['a string', '"delay"'],
    ['a list', '[{"delay":"1h"}]'],
    ['a form', 'delay=1h'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['deep nesting, unclosed', '[{"a":'.repeat(10_000)],
  ];
  it.each(bodies)('%s', async (_what, raw) => {
    const headers = { 'content-type': 'application/json' };
    expectError(await api.send('POST', '/v1/schedules', { raw, headers }), 400, 'invalid_json');
  });

  it('on every operation that takes a body', async () => {
    const { id } = await created(api, ONE_SHOT);
    const profile = await createdProfile(api, PROFILE);
    const operations = [
      ['POST', '/v1/schedules'],
      ['PATCH', `/v1/schedules/${id}`],
      ['POST', `/v1/schedules/${id}/reschedule`],
      ['POST', '/v1/endpoints'],
      ['PATCH', `/v1/endpoints/${profile.id}`],
    ] as const;
    for (const [method, path] of operations) {
      expectError(await api.send(method, path, { raw: '{"ttl":' }), 400, 'invalid_json');
    }
  });

  it('also an empty body, on the POSTs that need one', async () => {
    const { id } = await created(api, ONE_SHOT);
    for (const path of ['/v1/schedules', '/v1/endpoints', `/v1/schedules/${id}/reschedule`]) {
      expectError(await api.send('POST', path), 400, 'invalid_json');
      const headers = { 'content-type': 'application/json' };
      expectError(await api.send('POST', path, { raw: '', headers }), 400, 'invalid_json');
    }
  });
});

describe('an empty body with a JSON content type', () => {
  const headers = { 'content-type': 'application/json' };

  it('is accepted in a PATCH, and without the content type', async () => {
    const shown = await created(api, { ...ONE_SHOT, metadata: { a: 'b' } });
    for (const sending of [{ headers, raw: '' }, { headers }, {}]) {
      const patched = expectStatus(
        await api.send<Schedule>('PATCH', `/v1/schedules/${shown.id}`, sending),
        200,
      );
      expect(patched).toEqual({ ...shown, updated_at: patched.updated_at });
    }
    const profile = await createdProfile(api, PROFILE);
    expectStatus(await api.send('PATCH', `/v1/endpoints/${profile.id}`, { headers, raw: '' }), 200);
  });

  it('is accepted by operations without a body', async () => {
    const { id } = await created(api, ONE_SHOT);
    expectStatus(await api.send('POST', `/v1/schedules/${id}/pause`, { headers, raw: '' }), 200);
  });
});

it('operations without a body ignore one', async () => {
  const { id } = await created(api, ONE_SHOT);
  const profile = await createdProfile(api, PROFILE);
  for (const path of [
    `/v1/schedules/${id}/pause`,
    `/v1/schedules/${id}/resume`,
    `/v1/schedules/${id}/cancel`,
    `/v1/endpoints/${profile.id}/archive`,
  ]) {
    expectStatus(await api.send('POST', path, { raw: '{not json' }), 200);
  }
  expectStatus(await api.send('GET', `/v1/schedules/${id}`, { raw: '{not json' }), 200);
});

describe('a request body of at most 1 MB (1,048,576 bytes)', () => {
  it('a body of exactly this size is accepted', async () => {
    expectStatus(await api.send('POST', '/v1/schedules', { raw: ofBytes(BODY_BYTES_MAX) }), 201);
    expectStatus(
      await api.send('POST', '/v1/schedules', { raw: ofBytes(BODY_BYTES_MAX), chunked: true }),
      201,
    );
  });

  it.each([false, true])('one more byte: 413 payload_too_large (in chunks: %s)', async (chunked) => {
    const answer = await api.send('POST', '/v1/schedules', { raw: ofBytes(BODY_BYTES_MAX + 1), chunked });
    expectError(answer, 413, 'payload_too_large');
  });
});

describe('limits inside the body', () => {
  it('a delivery body of 262,144 characters is accepted', async () => {
    expectStatus(
      await api.post('/v1/schedules', { ...ONE_SHOT, body: planted('x').padEnd(262_144, 'x') }),
      201,
    );
  });

  it('a character outside the basic plane counts once', async () => {
    const start = planted('body');
    const wide = '\u{1f4e8}'.repeat(200_000);
    const body = start + wide + 'x'.repeat(262_144 - 200_000 - start.length);
    expectStatus(await api.post('/v1/schedules', { ...ONE_SHOT, body }), 201);
    expectError(
      await api.post('/v1/schedules', { ...ONE_SHOT, body: `${body}x` }),
      413,
      'payload_too_large',
      'body',
    );
  });

  it('headers with 16,384 bytes of names and values are accepted', async () => {
    const start = planted('header');
    const rest = { 'X-A': start.padEnd(8_000, 'a'), 'X-B': planted('é').padEnd(1_000, 'é') };
    const used = Buffer.byteLength(Object.entries(rest).flat().join(''));
    const headers = { ...rest, 'X-C': start.padEnd(16_384 - used - 'X-C'.length, 'c') };
    expectStatus(await api.post('/v1/schedules', { ...ONE_SHOT, headers }), 201);
    const over = { ...headers, 'X-C': `${headers['X-C']}c` };
    expectError(
      await api.post('/v1/schedules', { ...ONE_SHOT, headers: over }),
      413,
      'payload_too_large',
      'headers',
    );
  });
});

describe('404 not_found: an unknown path, or a method the path does not have', () => {
  it.each([
    ['GET', '/v1'],
    ['GET', '/v1/'],
    ['GET', '/v1/nope'],
    ['GET', '/v2/schedules'],
    ['POST', '/'],
    ['GET', '/v1/schedules/'],
    ['GET', `/v1/schedules/${UNKNOWN.schedule}/nope`],
    ['GET', '/V1/schedules'],
    ['PUT', '/v1/schedules'],
    ['DELETE', '/v1/schedules'],
    ['PATCH', '/v1/schedules'],
    ['HEAD', '/v1/schedules'],
    ['OPTIONS', '/v1/schedules'],
    ['PROPFIND', '/v1/schedules'],
    ['POST', `/v1/schedules/${UNKNOWN.schedule}`],
    ['DELETE', `/v1/schedules/${UNKNOWN.schedule}`],
    ['GET', `/v1/schedules/${UNKNOWN.schedule}/pause`],
    ['PUT', `/v1/endpoints/${UNKNOWN.endpoint}`],
    ['POST', '/v1/deliveries'],
    ['POST', '/healthz'],
  ])('%s %s', async (method, path) => {
    const answer = await api.send(method, path);
    if (method === 'HEAD') expect(answer).toMatchObject({ status: 404, text: '' });
    else expectError(answer, 404, 'not_found');
  });

  const malformed = ['/v1/%zz', '/v1/schedules/%', '/v1/schedules/%E0%A4%A', '/v1/schedules/%ff/pause'];
  it.each(malformed)(
    'a malformed percent escape in a path is found after authentication: %s',
    async (path) => {
      expectError(await anonymous.get(path), 401, 'missing_api_key');
      expectError(await api.get(path), 404, 'not_found');
    },
  );

  it('also outside /v1, where no key is needed', async () => {
    expectError(await anonymous.get('/%zz'), 404, 'not_found');
    expectError(await anonymous.get('/nope'), 404, 'not_found');
  });

  it.each([
    ['of another kind', UNKNOWN.delivery],
    ['of no kind', 'nope'],
    ['in capitals', UNKNOWN.schedule.toUpperCase()],
    ['too long', `${UNKNOWN.schedule}0`],
    ['far too long', 'x'.repeat(3_000)],
    ['with a NUL', 'sch_%00'],
    ['an SQL string', "'%20OR%201=1--"],
    ['a path upwards', '..%2f..%2fetc%2fpasswd'],
  ])('an id %s', async (_what, id) => {
    expectError(await api.get(`/v1/schedules/${id}`), 404, 'not_found');
  });
});

it('unknown body fields are ignored', async () => {
  const shown = await created(api, {
    ...ONE_SHOT,
    id: UNKNOWN.schedule,
    state: 'paused',
    colour: { any: ['thing'] },
    retry_policy: { max_attempts: 3, colour: 1 },
    rate_limit: { per_second: 1, colour: 1 },
  });
  expect(shown).toMatchObject({ state: 'active', rate_limit: { per_second: 1 } });
  expect(shown.id).not.toBe(UNKNOWN.schedule);
  expect(shown).not.toHaveProperty('colour');
  expect(shown.retry_policy).not.toHaveProperty('colour');
});

it('a field named __proto__ is a field like any other', async () => {
  const raw = `{"endpoint":"https://a.example/","__proto__":{"delay":"1h"}}`;
  expectError(await api.send('POST', '/v1/schedules', { raw }), 422, 'missing_timing');
  const labelled = `{"endpoint":"https://a.example/","delay":"1h","metadata":{"__proto__":"x"}}`;
  const { id } = expectStatus(await api.send<Schedule>('POST', '/v1/schedules', { raw: labelled }), 201);
  expect(JSON.stringify((await schedule(api, id)).metadata)).toBe('{"__proto__":"x"}');
});

describe('a request that is invalid HTTP is answered with the envelope and Sched-Request-Id too', () => {
  const authorized = `Authorization: Bearer ${TEST_KEY}`;
  it.each([
    ['bytes that are not HTTP', 'GARBAGE\r\n\r\n', [400]],
    ['an unknown HTTP version', 'GET / HTTP/3.9\r\nHost: x\r\n\r\n', [400]],
    ['a malformed header', 'GET /v1/schedules HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n', [400]],
    ['a malformed length', 'POST /v1/schedules HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n', [400]],
    [
      'a length and chunks',
      'POST /v1/schedules HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
      [400],
    ],
    [
      'a malformed chunk',
      `POST /v1/schedules HTTP/1.1\r\nHost: x\r\n${authorized}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      [400],
    ],
    [
      'an unknown expectation',
      `POST /v1/schedules HTTP/1.1\r\nHost: x\r\n${authorized}\r\nExpect: magic\r\nConnection: close\r\n\r\n`,
      [400, 417],
    ],
    [
      'headers that are too long',
      `GET /v1/schedules HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(70_000)}\r\n\r\n`,
      [413, 431],
    ],
  ])('%s', async (_what, bytes, statuses) => {
    const { status, headers, body } = parseAnswer(await exchangeBytes(url(), bytes));
    expect(statuses).toContain(status);
    const requestId = headers['sched-request-id'] ?? 'none';
    expect(requestId).toMatch(REQUEST_ID);
    expect((JSON.parse(body) as ErrorBody).error).toEqual({
      type: 'invalid_request_error',
      code: expect.stringMatching(/^[a-z_]+$/),
      message: expect.stringMatching(/\S/),
      param: null,
      request_id: requestId,
    });
  });
});

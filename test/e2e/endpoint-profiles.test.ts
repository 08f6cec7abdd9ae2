/** Endpoint profiles: every field with its bounds and default, the sparse PATCH, the version. */
import { describe, expect, it } from 'vitest';
import { planted } from './client.ts';
import {
  createdProfile,
  expectError,
  expectStatus,
  idOf,
  list,
  ms,
  patchedProfile,
  profile,
  TIMESTAMP,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { DEFAULT_RETRY_POLICY, type Endpoint, PROFILE, UNKNOWN, URL } from './resources.ts';

const { api, live } = useSched();

const BREAKER = { threshold: 5, base_open: '30s', max_open: '1h', probe_timeout: '30s' };

function labels(count: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`label${i}`, 'x']));
}

describe('POST /endpoints', () => {
  it('with only a url: every other field has its default', async () => {
    const shown = await createdProfile(api, PROFILE);
    expect(shown).toEqual({
      id: expect.stringMatching(idOf('ep')),
      object: 'endpoint',
      name: null,
      mode: 'test',
      url: URL,
      method: 'POST',
      header_keys: [],
      timeout: null,
      retry_policy: DEFAULT_RETRY_POLICY,
      retry_budget: null,
      rate_limit: null,
      breaker_policy: null,
      response_excerpt: null,
      notify: null,
      standard_webhooks: false,
      metadata: {},
      version: 1,
      archived: false,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: shown.created_at,
    });
    expect(await profile(api, shown.id)).toEqual(shown);
    expect((await createdProfile(live, PROFILE)).mode).toBe('live');
  });

  const accepted: readonly (readonly [string, Partial<Endpoint>])[] = [
    ...['POST', 'PUT', 'PATCH', 'GET', 'DELETE'].map((method) => [`method ${method}`, { method }] as const),
    ['a private address, which is dead-lettered when it fires', { url: 'https://192.168.0.1/' }],
    ['the longest timeout', { timeout: '1h' }],
    ['the shortest timeout', { timeout: '1ns' }],
    [
      'a whole retry policy',
      { retry_policy: { ...DEFAULT_RETRY_POLICY, max_attempts: 50, base: '24h', max: '168h' } },
    ],
    ['an empty retry budget', { retry_budget: { rate: 0, burst: 0 } }],
    ['a retry budget of fractions', { retry_budget: { rate: 0.5, burst: 1.5 } }],
    ['a rate limit', { rate_limit: { per_second: 2.5 } }],
    ['a rate limit of 0', { rate_limit: { per_second: 0 } }],
    ['a breaker policy', { breaker_policy: BREAKER }],
    [
      'the least breaker policy',
      { breaker_policy: { threshold: 1, base_open: '1ns', max_open: '1ns', probe_timeout: '1ns' } },
    ],
    [
      'the largest breaker policy',
      { breaker_policy: { threshold: 1000, base_open: '24h', max_open: '24h', probe_timeout: '24h' } },
    ],
    ['signatures of Standard Webhooks', { standard_webhooks: true }],
    ['no signatures of Standard Webhooks', { standard_webhooks: false }],
    ['50 labels', { metadata: labels(50) }],
  ];
  it.each(accepted)('%s', async (_what, fields) => {
    const shown = await createdProfile(api, { ...PROFILE, ...fields });
    expect(shown).toMatchObject(fields);
    expect(await profile(api, shown.id)).toEqual(shown);
  });

  it('defaults fill what a retry policy leaves out', async () => {
    const { retry_policy } = await createdProfile(api, { ...PROFILE, retry_policy: { max_attempts: 3 } });
    expect(retry_policy).toEqual({ ...DEFAULT_RETRY_POLICY, max_attempts: 3 });
  });

  it('headers: only their names are shown', async () => {
    const headers = { 'X-Api-Key': planted('api key'), Host: planted('host') };
    const shown = await createdProfile(api, { ...PROFILE, headers });
    expect(shown.header_keys).toEqual(['X-Api-Key', 'Host']);
    expect(shown).not.toHaveProperty('headers');
  });

  it('null means absent', async () => {
    const nothing = { method: null, headers: null, timeout: null, retry_policy: null, retry_budget: null };
    const more = { rate_limit: null, breaker_policy: null, standard_webhooks: null, metadata: null };
    const shown = await createdProfile(api, { ...PROFILE, ...nothing, ...more });
    expect(shown).toMatchObject({ method: 'POST', retry_policy: DEFAULT_RETRY_POLICY, breaker_policy: null });
  });
});

const NOT_STRING = [5, true, [], {}];
const NOT_OBJECT = ['x', 5, true, []];
const NOT_STRING_MAP = [...NOT_OBJECT, { a: 1 }, { a: null }, { a: { b: 'c' } }];
const partialBreakers = Object.keys(BREAKER).map((field) => ({ ...BREAKER, [field]: undefined }));

type Refused = readonly [field: string, status: number, code: string, values: readonly unknown[]];
const REFUSED: readonly Refused[] = [
  [
    'url',
    422,
    'url_blocked',
    [...NOT_STRING, '', 'x', 'http://a.example/', 'ftp://a.example/', 'https://u:p@a.example/'],
  ],
  ['method', 400, 'invalid_method', [...NOT_STRING, '', 'post', 'HEAD']],
  ['headers', 400, 'invalid_request', NOT_STRING_MAP],
  ['headers', 413, 'payload_too_large', [{ 'X-Big': planted('x').padEnd(16_380, 'x') }]],
  [
    'timeout',
    422,
    'invalid_timeout',
    [...NOT_STRING, '', 'x', '0', '0s', '-1s', '1h0m0.000000001s', '2h', '1d'],
  ],
  [
    'retry_policy',
    422,
    'invalid_retry_policy',
    [
      ...NOT_OBJECT,
      { max_attempts: 0 },
      { max_attempts: 51 },
      { strategy: 'linear' },
      { factor: 0.9 },
      { max: '169h' },
    ],
  ],
  [
    'retry_budget',
    422,
    'invalid_retry_budget',
    [
      ...NOT_OBJECT,
      {},
      { rate: 1 },
      { burst: 1 },
      { rate: -1, burst: 1 },
      { rate: 1, burst: -0.1 },
      { rate: '1', burst: 1 },
    ],
  ],
  ['rate_limit', 422, 'invalid_rate_limit', [...NOT_OBJECT, {}, { per_second: -1 }, { per_second: '1' }]],
  [
    'breaker_policy',
    422,
    'invalid_breaker_policy',
    [
      ...NOT_OBJECT,
      {},
      ...partialBreakers,
      ...[0, 1001, 2.5, '5'].map((threshold) => ({ ...BREAKER, threshold })),
      ...['0', '-1s', '24h0m0.000000001s', 'x', 30].flatMap((duration) => [
        { ...BREAKER, base_open: duration },
        { ...BREAKER, max_open: duration },
        { ...BREAKER, probe_timeout: duration },
      ]),
    ],
  ],
  ['standard_webhooks', 400, 'invalid_request', ['true', 'yes', 1, 0, [], {}]],
  ['metadata', 400, 'invalid_request', NOT_STRING_MAP],
  ['metadata', 422, 'too_many_labels', [labels(51)]],
];
const rows = REFUSED.flatMap(([field, status, code, values]) =>
  values.map(
    (value) => [`${field} ${JSON.stringify(value).slice(0, 90)}`, field, value, status, code] as const,
  ),
);

describe('a refused create or PATCH changes nothing', () => {
  it.each(rows)('%s', async (_what, field, value, status, code) => {
    const { id } = await createdProfile(api, PROFILE);
    // The clocks of several nodes differ by milliseconds, so an earlier profile may be listed before it.
    const path = '/v1/endpoints?limit=5';
    const before = await list<Endpoint>(api, path);
    expectError(await api.post('/v1/endpoints', { ...PROFILE, [field]: value }), status, code, field);
    expectError(
      await api.patch(`/v1/endpoints/${id}`, { method: 'PUT', timeout: '5s', [field]: value }),
      status,
      code,
      field,
    );
    expect(await list(api, path)).toEqual(before);
    expect(before.data.map((one) => one.id)).toContain(id);
  });

  it.each([
    ['no url', {}],
    ['null as url', { url: null }],
  ])('%s on create: 422 missing_url', async (_what, body) => {
    expectError(await api.post('/v1/endpoints', { ...body, method: 'PUT' }), 422, 'missing_url', 'url');
  });
});

describe('PATCH /endpoints/{id} is sparse', () => {
  const whole = {
    url: 'https://a.example/one',
    method: 'PUT',
    headers: { 'X-One': planted('one') },
    timeout: '10s',
    retry_policy: { max_attempts: 3, base: '1s', factor: 3, max: '10m', jitter: false },
    retry_budget: { rate: 1, burst: 2 },
    rate_limit: { per_second: 3 },
    breaker_policy: BREAKER,
    standard_webhooks: true,
    metadata: { team: 'billing', env: 'prod' },
  };

  it.each([
    ['url', { url: 'https://a.example/two' }, { url: 'https://a.example/two' }],
    ['method', { method: 'GET' }, { method: 'GET' }],
    ['headers, replaced as a whole', { headers: { 'X-Two': planted('two') } }, { header_keys: ['X-Two'] }],
    ['timeout', { timeout: '20s' }, { timeout: '20s' }],
    [
      'retry_policy, replaced completely: defaults fill the rest',
      { retry_policy: { max_attempts: 4 } },
      { retry_policy: { ...DEFAULT_RETRY_POLICY, max_attempts: 4 } },
    ],
    ['retry_budget', { retry_budget: { rate: 9, burst: 9 } }, { retry_budget: { rate: 9, burst: 9 } }],
    ['rate_limit', { rate_limit: { per_second: 9 } }, { rate_limit: { per_second: 9 } }],
    [
      'breaker_policy',
      { breaker_policy: { ...BREAKER, threshold: 9 } },
      { breaker_policy: { ...BREAKER, threshold: 9 } },
    ],
    ['standard_webhooks', { standard_webhooks: false }, { standard_webhooks: false }],
    ['metadata, replaced as a whole', { metadata: { team: 'ops' } }, { metadata: { team: 'ops' } }],
    ['nothing', {}, {}],
    ['unknown fields', { version: 7, archived: true, id: UNKNOWN.endpoint }, {}],
  ])(
    '%s: the other fields stay, and the version increases',
    async (_what, change, expected: Partial<Endpoint>) => {
      const before = await createdProfile(api, whole);
      const after = await patchedProfile(api, before.id, change);
      expect(after).toEqual({ ...before, ...expected, version: 2, updated_at: after.updated_at });
      expect(ms(after.updated_at)).toBeGreaterThanOrEqual(ms(before.updated_at));
      expect(await profile(api, before.id)).toEqual(after);
    },
  );

  it.each([
    ['timeout', { timeout: null }],
    ['retry_budget', { retry_budget: null }],
    ['rate_limit', { rate_limit: null }],
    ['breaker_policy', { breaker_policy: null }],
  ])('null clears %s', async (_what, change) => {
    const before = await createdProfile(api, whole);
    const after = await patchedProfile(api, before.id, change);
    expect(after).toEqual({ ...before, ...change, version: 2, updated_at: after.updated_at });
  });

  it('null ends the signatures of Standard Webhooks', async () => {
    const { id } = await createdProfile(api, whole);
    expect(await patchedProfile(api, id, { standard_webhooks: null })).toMatchObject({
      standard_webhooks: false,
      version: 2,
    });
  });

  it('null removes headers and labels, and resets the retry policy to its defaults', async () => {
    const before = await createdProfile(api, whole);
    const after = await patchedProfile(api, before.id, { headers: null, metadata: null, retry_policy: null });
    expect(after).toMatchObject({ header_keys: [], retry_policy: DEFAULT_RETRY_POLICY, version: 2 });
    expect(after.metadata).toEqual({});
  });

  it('the version increases by one with every successful edit, and with nothing else', async () => {
    const { id } = await createdProfile(api, PROFILE);
    for (const version of [2, 3, 4]) {
      expect((await patchedProfile(api, id, { timeout: `${version}s` })).version).toBe(version);
    }
    expectError(await api.patch(`/v1/endpoints/${id}`, { timeout: '2h' }), 422, 'invalid_timeout', 'timeout');
    expectStatus(await api.post(`/v1/endpoints/${id}/archive`), 200);
    expect(await profile(api, id)).toMatchObject({ version: 4, archived: true, timeout: '4s' });
  });

  it('ten concurrent edits make ten versions', async () => {
    const { id } = await createdProfile(api, PROFILE);
    const edits = Array.from({ length: 10 }, (_, i) =>
      patchedProfile(api, id, { metadata: { edit: `${i}` } }),
    );
    const versions = (await Promise.all(edits)).map(({ version }) => version);
    expect(versions.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });
});

it.each([
  ['GET', ''],
  ['PATCH', ''],
  ['POST', '/archive'],
])('%s of an unknown profile%s: 404', async (method, suffix) => {
  const sending = { raw: '{}' };
  expectError(
    await api.send(method, `/v1/endpoints/${UNKNOWN.endpoint}${suffix}`, sending),
    404,
    'not_found',
  );
});

/** POST /v1/schedules: every invalid form of a field, with its status, code, type and param. */
import { beforeAll, describe, expect, it } from 'vitest';
import { CLOCK_OFF_MS_MAX } from '#test/process/store-in-use.ts';
import { planted } from './client.ts';
import { createdProfile, DAY, expectError, fromNow, HOUR, list, SECOND } from './expectations.ts';
import { useSched } from './harness.ts';
import { ONE_SHOT, PROFILE, RECURRING, UNKNOWN, URL } from './resources.ts';

const { api } = useSched();

const YEAR = 365.25 * DAY;

/** The invalid fields, added to a valid one-shot. Undefined removes a field. */
type Row = readonly [
  what: string,
  fields: object,
  status: number,
  code: string,
  param: string | null | string[],
];

function wrong(field: string, status: number, code: string, values: readonly unknown[]): readonly Row[] {
  return values.map((value) => [
    `${field} ${JSON.stringify(value)}`,
    { [field]: value },
    status,
    code,
    field,
  ]);
}

function labels(count: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`label${i}`, 'x']));
}

async function expectRefused([, fields, status, code, param]: Row): Promise<void> {
  expectError(await api.post('/v1/schedules', { ...ONE_SHOT, ...fields }), status, code, param);
}

const NOT_STRING = [5, true, [], {}];
const NOT_DURATION = [
  ...NOT_STRING,
  '',
  '5',
  'soon',
  '1d',
  '5 m',
  ' 5m',
  '1h-5m',
  '.s',
  '2562048h',
  '9223372036854775808ns',
];
const NOT_OBJECT = ['x', 5, true, []];
const NOT_STRING_MAP = [...NOT_OBJECT, { a: 1 }, { a: null }, { a: ['b'] }, { a: { b: 'c' } }];
const NOT_PER_SECOND = [...NOT_OBJECT, {}, { per_second: -0.1 }, { per_second: '1' }, { per_second: null }];

describe('destination', () => {
  it.each([
    ...wrong('endpoint', 422, 'url_blocked', [
      ...NOT_STRING,
      '',
      'receiver.example/hooks',
      '/hooks',
      'https://',
      'https://exa mple.com/',
      'http://receiver.example/',
      'ftp://receiver.example/',
      'javascript:alert(1)',
      'https://user:password@receiver.example/',
      'https://user@receiver.example/',
    ]),
    ...wrong('method', 400, 'invalid_method', [...NOT_STRING, '', 'post', 'HEAD', 'OPTIONS', 'POST ']),
    ['neither endpoint nor endpoint_id', { endpoint: undefined }, 422, 'missing_endpoint', 'endpoint'],
    ['both null', { endpoint: null, endpoint_id: null }, 422, 'missing_endpoint', 'endpoint'],
    ...['', 'nope', UNKNOWN.endpoint, UNKNOWN.schedule, `ep_${'z'.repeat(5_000)}`, ...NOT_STRING].map(
      (endpoint_id): Row => [
        `endpoint_id ${JSON.stringify(endpoint_id).slice(0, 40)}`,
        { endpoint: undefined, endpoint_id },
        422,
        'invalid_endpoint',
        'endpoint_id',
      ],
    ),
    [
      'both endpoint and endpoint_id',
      { endpoint_id: UNKNOWN.endpoint },
      400,
      'multiple_endpoint',
      ['endpoint', 'endpoint_id'],
    ],
  ] satisfies Row[])('%s', async (...row) => expectRefused(row));

  describe('of a profile', () => {
    let backing = '';
    beforeAll(async () => {
      backing = (await createdProfile(api, PROFILE)).id;
    });

    it('method together with endpoint_id, even the one of the profile', async () => {
      const answer = await api.post('/v1/schedules', { endpoint_id: backing, delay: '1h', method: 'POST' });
      expectError(answer, 400, 'method_on_profile', 'method');
    });

    it('an archived profile', async () => {
      const { id } = await createdProfile(api, PROFILE);
      await api.post(`/v1/endpoints/${id}/archive`);
      const answer = await api.post('/v1/schedules', { endpoint_id: id, delay: '1h' });
      expectError(answer, 422, 'endpoint_archived', 'endpoint_id');
    });
  });
});

describe('delay', () => {
  it.each([
    ...wrong('delay', 400, 'invalid_duration', NOT_DURATION),
    ...wrong('delay', 422, 'sub_floor_delay', ['999ms', '999999999ns', '0.999999999s', '0', '0s', '-5m']),
    ...wrong('delay', 422, 'fire_at_too_far', ['87700h', '2562047h']),
  ])('%s', async (...row) => expectRefused(row));
});

describe('fire_at', () => {
  const rows = [
    ...wrong('fire_at', 400, 'invalid_fire_at', [
      ...NOT_STRING,
      1_893_456_000,
      '',
      'tomorrow',
      '2030-01-01',
      '2030-01-01T00:00:00',
      '2030-01-01T00:00Z',
      '2030-01-01 00:00:00Z',
      '2030-01-01T00:00:00+0100',
      '2030-01-01T00:00:00+25:00',
      '2030-01-01T00:00:00.Z',
      '2030-02-29T00:00:00Z',
      '2030-01-01T24:00:00Z',
      '2030-1-1T00:00:00Z',
      ' 2030-01-01T00:00:00Z',
      '+002030-01-01T00:00:00Z',
    ]),
    ...wrong('fire_at', 422, 'fire_at_in_past', ['1999-12-31T23:59:59Z', '0000-01-01T00:00:00Z']),
    ...wrong('fire_at', 422, 'fire_at_too_far', ['9999-12-31T23:59:59Z']),
  ];
  it.each(rows)('%s', async (what, fields, ...refusal) => {
    await expectRefused([what, { delay: undefined, ...fields }, ...refusal]);
  });

  it.each([
    ['an hour ago', -HOUR, 'fire_at_in_past'],
    ['now', 0, 'fire_at_in_past'],
    ['less than 1 s ahead', SECOND - 1 - 10 * CLOCK_OFF_MS_MAX, 'fire_at_in_past'],
    ['more than 10 years ahead', 10 * YEAR + 2 * DAY, 'fire_at_too_far'],
  ])('%s', async (what, offsetMs, code) => {
    await expectRefused([what, { delay: undefined, fire_at: fromNow(offsetMs) }, 422, code, 'fire_at']);
  });
});

describe('local_fire_at', () => {
  const local = (offsetMs: number) => fromNow(offsetMs).slice(0, 19);
  const rows = wrong('local_fire_at', 400, 'invalid_duration', [
    ...NOT_STRING,
    '',
    '2030-01-01',
    '2030-01-01T00:00',
    '2030-01-01T00:00:00Z',
    '2030-01-01T00:00:00+01:00',
    '2030-01-01T00:00:00.000',
    '2030-01-01 00:00:00',
    '2030-01-01t00:00:00',
    '2030-02-29T00:00:00',
    '2030-01-01T24:00:00',
    '1h',
  ]);
  it.each(rows)('%s', async (what, fields, ...refusal) => {
    await expectRefused([what, { delay: undefined, ...fields }, ...refusal]);
  });

  it.each([
    ['an hour ago', -HOUR, 'fire_at_in_past'],
    ['more than 10 years ahead', 10 * YEAR + 2 * DAY, 'fire_at_too_far'],
  ])('%s', async (what, offsetMs, code) => {
    await expectRefused([
      what,
      { delay: undefined, local_fire_at: local(offsetMs) },
      422,
      code,
      'local_fire_at',
    ]);
  });

  it('the future in UTC but the past in its timezone', async () => {
    const fields = { delay: undefined, local_fire_at: local(HOUR), timezone: 'Asia/Tokyo' };
    await expectRefused(['', fields, 422, 'fire_at_in_past', 'local_fire_at']);
  });
});

describe('timezone that is not an IANA name', () => {
  const bad = [...NOT_STRING, '', 'Mars/Olympus', '+02:00', 'Berlin', 'Europe/Berlin '];
  it.each(bad.map((timezone) => [JSON.stringify(timezone), timezone]))(
    '%s with cron',
    async (_what, timezone) => {
      await expectRefused([
        '',
        { delay: undefined, ...RECURRING, timezone },
        422,
        'invalid_cron',
        'timezone',
      ]);
    },
  );

  const unused = { local_fire_at: fromNow(HOUR).slice(0, 19), fire_at: fromNow(HOUR), delay: '1h' };
  it.each(Object.entries(unused))('with %s, even if it is not used', async (field, value) => {
    const fields = { delay: undefined, [field]: value, timezone: 'Mars/Olympus' };
    await expectRefused(['', fields, 422, 'invalid_cron', 'timezone']);
  });
});

describe('timing', () => {
  const sources = {
    delay: '1h',
    fire_at: '2030-01-01T00:00:00Z',
    local_fire_at: '2030-01-01T00:00:00',
    cron: '0 9 * * *',
  };
  const names = Object.keys(sources) as (keyof typeof sources)[];
  const pairs = names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b] as const));

  it.each(pairs)('both %s and %s', async (a, b) => {
    const fields = { delay: undefined, [a]: sources[a], [b]: sources[b] };
    await expectRefused(['', fields, 400, 'multiple_timing', [a, b]]);
  });

  it('all four', async () => expectRefused(['', sources, 400, 'multiple_timing', names]));

  it.each([
    ['none', { delay: undefined }],
    ['only a timezone', { delay: undefined, timezone: 'Europe/Berlin' }],
    ['only null ones', { delay: null, fire_at: null, local_fire_at: null, cron: null }],
  ])('%s', async (what, fields) => expectRefused([what, fields, 422, 'missing_timing', null]));
});

describe('the other fields', () => {
  it.each([
    ...wrong('cron', 422, 'invalid_cron', NOT_STRING).map(
      ([what, fields, ...refusal]): Row => [what, { delay: undefined, ...fields }, ...refusal],
    ),
    ...wrong('headers', 400, 'invalid_request', NOT_STRING_MAP),
    ...wrong('body', 400, 'invalid_request', NOT_STRING),
    ...wrong('ttl', 400, 'invalid_duration', NOT_DURATION),
    ...wrong('jitter', 400, 'invalid_duration', [...NOT_DURATION, '-1s', '-1ns']),
    ...wrong('idempotency_key', 400, 'invalid_request', NOT_STRING),
    ...wrong('rate_limit', 422, 'invalid_rate_limit', NOT_PER_SECOND),
    ...wrong('metadata', 400, 'invalid_request', NOT_STRING_MAP),
    ['51 labels', { metadata: labels(51) }, 422, 'too_many_labels', 'metadata'],
  ] satisfies Row[])('%s', async (...row) => expectRefused(row));

  const policies: readonly unknown[] = [
    ...NOT_OBJECT,
    ...[0, 51, -1, 1.5, '8', true].map((max_attempts) => ({ max_attempts })),
    ...['linear', 'Exponential', '', 1].map((strategy) => ({ strategy })),
    ...[...NOT_DURATION, '-1ns', '24h0m1s', '24h0m0.000000001s'].map((base) => ({ base })),
    ...[0.99, 100.01, 0, -2, '2'].map((factor) => ({ factor })),
    ...['x', 5, '-1ns', '168h0m1s'].map((max) => ({ max })),
    ...['true', 1, {}].map((jitter) => ({ jitter })),
    { max_attempts: 3, factor: 0 },
  ];
  it.each(wrong('retry_policy', 422, 'invalid_retry_policy', policies))('%s', async (...row) =>
    expectRefused(row),
  );

  it('numbers that JSON allows and that overflow a double', async () => {
    const raw = `{"endpoint":"${URL}","delay":"1h","rate_limit":{"per_second":1e999}}`;
    expectError(await api.send('POST', '/v1/schedules', { raw }), 422, 'invalid_rate_limit', 'rate_limit');
  });

  it('a body over 262,144 characters', async () => {
    const body = planted('x').padEnd(262_145, 'x');
    await expectRefused(['', { body }, 413, 'payload_too_large', 'body']);
  });

  it('headers over 16,384 bytes of names and values', async () => {
    const value = planted('x').padEnd(16_384 - 'X-Big'.length + 1, 'x');
    await expectRefused(['', { headers: { 'X-Big': value } }, 413, 'payload_too_large', 'headers']);
  });
});

it('a refused request changes nothing', async () => {
  expect((await list(api, '/v1/schedules')).data).toEqual([]);
  expect((await list(api, '/v1/deliveries')).data).toEqual([]);
});

/** If a request has several faults, the API reports the first in its order. Every pair is tested. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, planted } from './client.ts';
import {
  created,
  createdProfile,
  expectError,
  expectStatus,
  list,
  onlyDelivery,
  ordered,
  patchedProfile,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { type ErrorBody, ONE_SHOT, PROFILE, UNKNOWN, URL } from './resources.ts';

const { api, anonymous } = useSched();

const TOO_LONG = 'k'.repeat(256);
const USED = 'used for another request';
let archived = '';

beforeAll(async () => {
  expectStatus(await api.with({ 'idempotency-key': USED }).post('/v1/endpoints', PROFILE), 201);
  archived = (await createdProfile(api, PROFILE)).id;
  await api.post(`/v1/endpoints/${archived}/archive`);
});

interface Request {
  readonly hasKey: boolean;
  readonly path: string;
  readonly idempotencyKey?: string;
  readonly isStrict?: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Changes the JSON text. */
  readonly spoil?: (json: string) => string;
}

/** Two faults in one area of a request would overwrite each other. */
type Area =
  | 'key'
  | 'path'
  | 'json'
  | 'idempotency'
  | 'unknown'
  | 'destination'
  | 'timing'
  | 'ttl'
  | 'metadata'
  | 'retry_policy';
type Refusal = readonly [status: number, code: string];

interface Fault {
  readonly name: string;
  readonly area: Area;
  readonly refusal: Refusal;
  readonly apply: (request: Request) => Request;
}

const VALID: Request = {
  hasKey: true,
  path: '/v1/schedules',
  fields: { ...ONE_SHOT, body: planted('body') },
};

function fault(name: string, area: Area, refusal: Refusal, change: Partial<Request>): Fault {
  return { name, area, refusal, apply: (request) => ({ ...request, ...change }) };
}

/** A null value removes the field. */
function inFields(name: string, area: Area, refusal: Refusal, fields: () => object): Fault {
  const apply = (request: Request) => ({ ...request, fields: { ...request.fields, ...fields() } });
  return { name, area, refusal, apply };
}

const unknownProfile = { endpoint: null, endpoint_id: UNKNOWN.endpoint };

/** The ranks in the order of the API. Faults of one rank have no order. */
const RANKS: readonly (readonly Fault[])[] = [
  [fault('authentication', 'key', [401, 'missing_api_key'], { hasKey: false })],
  [fault('route', 'path', [404, 'not_found'], { path: '/v1/schedule' })],
  [
    fault('size', 'json', [413, 'payload_too_large'], { spoil: (json) => json.padEnd(1_048_577) }),
    fault('JSON', 'json', [400, 'invalid_json'], { spoil: (json) => `${json}}` }),
  ],
  [fault('key length', 'idempotency', [400, 'idempotency_key_too_long'], { idempotencyKey: TOO_LONG })],
  [fault('idempotency', 'idempotency', [409, 'idempotency_key_reuse'], { idempotencyKey: USED })],
  [
    {
      name: 'unknown_field',
      area: 'unknown',
      refusal: [400, 'unknown_field'],
      apply: (request) => ({ ...request, isStrict: true, fields: { ...request.fields, timeout: '5s' } }),
    },
  ],
  [
    inFields('multiple_endpoint', 'destination', [400, 'multiple_endpoint'], () => ({
      endpoint_id: archived,
    })),
  ],
  [
    inFields('method_on_profile', 'destination', [400, 'method_on_profile'], () => ({
      ...unknownProfile,
      method: 'PUT',
    })),
  ],
  [inFields('invalid_method', 'destination', [400, 'invalid_method'], () => ({ method: 'BREW' }))],
  [inFields('multiple_timing', 'timing', [400, 'multiple_timing'], () => ({ delay: 'x', cron: 'x' }))],
  [inFields('missing_timing', 'timing', [422, 'missing_timing'], () => ({ delay: null }))],
  [inFields('missing_endpoint', 'destination', [422, 'missing_endpoint'], () => ({ endpoint: null }))],
  [
    inFields('another 400, of ttl', 'ttl', [400, 'invalid_duration'], () => ({ ttl: 'x' })),
    inFields('another 400, of metadata', 'metadata', [400, 'invalid_request'], () => ({
      metadata: { a: 1 },
    })),
    inFields('another 400, of fire_at', 'timing', [400, 'invalid_fire_at'], () => ({
      fire_at: 'x',
      delay: null,
    })),
  ],
  [
    inFields('another 422, of retry_policy', 'retry_policy', [422, 'invalid_retry_policy'], () => ({
      retry_policy: { factor: 0 },
    })),
    inFields('another 422, of endpoint', 'destination', [422, 'url_blocked'], () => ({
      endpoint: 'http://a.example',
    })),
    inFields('another 422, of delay', 'timing', [422, 'sub_floor_delay'], () => ({ delay: '1ms' })),
    inFields('another 422, of cron', 'timing', [422, 'invalid_cron'], () => ({ cron: 'x', delay: null })),
  ],
  [
    inFields('an unknown profile', 'destination', [422, 'invalid_endpoint'], () => unknownProfile),
    inFields('an archived profile', 'destination', [422, 'endpoint_archived'], () => ({
      endpoint: null,
      endpoint_id: archived,
    })),
  ],
];
const FAULTS = RANKS.flat();

function send({ hasKey, path, idempotencyKey, isStrict, fields, spoil }: Request): Promise<Answer> {
  const caller = hasKey ? api : anonymous;
  const json = JSON.stringify(fields);
  const headers = {
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(isStrict && { prefer: 'handling=strict' }),
  };
  return caller.send('POST', path, { raw: spoil ? spoil(json) : json, headers });
}

function expectRefusal(answer: Answer, [status, code]: Refusal): void {
  const { error } = answer.json as ErrorBody;
  expect(`${answer.status} ${error.code}`).toBe(`${status} ${code}`);
}

describe('each fault alone is reported', () => {
  it.each(FAULTS.map((fault) => [fault.name, fault] as const))('%s', async (_name, { apply, refusal }) => {
    expectRefusal(await send(apply(VALID)), refusal);
  });
});

describe('on create, the first of two faults is reported', () => {
  const pairs = RANKS.flatMap((rank, i) =>
    rank.flatMap((first) =>
      RANKS.slice(i + 1)
        .flat()
        .filter((second) => second.area !== first.area)
        .map((second) => [first.name, second.name, first, second] as const),
    ),
  );
  it.each(pairs)('%s before %s', async (_first, _second, first, second) => {
    expectRefusal(await send(first.apply(second.apply(VALID))), first.refusal);
  });

  it.each([
    ['multiple_endpoint', 'method_on_profile', { endpoint_id: UNKNOWN.endpoint, method: 'PUT' }],
    ['multiple_endpoint', 'invalid_method', { endpoint_id: UNKNOWN.endpoint, method: 'BREW' }],
    ['multiple_endpoint', 'url_blocked', { endpoint: 'x', endpoint_id: UNKNOWN.endpoint }],
    ['multiple_endpoint', 'invalid_endpoint', { endpoint_id: UNKNOWN.endpoint }],
    ['method_on_profile', 'invalid_method', { ...unknownProfile, method: 'BREW' }],
    ['invalid_method', 'missing_endpoint', { endpoint: null, method: 'BREW' }],
    ['invalid_method', 'url_blocked', { endpoint: 'x', method: 'BREW' }],
    ['multiple_timing', 'invalid_duration', { delay: 'x', fire_at: 'x' }],
    ['multiple_timing', 'invalid_cron', { cron: 'x', timezone: 'x' }],
  ])('in the same area: %s before %s', async (first, _second, fields) => {
    expectRefusal(await send({ ...VALID, fields: { ...ONE_SHOT, ...fields } }), [400, first]);
  });

  it('in the same area: missing_timing before a wrong timezone', async () => {
    const fields = { endpoint: URL, timezone: 'x' };
    expectRefusal(await send({ ...VALID, fields }), [422, 'missing_timing']);
  });
});

describe('on an object', () => {
  const unknown = `/v1/schedules/${UNKNOWN.schedule}`;
  const long = { 'idempotency-key': TOO_LONG };
  const used = { 'idempotency-key': USED };

  it('JSON before the object', async () => {
    expectError(await api.send('PATCH', unknown, { raw: '{' }), 400, 'invalid_json');
    expectError(await api.send('POST', `${unknown}/reschedule`, { raw: '' }), 400, 'invalid_json');
  });

  it('JSON before the idempotency key, its length before its use, its use before the object', async () => {
    expectError(await api.send('PATCH', unknown, { raw: '{', headers: long }), 400, 'invalid_json');
    expectError(await api.with(long).patch(unknown, {}), 400, 'idempotency_key_too_long');
    expectError(await api.with(used).patch(unknown, {}), 409, 'idempotency_key_reuse');
    const replay = `/v1/deliveries/${UNKNOWN.delivery}/replay`;
    expectError(await api.with(long).post(replay), 400, 'idempotency_key_too_long');
    expectError(await api.with(used).post(replay), 409, 'idempotency_key_reuse');
  });

  it('the object before its fields', async () => {
    expectError(await api.patch(unknown, { ttl: 'x', method: 'BREW' }), 404, 'not_found');
    expectError(await api.post(`${unknown}/reschedule`, {}), 404, 'not_found');
    expectError(await api.post(`${unknown}/reschedule`, { delay: 'x', cron: 'x' }), 404, 'not_found');
    expectError(await api.patch(`/v1/endpoints/${UNKNOWN.endpoint}`, { url: 5 }), 404, 'not_found');
  });

  it('the object before a cursor', async () => {
    expectError(await api.get(`${unknown}/deliveries?cursor=x`), 404, 'not_found');
    expectError(await api.get(`/v1/deliveries/${UNKNOWN.delivery}/attempts?cursor=x`), 404, 'not_found');
  });

  it('its state before its fields', async () => {
    const { id } = await created(api, ONE_SHOT);
    await ordered(api, id, 'cancel');
    for (const body of [{}, { delay: 'x' }, { delay: '1h', cron: 'x' }]) {
      expectError(await api.post(`/v1/schedules/${id}/reschedule`, body), 409, 'schedule_not_active');
    }
  });

  it('idempotency before its state', async () => {
    const { id } = await created(api, ONE_SHOT);
    const pending = await onlyDelivery(api, id);
    const replay = `/v1/deliveries/${pending.id}/replay`;
    expectError(await api.with(used).post(replay), 409, 'idempotency_key_reuse');
    expectError(await api.post(replay), 409, 'not_replayable');
    await ordered(api, id, 'cancel');
    const reschedule = `/v1/schedules/${id}/reschedule`;
    expectError(await api.with(used).post(reschedule, { delay: '1h' }), 409, 'idempotency_key_reuse');
  });

  it('in a PATCH: multiple_endpoint, method_on_profile, other 400s, other 422s', async () => {
    const backing = await createdProfile(api, PROFILE);
    const { id } = await created(api, { endpoint_id: backing.id, delay: '1h' });
    const all = { endpoint: 'http://x', method: 'BREW', ttl: 'x', retry_policy: 5 };
    expectError(await api.patch(`/v1/schedules/${id}`, all), 400, 'multiple_endpoint', [
      'endpoint',
      'endpoint_id',
    ]);
    const rest = { method: 'BREW', ttl: 'x', retry_policy: 5 };
    expectError(await api.patch(`/v1/schedules/${id}`, rest), 400, 'method_on_profile', 'method');
    const inline = await created(api, ONE_SHOT);
    expectError(await api.patch(`/v1/schedules/${inline.id}`, all), 400, 'invalid_method', 'method');
    const last = { endpoint: 'http://x', ttl: 'x', retry_policy: 5 };
    expectError(await api.patch(`/v1/schedules/${inline.id}`, last), 400, 'invalid_duration', 'ttl');
  });

  it('in a profile: invalid_method, other 400s, other 422s', async () => {
    const all = { url: 'http://x', method: 'BREW', metadata: 5, timeout: 5 };
    expectError(await api.post('/v1/endpoints', all), 400, 'invalid_method', 'method');
    expectError(
      await api.post('/v1/endpoints', { ...all, method: null }),
      400,
      'invalid_request',
      'metadata',
    );
    const { id } = await createdProfile(api, PROFILE);
    expectError(await api.patch(`/v1/endpoints/${id}`, all), 400, 'invalid_method', 'method');
    expect(await patchedProfile(api, id, {})).toMatchObject({ url: URL, version: 2 });
  });
});

it('a refused request changes nothing', async () => {
  const before = await list(api, '/v1/schedules?limit=100');
  for (const { apply } of FAULTS) await send(apply(VALID));
  expect(await list(api, '/v1/schedules?limit=100')).toEqual(before);
});

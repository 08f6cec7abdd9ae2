/** `Prefer: handling=strict` refuses a field that would be ignored. Without it, the answer names what was ignored. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Api } from './client.ts';
import { OK } from './drive.ts';
import {
  created,
  createdProfile,
  expectError,
  expectStatus,
  list,
  onlyDelivery,
  ordered,
  schedule,
} from './expectations.ts';
import { useSched } from './harness.ts';
import {
  type Delivery,
  type ErrorBody,
  ONE_SHOT,
  PROFILE,
  RECURRING,
  type Schedule,
  UNKNOWN,
} from './resources.ts';

const { api, drive } = useSched();
const strict = api.with({ prefer: 'handling=strict' });

function namesOf(answer: Answer): string | undefined {
  const value = answer.headers['sched-ignored-fields'];
  return typeof value === 'string' ? value : undefined;
}

function messageOf({ json }: Answer): string {
  return (json as ErrorBody).error.message;
}

const made = { schedule: '', profile: '', delivery: '' };

beforeAll(async () => {
  made.schedule = (await created(api, RECURRING)).id;
  made.profile = (await createdProfile(api, PROFILE)).id;
  const { id } = await onlyDelivery(api, (await created(api, ONE_SHOT)).id);
  await drive.fire(id, OK);
  made.delivery = id;
});

interface Row {
  readonly call: string;
  readonly body: object;
  /** The status of a request that is not strict. */
  readonly status: number;
  readonly ignored: string;
  readonly param: string;
  readonly message: RegExp;
}

const ROWS: readonly Row[] = [
  {
    call: 'POST /v1/schedules',
    body: { ...ONE_SHOT, timeout: '5s', retry_policy: { max_retries: 3 } },
    status: 201,
    ignored: 'timeout, retry_policy.max_retries',
    param: 'timeout',
    message: /^`timeout` belongs to an endpoint profile/,
  },
  {
    call: 'POST /v1/schedules',
    body: { ...ONE_SHOT, retry_policy: { max_retries: 3, max_attempts: 2 } },
    status: 201,
    ignored: 'retry_policy.max_retries',
    param: 'retry_policy',
    message: /^`retry_policy.max_retries` .* `retry_policy.max_attempts`\?$/,
  },
  {
    call: 'POST /v1/schedules',
    body: { ...ONE_SHOT, rate_limit: { per_second: 1, burst: 2 }, metadata: { a: 'b' } },
    status: 201,
    ignored: 'rate_limit.burst',
    param: 'rate_limit',
    message: /^`rate_limit.burst` /,
  },
  {
    call: 'PATCH /v1/schedules/{schedule}',
    body: { cron: '0 1 * * *', endpoint_id: UNKNOWN.endpoint, ttl: '1h' },
    status: 200,
    ignored: 'cron, endpoint_id',
    param: 'cron',
    message: /use reschedule/,
  },
  {
    call: 'POST /v1/schedules/{schedule}/reschedule',
    body: { delay: '2h', ttl: '1h' },
    status: 200,
    ignored: 'ttl',
    param: 'ttl',
    message: /use PATCH \/v1\/schedules\/\{id\}/,
  },
  {
    call: 'POST /v1/endpoints',
    body: { ...PROFILE, cron: '* * * * *', retry_budget: { rate: 1, burst: 1, per: 's' } },
    status: 201,
    ignored: 'cron, retry_budget.per',
    param: 'cron',
    message: /belongs to a schedule/,
  },
  {
    call: 'PATCH /v1/endpoints/{profile}',
    body: { timeout: '5s', time_out: '5s' },
    status: 200,
    ignored: 'time_out',
    param: 'time_out',
    message: /Did you mean `timeout`\?$/,
  },
  {
    call: 'POST /v1/schedules/{schedule}/pause',
    body: { reason: 'holiday' },
    status: 200,
    ignored: 'reason',
    param: 'reason',
    message: /takes no body/,
  },
  {
    call: 'POST /v1/schedules/{schedule}/resume',
    body: { fire_at: 'now', at: { a: 1 } },
    status: 200,
    ignored: 'fire_at, at',
    param: 'fire_at',
    message: /takes no body/,
  },
  {
    call: 'POST /v1/endpoints/{profile}/archive',
    body: { archived: true },
    status: 200,
    ignored: 'archived',
    param: 'archived',
    message: /takes no body/,
  },
  {
    call: 'POST /v1/deliveries/{delivery}/replay',
    body: { delay: '1h' },
    status: 201,
    ignored: 'delay',
    param: 'delay',
    message: /takes no body/,
  },
];

function send(client: Api, call: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const [method = '', pattern = ''] = call.split(' ');
  const path = pattern.replace(/\{(\w+)\}/, (_, name: keyof typeof made) => made[name]);
  return client.send(method, path, { raw: JSON.stringify(body), headers });
}

describe('a field that would be ignored', () => {
  it.each(ROWS)('in $call is refused on wish, else named: $ignored', async (row) => {
    const refused = await send(strict, row.call, row.body);
    expectError(refused, 400, 'unknown_field', row.param);
    expect(messageOf(refused)).toMatch(row.message);
    expect(refused.headers['preference-applied']).toBe('handling=strict');
    expect(namesOf(refused)).toBeUndefined();

    const answered = await send(api, row.call, row.body);
    expectStatus(answered, row.status);
    expect(namesOf(answered)).toBe(row.ignored);
    expect(answered.headers['preference-applied']).toBeUndefined();
  });

  it('changes nothing when it is refused', async () => {
    const before = await schedule(api, made.schedule);
    const count = (await list<Schedule>(api, '/v1/schedules?limit=100')).data.length;
    await send(strict, 'PATCH /v1/schedules/{schedule}', { ttl: '9h', colour: 'red' });
    await send(strict, 'POST /v1/schedules/{schedule}/cancel', { colour: 'red' });
    await send(strict, 'POST /v1/schedules', { ...ONE_SHOT, colour: 'red' });
    expect(await schedule(api, made.schedule)).toEqual(before);
    expect((await list<Schedule>(api, '/v1/schedules?limit=100')).data).toHaveLength(count);
  });

  it('is named on an answer that refuses another field too', async () => {
    const answer = await api.post('/v1/schedules', { endpoint: ONE_SHOT.endpoint, schedule: '0 9 * * *' });
    expectError(answer, 422, 'missing_timing');
    expect(namesOf(answer)).toBe('schedule');
  });
});

describe('a valid strict request', () => {
  it.each([
    [
      'POST /v1/schedules',
      { ...ONE_SHOT, headers: { timeout: 'x', 'X-Any': 'y' }, metadata: { cron: 'x' } },
      201,
    ],
    [
      'PATCH /v1/schedules/{schedule}',
      { metadata: { max_retries: '1' }, retry_policy: { max_attempts: 2 } },
      200,
    ],
    ['POST /v1/endpoints', { ...PROFILE, breaker_policy: null, retry_policy: { base: null } }, 201],
    ['POST /v1/schedules/{schedule}/pause', {}, 200],
    ['POST /v1/schedules/{schedule}/resume', {}, 200],
  ])('%s is answered as ever', async (call, body, status) => {
    const answer = await send(strict, call, body);
    expectStatus(answer, status);
    expect(answer.headers['preference-applied']).toBe('handling=strict');
    expect(namesOf(answer)).toBeUndefined();
  });

  it('may have no body, or one that is not JSON where none is read', async () => {
    expectStatus(await strict.patch(`/v1/schedules/${made.schedule}`), 200);
    expectStatus(await strict.post(`/v1/schedules/${made.schedule}/pause`), 200);
    for (const raw of ['}{', '[1]', 'null', '"x"', Buffer.from([0xff, 0xfe])]) {
      const answer = await strict.send('POST', `/v1/schedules/${made.schedule}/resume`, { raw });
      expectStatus(answer, 200);
      expect(namesOf(answer)).toBeUndefined();
    }
  });

  it('that reads is not affected', async () => {
    const answer = await strict.get(`/v1/schedules/${made.schedule}`);
    expectStatus(answer, 200);
    expect(answer.headers['preference-applied']).toBeUndefined();
  });
});

describe('the Prefer header', () => {
  const body = { ...ONE_SHOT, timeout: '5s' };
  it.each([
    ['respond-async, Handling="strict"; x=1', true],
    ['return=minimal; a="b, handling=lenient", handling=STRICT', true],
    ['handling=lenient, handling=strict', false],
    ['handling=unknown', false],
    ['respond-async', false],
    ['', false],
  ])('%s', async (prefer, isStrict) => {
    const answer = await api.with({ prefer }).post('/v1/schedules', body);
    expect(answer.status).toBe(isStrict ? 400 : 201);
    expect(answer.headers['preference-applied']).toBe(isStrict ? 'handling=strict' : undefined);
    expect(namesOf(answer)).toBe(isStrict ? undefined : 'timeout');
  });

  it('may be sent several times', async () => {
    const twice = { prefer: ['wait=5', 'handling=strict'] } as unknown as Readonly<Record<string, string>>;
    expectError(await api.with(twice).post('/v1/schedules', body), 400, 'unknown_field', 'timeout');
  });
});

describe('the order of checks', () => {
  const unknown = { colour: 'red' };

  it('has JSON and the key before unknown fields', async () => {
    expectError(await strict.send('POST', '/v1/schedules', { raw: '{"colour":' }), 400, 'invalid_json');
    const tooLong = strict.with({ 'idempotency-key': 'k'.repeat(256) });
    expectError(await tooLong.post('/v1/schedules', unknown), 400, 'idempotency_key_too_long');
    expectError(
      await strict.with({ authorization: '' }).post('/v1/schedules', unknown),
      401,
      'missing_api_key',
    );
  });

  it.each([
    ['PATCH', `/v1/schedules/${UNKNOWN.schedule}`],
    ['POST', `/v1/schedules/${UNKNOWN.schedule}/reschedule`],
    ['POST', `/v1/schedules/${UNKNOWN.schedule}/pause`],
    ['POST', `/v1/schedules/${UNKNOWN.schedule}/cancel`],
    ['PATCH', `/v1/endpoints/${UNKNOWN.endpoint}`],
    ['POST', `/v1/endpoints/${UNKNOWN.endpoint}/archive`],
    ['POST', `/v1/deliveries/${UNKNOWN.delivery}/replay`],
  ])('has 404 before unknown fields: %s %s', async (method, path) => {
    const answer = await strict.send(method, path, { raw: JSON.stringify(unknown) });
    expectError(answer, 404, 'not_found');
    expect(answer.headers['preference-applied']).toBe('handling=strict');
  });

  it('has the state before unknown fields', async () => {
    const { id } = await created(api, ONE_SHOT);
    const waiting = await onlyDelivery(api, id);
    expectError(await strict.post(`/v1/deliveries/${waiting.id}/replay`, unknown), 409, 'not_replayable');
    await ordered(api, id, 'cancel');
    expectError(await strict.post(`/v1/schedules/${id}/reschedule`, unknown), 409, 'schedule_not_active');
  });

  it('has unknown fields before every other field', async () => {
    const wrong = { endpoint: 'x', endpoint_id: 'y', method: 'BREW', delay: 1, cron: 2, ...unknown };
    expectError(await strict.post('/v1/schedules', wrong), 400, 'unknown_field', 'colour');
    expectError(await strict.post('/v1/endpoints', unknown), 400, 'unknown_field', 'colour');
  });
});

describe('an idempotent request', () => {
  it('is answered with the stored answer, which names the ignored fields again', async () => {
    const keyed = { 'idempotency-key': 'strict repeats lenient' };
    const body = { ...ONE_SHOT, timeout: '5s' };
    const first = await api.with(keyed).post<Schedule>('/v1/schedules', body);
    expect([first.status, namesOf(first)]).toEqual([201, 'timeout']);
    const again = await api.with(keyed).post<Schedule>('/v1/schedules', body);
    expect([again.json.id, namesOf(again)]).toEqual([first.json.id, 'timeout']);
    const strictly = await strict.with(keyed).post<Schedule>('/v1/schedules', body);
    expect(strictly.headers['idempotent-replayed']).toBe('true');
    expect([strictly.status, strictly.json.id, namesOf(strictly)]).toEqual([201, first.json.id, 'timeout']);
    expect(strictly.headers['preference-applied']).toBe('handling=strict');
    expectError(
      await strict.with(keyed).post('/v1/schedules', { ...body, ttl: '1h' }),
      409,
      'idempotency_key_reuse',
    );
  });

  it('that was refused leaves its key free', async () => {
    const keyed = { 'idempotency-key': 'strict first' };
    const body = { delay: '1h' };
    const path = `/v1/deliveries/${made.delivery}/replay`;
    expectError(await strict.with(keyed).post(path, body), 400, 'unknown_field', 'delay');
    const answer = await api.with(keyed).post<Delivery>(path, body);
    expect([answer.status, namesOf(answer)]).toEqual([201, 'delay']);
  });
});

describe('hostile names', () => {
  const prefix = JSON.stringify(ONE_SHOT).slice(0, -1);

  it.each([
    [
      'that would end the header',
      String.raw`"a\r\nSet-Cookie: b":1`,
      'a%0D%0ASet-Cookie%3A%20b',
      'a??Set-Cookie: b',
    ],
    ['with a comma', '"a,b":1', 'a%2Cb', 'a,b'],
    ['outside ASCII', '"größe":1', 'gr%C3%B6%C3%9Fe', 'größe'],
    ['of half a character', String.raw`"\ud800":1`, '%EF%BF%BD', '?'],
    ['with NUL', String.raw`"\u0000":1`, '%00', '?'],
    ['that is empty', '"":1', '""', ''],
    ['of the prototype', '"__proto__":{"timeout":1}', '__proto__', '__proto__'],
    ['of the constructor', '"constructor":1', 'constructor', 'constructor'],
    ['of a megabyte', `"${'x'.repeat(1_000_000)}":1`, 'x'.repeat(100), 'x'.repeat(100)],
    ['of a number', '"7":1', '7', '7'],
  ])('%s are neither trusted nor lost', async (_what, member, named, param) => {
    const raw = `${prefix},${member}}`;
    const answer = await api.send('POST', '/v1/schedules', { raw });
    expectStatus(answer, 201);
    expect(namesOf(answer)).toBe(named);
    expect(answer.headers['set-cookie']).toBeUndefined();
    const refused = await strict.send('POST', '/v1/schedules', { raw });
    expectError(refused, 400, 'unknown_field', param);
    expect(messageOf(refused).length).toBeLessThan(500);
  });

  it.each(['', 'retry_policy'])('100,000 in %j are named within bounds', async (outer) => {
    const members = Array.from({ length: 100_000 }, (_, i) => `"_${i.toString(36)}":1`).join();
    const raw = outer === '' ? `${prefix},${members}}` : `${prefix},"${outer}":{${members}}}`;
    const answer = await api.send('POST', '/v1/schedules', { raw });
    expectStatus(answer, 201);
    expect(namesOf(answer)?.split(', ')).toHaveLength(20);
    const refused = await strict.send('POST', '/v1/schedules', { raw, chunked: true });
    expectError(refused, 400, 'unknown_field', outer === '' ? '_0' : outer);
  });

  it('after 100,000 labels that are known is found', async () => {
    const labels = Array.from({ length: 50_000 }, (_, i) => `"${i.toString(36)}":""`).join();
    const raw = `${prefix},"metadata":{${labels}},"colour":1}`;
    expectError(await strict.send('POST', '/v1/schedules', { raw }), 400, 'unknown_field', 'colour');
    const answer = await api.send('POST', '/v1/schedules', { raw });
    expectError(answer, 422, 'too_many_labels', 'metadata');
    expect(namesOf(answer)).toBe('colour');
  });
});

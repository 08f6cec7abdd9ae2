/** Schedules by name: `name`, PUT, GET, `dry_run`. */
import { describe, expect, it } from 'vitest';
import type { Answer } from './client.ts';
import { planted } from './client.ts';
import { OK, SERVER_ERROR } from './drive.ts';
import {
  created,
  createdProfile,
  deliveriesOf,
  delivery,
  expectError,
  expectStatus,
  onlyDelivery,
  patched,
} from './expectations.ts';
import { LIVE_KEY, useSched } from './harness.ts';
import { type ErrorBody, ONE_SHOT, PROFILE, RECURRING, type Schedule, UNKNOWN, URL } from './resources.ts';

const { api, drive } = useSched();

let names = 0;
const newName = () => `job:${++names}`;
const pathOf = (name: string) => `/v1/schedules/named/${encodeURIComponent(name)}`;
const put = (name: string, body: object, query = '') =>
  api.send<Schedule>('PUT', `${pathOf(name)}${query}`, { raw: JSON.stringify(body) });
const isUnchanged = (answer: Answer) => answer.headers['sched-unchanged'] === 'true';

async function made(name: string, body: object): Promise<Schedule> {
  return expectStatus(await put(name, body), 201);
}

async function changed(name: string, body: object): Promise<Schedule> {
  const answer = await put(name, body);
  expect(isUnchanged(answer)).toBe(false);
  return expectStatus(answer, 200);
}

describe('a name', () => {
  it('is returned, and unique among schedules that have not ended', async () => {
    const name = newName();
    const first = await created(api, { ...RECURRING, name });
    expect(first.name).toBe(name);
    expectError(await api.post('/v1/schedules', { ...ONE_SHOT, name }), 409, 'name_taken', 'name');
    expectStatus(await api.post(`/v1/schedules/${first.id}/cancel`), 200);
    expect((await created(api, { ...ONE_SHOT, name })).name).toBe(name);
    expect((await created(api, ONE_SHOT)).name).toBeNull();
  });

  it('is changed and cleared by PATCH', async () => {
    const [name, other] = [newName(), newName()];
    const { id } = await created(api, { ...RECURRING, name });
    await created(api, { ...RECURRING, name: other });
    expectError(await api.patch(`/v1/schedules/${id}`, { name: other }), 409, 'name_taken', 'name');
    const later = newName();
    expect((await patched(api, id, { name: later })).name).toBe(later);
    expect(expectStatus(await api.get<Schedule>(pathOf(later)), 200).id).toBe(id);
    expectError(await api.get(pathOf(name)), 404, 'not_found');
    expect((await patched(api, id, { name: null })).name).toBeNull();
    expectError(await api.get(pathOf(later)), 404, 'not_found');
  });

  it.each(['', ' ', 'a b', '-a', '.a', 'ü', 'a/b', 'a'.repeat(256), 5, true, {}, []])(
    'cannot be %j',
    async (name) => {
      expectError(await api.post('/v1/schedules', { ...ONE_SHOT, name }), 422, 'invalid_name', 'name');
    },
  );

  it.each(['a', '0', 'A.b_c:d-e', 'a'.repeat(255)])('can be %s', async (name) => {
    expect((await created(api, { ...ONE_SHOT, name })).name).toBe(name);
  });

  it('belongs to one mode of one project', async () => {
    const name = newName();
    await created(api, { ...RECURRING, name });
    const live = api.as(LIVE_KEY);
    expectError(await live.get(pathOf(name)), 404, 'not_found');
    expectStatus(await live.send('PUT', pathOf(name), { raw: JSON.stringify(RECURRING) }), 201);
  });
});

describe('PUT /v1/schedules/named/{name}', () => {
  const body = {
    ...RECURRING,
    timezone: 'Europe/Berlin',
    headers: { 'X-One': planted('one'), 'X-Two': planted('two') },
    body: planted('body'),
    ttl: '1h',
    jitter: '5s',
    idempotency_key: 'order',
    retry_policy: { max_attempts: 3 },
    rate_limit: { per_second: 2 },
    metadata: { team: 'billing', env: 'prod' },
  };

  it('creates a schedule, then finds it equal, whatever the order of fields, headers and labels', async () => {
    const name = newName();
    const first = await made(name, body);
    expect(first).toMatchObject({ name, kind: 'recurring', state: 'active' });
    const reordered = {
      ...body,
      name,
      headers: { 'X-Two': planted('two'), 'X-One': planted('one') },
    };
    for (const same of [body, reordered]) {
      const answer = await put(name, same);
      expect(isUnchanged(answer)).toBe(true);
      expect(expectStatus(answer, 200)).toEqual(first);
    }
    expect(expectStatus(await api.get<Schedule>(pathOf(name)), 200)).toEqual(first);
  });

  it.each<[string, object, object]>([
    ['endpoint', { endpoint: 'https://other.example/' }, { endpoint: 'https://other.example/' }],
    ['method', { method: 'PUT' }, { method: 'PUT' }],
    ['cron', { cron: '0 10 * * *' }, { cron: '0 10 * * *' }],
    ['timezone', { timezone: 'UTC' }, { timezone: 'UTC' }],
    ['headers', { headers: { 'X-Three': planted('three') } }, { header_keys: ['X-Three'] }],
    ['a header value', { headers: { 'X-One': planted('1'), 'X-Two': planted('two') } }, {}],
    ['body', { body: planted('other') }, {}],
    ['no body', { body: null }, {}],
    ['ttl', { ttl: null }, { ttl: null }],
    ['jitter', { jitter: null }, { jitter: null }],
    ['idempotency_key', { idempotency_key: 'other' }, { idempotency_key: 'other' }],
    ['rate_limit', { rate_limit: null }, { rate_limit: null }],
    ['metadata', { metadata: {} }, { metadata: {} }],
  ])('changes %s', async (_field, change, shown) => {
    const name = newName();
    const first = await made(name, body);
    const after = await changed(name, { ...body, ...change });
    expect(after).toMatchObject({ id: first.id, created_at: first.created_at, name, ...shown });
    expect(isUnchanged(await put(name, { ...body, ...change }))).toBe(true);
    expect(await changed(name, body)).toEqual({ ...first, updated_at: expect.any(String) });
  });

  it('gives fields that are left out their defaults', async () => {
    const name = newName();
    await made(name, body);
    expect(await changed(name, RECURRING)).toMatchObject({
      header_keys: [],
      timezone: 'UTC',
      ttl: null,
      jitter: null,
      idempotency_key: null,
      rate_limit: null,
      metadata: {},
      retry_policy: { max_attempts: 8 },
    });
  });

  it('makes a recurring schedule one-shot and back, and changes its destination to a profile', async () => {
    const name = newName();
    const profile = await createdProfile(api, { ...PROFILE, method: 'PATCH' });
    const first = await made(name, RECURRING);
    const fireAt = '2030-01-01T09:00:00.000Z';
    const once = await changed(name, { endpoint_id: profile.id, fire_at: fireAt });
    expect(once).toMatchObject({
      id: first.id,
      kind: 'one_shot',
      fire_at: fireAt,
      cron: null,
      endpoint_id: profile.id,
      method: 'PATCH',
      next_fire_at: fireAt,
    });
    expect(await onlyDelivery(api, first.id)).toMatchObject({
      endpoint_id: profile.id,
      endpoint_version: 1,
      scheduled_for: fireAt,
    });
    expectError(await api.post(`/v1/endpoints/${profile.id}/archive`), 409, 'profile_in_use');
    expect(await changed(name, RECURRING)).toEqual({ ...first, updated_at: expect.any(String) });
    expectStatus(await api.post(`/v1/endpoints/${profile.id}/archive`), 200);
  });

  it('leaves the pending instant alone when the timing stays, also a moved one', async () => {
    const name = newName();
    const { id } = await made(name, RECURRING);
    const movedTo = '2029-05-05T05:05:05.000Z';
    expectStatus(await api.post(`/v1/schedules/${id}/reschedule`, { fire_at: movedTo }), 200);
    expect(isUnchanged(await put(name, RECURRING))).toBe(true);
    expect(await changed(name, { ...RECURRING, ttl: '1h' })).toMatchObject({ next_fire_at: movedTo });
    const after = await changed(name, { ...RECURRING, cron: '1 9 * * *' });
    expect(after.next_fire_at).not.toBe(movedTo);
  });

  it('finds a one-shot equal whose instant has come, and refuses another past instant', async () => {
    const name = newName();
    const once = { endpoint: URL, fire_at: new Date(Date.now() + 60_000).toISOString() };
    const { id } = await made(name, once);
    const { id: deliveryId } = await onlyDelivery(api, id);
    await drive.letPass(deliveryId, 120_000);
    await drive.fire(deliveryId, SERVER_ERROR);
    const past = { endpoint: URL, fire_at: new Date(Date.now() - 60_000).toISOString() };
    expectError(await put(name, past), 422, 'fire_at_in_past', 'fire_at');
    expect(await changed(name, { ...once, ttl: '5h' })).toMatchObject({ id, ttl: '5h' });
    expect(isUnchanged(await put(name, { ...once, ttl: '5h' }))).toBe(true);
    expect(await delivery(api, deliveryId)).toMatchObject({ status: 'retry_scheduled', attempt_count: 1 });
  });

  it('is refused while the delivery of a one-shot is being sent, unless all is equal', async () => {
    const name = newName();
    const once = { endpoint: URL, fire_at: '2030-01-01T09:00:00Z' };
    const { id } = await made(name, once);
    await drive.claim((await onlyDelivery(api, id)).id);
    expect(isUnchanged(await put(name, once))).toBe(true);
    expectError(await put(name, { ...once, ttl: '1h' }), 409, 'delivery_in_progress');
    expectError(await put(name, { ...once, ttl: '1h' }, '?dry_run=true'), 409, 'delivery_in_progress');
    // The profile is looked up last.
    const unknown = { endpoint_id: UNKNOWN.endpoint, fire_at: once.fire_at };
    expectError(await put(name, unknown), 409, 'delivery_in_progress');
  });

  it('creates a new schedule once the one of that name has ended', async () => {
    const name = newName();
    const once = { endpoint: URL, fire_at: '2030-01-01T09:00:00Z' };
    const { id } = await made(name, once);
    await drive.fire((await onlyDelivery(api, id)).id, OK);
    expectError(await api.get(pathOf(name)), 404, 'not_found');
    expect((await made(name, once)).id).not.toBe(id);
  });

  it('changes a paused schedule, which stays paused', async () => {
    const name = newName();
    const { id } = await made(name, RECURRING);
    expectStatus(await api.post(`/v1/schedules/${id}/pause`), 200);
    expect(await changed(name, { ...RECURRING, cron: '5 5 * * *' })).toMatchObject({
      state: 'paused',
      next_fire_at: null,
    });
  });

  it('ignores Idempotency-Key', async () => {
    const name = newName();
    const keyed = (cron: string) =>
      api.with({ 'idempotency-key': `put-${name}` }).send<Schedule>('PUT', pathOf(name), {
        raw: JSON.stringify({ ...RECURRING, cron }),
      });
    expectStatus(await keyed('0 1 * * *'), 201);
    const second = await keyed('0 2 * * *');
    expect(expectStatus(second, 200).cron).toBe('0 2 * * *');
    expect(second.headers['idempotent-replayed']).toBeUndefined();
  });

  it('gives one schedule to many equal requests at once', async () => {
    const name = newName();
    const answers = await Promise.all(Array.from({ length: 20 }, () => put(name, body)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200 && isUnchanged(answer))).toHaveLength(19);
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
  });

  it('ends with one of many different requests at once', async () => {
    const name = newName();
    const minutes = Array.from({ length: 20 }, (_, minute) => minute);
    const answers = await Promise.all(
      minutes.map((minute) => put(name, { ...RECURRING, cron: `${minute} 9 * * *`, body: `${minute}` })),
    );
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
    const { id, cron } = expectStatus(await api.get<Schedule>(pathOf(name)), 200);
    expect(minutes.map((minute) => `${minute} 9 * * *`)).toContain(cron);
    expect(await deliveriesOf(api, id)).toHaveLength(1);
  });

  it.each<[string, object, number, string, string | null]>([
    ['a delay', { endpoint: URL, delay: '5m' }, 400, 'invalid_duration', 'delay'],
    ['no timing', { endpoint: URL }, 422, 'missing_timing', null],
    ['no destination', { cron: '0 9 * * *' }, 422, 'missing_endpoint', 'endpoint'],
    ['another name', { ...RECURRING, name: 'another' }, 422, 'invalid_name', 'name'],
    ['a past instant', { endpoint: URL, fire_at: '2020-01-01T00:00:00Z' }, 422, 'fire_at_in_past', 'fire_at'],
    [
      'an unknown profile',
      { ...RECURRING, endpoint: null, endpoint_id: 'ep_7zzzzzzzzz0000000000000000' },
      422,
      'invalid_endpoint',
      'endpoint_id',
    ],
  ])(
    'is refused with %s, also as a dry run, and changes nothing',
    async (_what, wrong, status, code, param) => {
      const fresh = newName();
      const taken = newName();
      const before = await made(taken, RECURRING);
      for (const query of ['', '?dry_run=true']) {
        expectError(await put(fresh, wrong, query), status, code, param);
        expectError(await put(taken, wrong, query), status, code, param);
      }
      expectError(await api.get(pathOf(fresh)), 404, 'not_found');
      expect(expectStatus(await api.get<Schedule>(pathOf(taken)), 200)).toEqual(before);
    },
  );

  it.each<[string, object]>([
    ['multiple_endpoint', { endpoint: URL, endpoint_id: 'ep_1', delay: '5m' }],
    ['invalid_method', { endpoint: URL, method: 'BREW', delay: '5m' }],
    ['multiple_timing', { endpoint: URL, cron: '0 9 * * *', delay: '5m' }],
  ])('is refused with %s before a delay', async (code, wrong) => {
    const answer = await put(newName(), wrong);
    expect([answer.status, (answer.json as unknown as ErrorBody).error.code]).toEqual([400, code]);
  });

  it('is never advised to give a delay', async () => {
    for (const wrong of [
      { endpoint: URL },
      { endpoint: URL, delay: 5 },
      { endpoint: URL, fire_at: '2020-01-01T00:00:00Z' },
      { endpoint: URL, cron: '0 9 * * *', fire_at: '2030-01-01T00:00:00Z' },
    ]) {
      const { error } = (await put(newName(), wrong)).json as unknown as ErrorBody;
      expect(error.message).not.toMatch(/use delay|"delay"|of delay/);
    }
  });

  it.each(['a b', '-a', 'ü', 'a/b', 'a'.repeat(256)])('is refused for the name %s', async (name) => {
    expectError(await put(name, RECURRING), 422, 'invalid_name', 'name');
    expectError(await api.get(pathOf(name)), 404, 'not_found');
  });

  it('names ignored fields, and refuses them if it is strict', async () => {
    const name = newName();
    const answer = await put(name, { ...RECURRING, timeout: '5s' });
    expect(answer.headers['sched-ignored-fields']).toBe('timeout');
    const strict = await api.with({ prefer: 'handling=strict' }).send('PUT', pathOf(name), {
      raw: JSON.stringify({ ...RECURRING, timeout: '5s' }),
    });
    expectError(strict, 400, 'unknown_field', 'timeout');
  });
});

describe('?dry_run=true', () => {
  it('answers what would happen, and writes nothing', async () => {
    const name = newName();
    const body = { ...RECURRING, body: planted('body'), headers: { 'X-One': planted('one') } };
    const plan = async (given: object) => expectStatus(await put(name, given, '?dry_run=true'), 200);
    expect(await plan(body)).toEqual({
      object: 'plan',
      action: 'create',
      fields: ['endpoint', 'headers', 'body', 'cron'],
    });
    expectError(await api.get(pathOf(name)), 404, 'not_found');

    const first = await made(name, body);
    expect(await plan(body)).toEqual({ object: 'plan', action: 'none', fields: [] });
    expect(await plan({ ...body, cron: '1 9 * * *', body: planted('other'), ttl: '1h' })).toEqual({
      object: 'plan',
      action: 'change',
      fields: ['cron', 'ttl', 'body'],
    });
    expect(expectStatus(await api.get<Schedule>(pathOf(name)), 200)).toEqual(first);
    expectError(await put(name, body, '?dry_run=yes'), 400, 'invalid_request', 'dry_run');
    expectError(await put(name, body, '?dryrun=true'), 400, 'invalid_request');
  });
});

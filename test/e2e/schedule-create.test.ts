/** POST /v1/schedules: every field, as it is sent and as it is shown. */
import { describe, expect, it } from 'vitest';
import { CLOCK_OFF_MS_MAX } from '#test/process/store-in-use.ts';
import { planted } from './client.ts';
import {
  created,
  createdProfile,
  HOUR,
  idOf,
  ms,
  onlyDelivery,
  schedule,
  TIMESTAMP,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { DEFAULT_RETRY_POLICY, ONE_SHOT, PROFILE, RECURRING, type Schedule, URL } from './resources.ts';

const { api, live } = useSched();

describe('a schedule with only a destination and a timing', () => {
  it('is an active one-shot, with every other field at its default', async () => {
    const before = Date.now();
    const shown = await created(api, ONE_SHOT);
    const after = Date.now();

    expect(shown).toEqual({
      id: expect.stringMatching(idOf('sch')),
      object: 'schedule',
      name: null,
      mode: 'test',
      kind: 'one_shot',
      state: 'active',
      endpoint: URL,
      endpoint_id: null,
      method: 'POST',
      header_keys: [],
      fire_at: expect.stringMatching(TIMESTAMP),
      cron: null,
      timezone: null,
      next_fire_at: shown.fire_at,
      next_runs: [shown.fire_at],
      ttl: null,
      jitter: null,
      idempotency_key: null,
      retry_policy: DEFAULT_RETRY_POLICY,
      rate_limit: null,
      notify: null,
      metadata: {},
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: shown.created_at,
    });
    expect(ms(shown.created_at)).toBeGreaterThanOrEqual(before - CLOCK_OFF_MS_MAX);
    expect(ms(shown.created_at)).toBeLessThanOrEqual(after + CLOCK_OFF_MS_MAX);
    expect(ms(shown.fire_at)).toBe(ms(shown.created_at) + HOUR);
  });

  it('is a recurring one when the timing is cron, in UTC', async () => {
    const shown = await created(api, RECURRING);
    expect(shown).toMatchObject({ kind: 'recurring', fire_at: null, cron: RECURRING.cron, timezone: 'UTC' });
    expect(shown.next_runs).toHaveLength(5);
    expect(shown.next_fire_at).toBe(shown.next_runs[0]);
  });

  it('looks the same by GET, and belongs to the mode of its key', async () => {
    const shown = await created(live, ONE_SHOT);
    expect(shown.mode).toBe('live');
    expect(await schedule(live, shown.id)).toEqual(shown);
  });

  it('already has its pending delivery', async () => {
    const shown = await created(api, ONE_SHOT);
    const pending = await onlyDelivery(api, shown.id);
    expect(pending).toEqual({
      id: expect.stringMatching(idOf('dlv')),
      object: 'delivery',
      url: URL,
      method: 'POST',
      occurrence: shown.fire_at,
      triggered: false,
      schedule_id: shown.id,
      mode: 'test',
      status: 'scheduled',
      scheduled_for: shown.fire_at,
      deadline: null,
      next_fire_at: shown.fire_at,
      attempt_count: 0,
      last_status_code: null,
      error: null,
      idempotency_key: pending.id,
      replay_of: null,
      notification_of: null,
      notify: null,
      endpoint_id: null,
      endpoint_version: null,
      created_at: shown.created_at,
      finalized_at: null,
    });
  });
});

describe('each field is accepted and shown', () => {
  const labels = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, `${i}`]));
  const awkwardLabels = {
    '': 'empty name',
    ключ: '値',
    'a.b[c]': '',
    constructor: 'x',
    long: 'l'.repeat(5_000),
  };

  const echoed: readonly [string, object, Partial<Schedule>][] = [
    ...['POST', 'PUT', 'PATCH', 'GET', 'DELETE'].map(
      (method) => [`method ${method}`, { method }, { method }] as [string, object, Partial<Schedule>],
    ),
    [
      'a private address, which is dead-lettered when it fires',
      { endpoint: 'https://10.0.0.1/x' },
      { endpoint: 'https://10.0.0.1/x' },
    ],
    ['localhost', { endpoint: 'https://localhost/x' }, { endpoint: 'https://localhost/x' }],
    [
      'an endpoint with port, query and fragment',
      { endpoint: 'https://a.example:8443/p?q=1#f' },
      { endpoint: 'https://a.example:8443/p?q=1#f' },
    ],
    ['ttl, unchanged', { ttl: '1h30m' }, { ttl: '1h30m' }],
    ['ttl has no minimum', { ttl: '0' }, { ttl: '0' }],
    ['ttl may even be negative', { ttl: '-5m' }, { ttl: '-5m' }],
    ['ttl has no maximum', { ttl: '2562047h' }, { ttl: '2562047h' }],
    ['jitter', { jitter: '90s' }, { jitter: '90s' }],
    ['jitter of 0', { jitter: '0' }, { jitter: '0' }],
    ['idempotency_key', { idempotency_key: 'invoice-4711' }, { idempotency_key: 'invoice-4711' }],
    ['rate_limit', { rate_limit: { per_second: 0.5 } }, { rate_limit: { per_second: 0.5 } }],
    ['rate_limit 0: no limit', { rate_limit: { per_second: 0 } }, { rate_limit: { per_second: 0 } }],
    ['metadata', { metadata: awkwardLabels }, { metadata: awkwardLabels }],
    ['50 labels', { metadata: labels(50) }, { metadata: labels(50) }],
    [
      'a retry policy at its lower bounds',
      {
        retry_policy: {
          max_attempts: 1,
          strategy: 'exponential',
          base: '0s',
          factor: 1,
          max: '0s',
          jitter: false,
        },
      },
      {
        retry_policy: {
          max_attempts: 1,
          strategy: 'exponential',
          base: '0s',
          factor: 1,
          max: '0s',
          jitter: false,
        },
      },
    ],
    [
      'a retry policy at its upper bounds',
      { retry_policy: { max_attempts: 50, base: '24h', factor: 100, max: '168h' } },
      {
        retry_policy: {
          max_attempts: 50,
          strategy: 'exponential',
          base: '24h',
          factor: 100,
          max: '168h',
          jitter: true,
        },
      },
    ],
    [
      'defaults fill what a retry policy leaves out',
      { retry_policy: { factor: 1.5 } },
      { retry_policy: { ...DEFAULT_RETRY_POLICY, factor: 1.5 } },
    ],
    ['an empty retry policy', { retry_policy: {} }, { retry_policy: DEFAULT_RETRY_POLICY }],
  ];
  it.each(echoed)('%s', async (_what, fields, expected) => {
    const shown = await created(api, { ...ONE_SHOT, ...fields });
    expect(shown).toMatchObject(expected);
    expect(shown.metadata).toEqual(expected.metadata ?? {});
    expect(await schedule(api, shown.id)).toEqual(shown);
  });

  it('headers: only their names are shown', async () => {
    const headers = { 'X-Tenant': planted('tenant'), authorization: planted('authorization') };
    const shown = await created(api, { ...ONE_SHOT, headers });
    expect(shown.header_keys).toEqual(['X-Tenant', 'authorization']);
    expect(shown).not.toHaveProperty('headers');
  });

  it('body: it is not shown', async () => {
    const shown = await created(api, { ...ONE_SHOT, body: planted('body') });
    expect(shown).not.toHaveProperty('body');
  });

  it('forbidden headers are accepted: they dead-letter the delivery when it fires', async () => {
    const headers = { Host: planted('host'), 'proxy-x': planted('proxy'), 'X-Bad': planted('line\r\nbreak') };
    const shown = await created(api, { ...ONE_SHOT, headers });
    expect(shown.header_keys).toEqual(['Host', 'proxy-x', 'X-Bad']);
  });

  it('endpoint_id: the url and method of the profile are shown', async () => {
    const profile = await createdProfile(api, { ...PROFILE, method: 'PUT' });
    const shown = await created(api, { endpoint_id: profile.id, delay: '1h' });
    expect(shown).toMatchObject({ endpoint_id: profile.id, endpoint: profile.url, method: 'PUT' });
  });
});

describe('null means absent on create', () => {
  const nullable = [
    'endpoint_id',
    'method',
    'headers',
    'body',
    'fire_at',
    'local_fire_at',
    'cron',
    'timezone',
    'ttl',
    'idempotency_key',
    'retry_policy',
    'rate_limit',
    'jitter',
    'notify',
    'metadata',
  ];
  it.each(nullable)('%s', async (field) => {
    const shown = await created(api, { ...ONE_SHOT, [field]: null });
    expect(shown).toMatchObject({
      endpoint_id: null,
      method: 'POST',
      header_keys: [],
      cron: null,
      timezone: null,
      ttl: null,
      idempotency_key: null,
      retry_policy: DEFAULT_RETRY_POLICY,
      rate_limit: null,
      jitter: null,
      metadata: {},
    });
  });

  it('endpoint beside endpoint_id, method beside endpoint_id, delay beside cron', async () => {
    const profile = await createdProfile(api, PROFILE);
    const body = { endpoint: null, endpoint_id: profile.id, method: null, delay: null, cron: '0 9 * * *' };
    expect(await created(api, body)).toMatchObject({ endpoint_id: profile.id, kind: 'recurring' });
  });

  it('each field inside a retry policy', async () => {
    const empty = { max_attempts: null, strategy: null, base: null, factor: null, max: null, jitter: null };
    expect(await created(api, { ...ONE_SHOT, retry_policy: empty })).toMatchObject({
      retry_policy: DEFAULT_RETRY_POLICY,
    });
  });
});

describe('the idempotency key of a delivery', () => {
  it('of a one-shot is the given one', async () => {
    const { id } = await created(api, { ...ONE_SHOT, idempotency_key: 'order-1' });
    expect((await onlyDelivery(api, id)).idempotency_key).toBe('order-1');
  });

  it('of a recurring schedule is the id of the schedule and the nominal instant', async () => {
    const { id, next_fire_at } = await created(api, RECURRING);
    expect((await onlyDelivery(api, id)).idempotency_key).toBe(`${id}:${next_fire_at}`);
  });

  it('of a recurring schedule with a key is that key and the nominal instant without jitter', async () => {
    const body = { endpoint: URL, cron: '0 9 1 1 *', idempotency_key: 'digest', jitter: '10s' };
    const { id, next_fire_at } = await created(api, body);
    const nominal = `${(next_fire_at ?? '').slice(0, 4)}-01-01T09:00:00.000Z`;
    expect((await onlyDelivery(api, id)).idempotency_key).toBe(`digest:${nominal}`);
  });
});

describe('the deadline of a delivery', () => {
  it.each([
    ['24h', 24 * HOUR],
    ['1.5s', 1_500],
    ['0', 0],
    ['-5m', -300_000],
  ])('is its scheduled_for + a ttl of %s', async (ttl, expectedMs) => {
    const { id } = await created(api, { ...RECURRING, ttl, jitter: '1m' });
    const pending = await onlyDelivery(api, id);
    expect(ms(pending.deadline) - ms(pending.scheduled_for)).toBe(expectedMs);
  });
});

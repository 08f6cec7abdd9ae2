/** The filters of the lists: each alone, combined, and invalid ones. */
import { beforeAll, describe, expect, it } from 'vitest';
import { OK, REDIRECT, SERVER_ERROR } from './drive.ts';
import {
  created,
  deliveriesOf,
  expectError,
  list,
  MINUTE,
  ms,
  onlyDelivery,
  ordered,
  schedule,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { type Delivery, ONE_SHOT, RECURRING, type Schedule, UNKNOWN } from './resources.ts';

const { api, drive } = useSched();

async function idsOf(path: string): Promise<readonly string[]> {
  return (await list<{ readonly id: string }>(api, path)).data.map(({ id }) => id);
}

describe('GET /schedules', () => {
  const SCHEDULES: readonly (readonly [
    name: string,
    body: object,
    order: 'pause' | 'cancel' | 'complete' | null,
  ])[] = [
    ['active one-shot', { ...ONE_SHOT, metadata: { team: 'billing', env: 'prod' } }, null],
    ['active recurring', { ...RECURRING, metadata: { team: 'billing', env: 'dev' } }, null],
    ['paused one-shot', { ...ONE_SHOT, metadata: { team: 'ops', env: 'prod' } }, 'pause'],
    ['paused recurring', { ...RECURRING, metadata: { team: 'ops' } }, 'pause'],
    ['canceled one-shot', { ...ONE_SHOT, metadata: { 'a b&c=[d]': 'ü + %', team: 'Billing' } }, 'cancel'],
    ['canceled recurring', { ...RECURRING, metadata: {} }, 'cancel'],
    ['completed one-shot', ONE_SHOT, 'complete'],
  ];
  const names = new Map<string, string>();

  beforeAll(async () => {
    for (const [name, body, order] of SCHEDULES) {
      const { id } = await created(api, body);
      if (order === 'pause' || order === 'cancel') await ordered(api, id, order);
      if (order === 'complete') await drive.fire((await onlyDelivery(api, id)).id, OK);
      names.set(id, name);
    }
  });

  const all = SCHEDULES.map(([name]) => name).toReversed();
  const awkward = `metadata[${encodeURIComponent('a b&c=[d]')}]=${encodeURIComponent('ü + %')}`;

  it.each([
    ['', all],
    ['state=active', ['active recurring', 'active one-shot']],
    ['state=paused', ['paused recurring', 'paused one-shot']],
    ['state=canceled', ['canceled recurring', 'canceled one-shot']],
    ['state=completed', ['completed one-shot']],
    ['kind=one_shot', all.filter((name) => name.endsWith('one-shot'))],
    ['kind=recurring', all.filter((name) => name.endsWith('recurring'))],
    ['state=paused&kind=recurring', ['paused recurring']],
    ['metadata[team]=billing', ['active recurring', 'active one-shot']],
    ['metadata%5Bteam%5D=ops', ['paused recurring', 'paused one-shot']],
    ['metadata[team]=billing&metadata[env]=prod', ['active one-shot']],
    ['metadata[env]=prod', ['paused one-shot', 'active one-shot']],
    ['metadata[env]=prod&state=paused&kind=one_shot', ['paused one-shot']],
    ['metadata[team]=billing&metadata[env]=dev&state=active&kind=recurring', ['active recurring']],
    ['metadata[team]=ops&metadata[env]=prod&state=active', []],
    ['metadata[team]=ops&metadata[team]=ops&state=paused', ['paused recurring', 'paused one-shot']],
    ['metadata[team]=billing&metadata[team]=ops', []],
    ['metadata[team]=bill', []],
    ['metadata[TEAM]=billing', []],
    ['metadata[none]=such', []],
    [awkward, ['canceled one-shot']],
    ['state=&kind=&metadata[team]=', all],
    ['unknown=filter', all],
  ])('?%s', async (query, expected) => {
    expect((await idsOf(`/v1/schedules?${query}`)).map((id) => names.get(id))).toEqual(expected);
  });

  it('shows each item as GET shows it', async () => {
    for (const shown of (await list<Schedule>(api, '/v1/schedules')).data) {
      expect(await schedule(api, shown.id)).toEqual(shown);
    }
  });

  it.each([
    ['state', 'deleted'],
    ['state', 'Active'],
    ['state', 'scheduled'],
    ['kind', 'once'],
    ['kind', '%zz'],
  ])('%s=%s, an unknown value: 400 invalid_request', async (name, value) => {
    expectError(await api.get(`/v1/schedules?${name}=${value}`), 400, 'invalid_request', name);
  });
});

describe('GET /deliveries', () => {
  const byStatus = new Map<string, string>();

  beforeAll(async () => {
    const reach: readonly (readonly [string, (pending: Delivery) => Promise<unknown>])[] = [
      ['scheduled', async () => {}],
      ['claimed', ({ id }) => drive.claim(id)],
      ['retry_scheduled', ({ id }) => drive.fire(id, SERVER_ERROR)],
      ['succeeded', ({ id }) => drive.fire(id, OK)],
      ['dead_letter', ({ id }) => drive.fire(id, REDIRECT)],
      ['expired', ({ id }) => drive.expire(id)],
      ['paused', ({ schedule_id }) => ordered(api, schedule_id ?? '', 'pause')],
      ['canceled', ({ schedule_id }) => ordered(api, schedule_id ?? '', 'cancel')],
    ];
    for (const [status, act] of reach) {
      const pending = await onlyDelivery(api, (await created(api, { ...ONE_SHOT, metadata: { status } })).id);
      await act(pending);
      byStatus.set(status, pending.id);
    }
  });

  it.each([
    'scheduled',
    'claimed',
    'retry_scheduled',
    'succeeded',
    'dead_letter',
    'expired',
    'paused',
    'canceled',
  ])('status=%s', async (status) => {
    const { data } = await list<Delivery>(api, `/v1/deliveries?status=${status}&limit=100`);
    expect(data.map(({ id }) => id)).toContain(byStatus.get(status));
    expect(data.filter((shown) => shown.status !== status)).toEqual([]);
  });

  it.each(['in_flight', 'active', 'SCHEDULED'])('status=%s, unknown: 400 invalid_request', async (status) => {
    expectError(await api.get(`/v1/deliveries?status=${status}`), 400, 'invalid_request', 'status');
  });

  it('schedule_id: the deliveries of one schedule, as in its own list', async () => {
    const { id } = await created(api, RECURRING);
    await drive.claim((await onlyDelivery(api, id)).id);
    const own = await deliveriesOf(api, id);
    expect(own).toHaveLength(2);
    expect((await list(api, `/v1/deliveries?schedule_id=${id}`)).data).toEqual(own);
    expect(await idsOf(`/v1/deliveries?schedule_id=${id}&status=claimed`)).toEqual([own[1]?.id]);
  });

  it.each([UNKNOWN.schedule, UNKNOWN.delivery, 'nope'])(
    'schedule_id=%s, unknown: no deliveries',
    async (id) => {
      expect(await list(api, `/v1/deliveries?schedule_id=${id}`)).toMatchObject({
        data: [],
        next_cursor: null,
      });
    },
  );

  it('empty values are ignored', async () => {
    const all = await list(api, '/v1/deliveries');
    const empty = 'status=&schedule_id=&created_after=&created_before=&cursor=&limit=';
    expect(await list(api, `/v1/deliveries?${empty}`)).toEqual(all);
  });

  it('/schedules/{id}/deliveries of an unknown schedule: 404', async () => {
    expectError(await api.get(`/v1/schedules/${UNKNOWN.schedule}/deliveries`), 404, 'not_found');
  });
});

describe('created_after and created_before', () => {
  /** Three deliveries, each created in another millisecond. */
  let made: readonly Delivery[] = [];
  beforeAll(async () => {
    const all: Delivery[] = [];
    while (all.length < 3) {
      const one = await onlyDelivery(api, (await created(api, ONE_SHOT)).id);
      if (one.created_at !== all.at(-1)?.created_at) all.push(one);
    }
    made = all;
  });

  const [first, middle, last] = [0, 1, 2].map((i) => () => made[i] as Delivery);
  const filtered = async (query: string) => {
    const ids = new Set(await idsOf(`/v1/deliveries?limit=100&${query}`));
    return made.map(({ id }) => ids.has(id));
  };
  /** The same instant, as a clock two hours ahead shows it. */
  const shifted = (timestamp: string | undefined, sign: string) =>
    `${new Date(ms(timestamp) + 120 * MINUTE).toISOString().slice(0, -1)}${sign}02:00`;

  it('both are exclusive', async () => {
    const at = middle?.().created_at;
    expect(await filtered(`created_after=${at}`)).toEqual([false, false, true]);
    expect(await filtered(`created_before=${at}`)).toEqual([true, false, false]);
    const between = `created_after=${first?.().created_at}&created_before=${last?.().created_at}`;
    expect(await filtered(between)).toEqual([false, true, false]);
    expect(await filtered(`created_after=${at}&created_before=${at}`)).toEqual([false, false, false]);
  });

  it('may have an offset, with its + encoded or not', async () => {
    const at = middle?.().created_at;
    for (const plus of ['%2B', '+', '%20']) {
      expect(await filtered(`created_after=${shifted(at, plus)}`)).toEqual([false, false, true]);
      expect(await filtered(`created_before=${shifted(at, plus)}`)).toEqual([true, false, false]);
    }
  });

  it('may have any year of RFC 3339', async () => {
    expect(await filtered('created_after=0000-01-01T00:00:00Z')).toEqual([true, true, true]);
    expect(await filtered('created_before=9999-12-31T23:59:59Z')).toEqual([true, true, true]);
    expect(await filtered('created_after=9999-12-31T23:59:59-23:59')).toEqual([false, false, false]);
    expect(await filtered('created_before=0000-01-01T00:00:00%2B23:59')).toEqual([false, false, false]);
  });

  it('work together with the other filters', async () => {
    const one = middle?.() as Delivery;
    const query = `schedule_id=${one.schedule_id}&status=scheduled&created_after=${first?.().created_at}`;
    expect(await idsOf(`/v1/deliveries?${query}`)).toEqual([one.id]);
    expect(await idsOf(`/v1/deliveries?${query}&created_before=${one.created_at}`)).toEqual([]);
  });

  it.each(['created_after', 'created_before'])('an invalid %s: 400 invalid_request', async (name) => {
    for (const text of [
      'yesterday',
      '2026-01-01',
      '2026-01-01T00:00:00',
      '1700000000',
      '2026-13-01T00:00:00Z',
    ]) {
      expectError(await api.get(`/v1/deliveries?${name}=${text}`), 400, 'invalid_request', name);
    }
  });
});

it('lists are newest first', async () => {
  const { data } = await list<Schedule>(api, '/v1/schedules?limit=100');
  const keys = data.map(({ created_at, id }) => `${created_at} ${id}`);
  expect(keys).toEqual(keys.toSorted().toReversed());
  expect(keys.length).toBeGreaterThan(10);
});

describe('a parameter that is ignored', () => {
  const IGNORED = 'sched-ignored-fields';

  it.each([
    ['/v1/schedules?metdata=x', 'metdata'],
    ['/v1/schedules?metadata=team:billing', 'metadata'],
    ['/v1/schedules?metadata.team=nobody&metadata[]=x', 'metadata%2Eteam, metadata%5B%5D'],
    ['/v1/schedules?status=paused', 'status'],
    ['/v1/schedules?state=&limit=1', 'state'],
    ['/v1/deliveries?scheduleId=sch_x&metadata[team]=billing', 'scheduleId, metadata%5Bteam%5D'],
    ['/v1/endpoints?archived=true', 'archived'],
  ])('%s is named, and nothing is refused', async (path, names) => {
    for (const client of [api, api.with({ prefer: 'handling=strict' })]) {
      const answer = await client.get(path);
      expect([answer.status, answer.headers[IGNORED]]).toEqual([200, names]);
      expect(answer.headers['preference-applied']).toBeUndefined();
    }
  });

  it('is named on the answer about one object, and on a refusal', async () => {
    const { id } = await created(api, ONE_SHOT);
    expect((await api.get(`/v1/schedules/${id}?expand=deliveries`)).headers[IGNORED]).toBe('expand');
    const missing = await api.get(`/v1/schedules/${UNKNOWN.schedule}/deliveries?status=expired`);
    expectError(missing, 404, 'not_found');
    expect(missing.headers[IGNORED]).toBe('status');
    const wrong = await api.with({ prefer: 'handling=strict' }).get('/v1/schedules?state=on&colour=red');
    expectError(wrong, 400, 'invalid_request', 'state');
    expect(wrong.headers[IGNORED]).toBe('colour');
  });

  it('is not named if there is none', async () => {
    const answer = await api.get('/v1/schedules?state=paused&kind=recurring&limit=1&metadata[team]=ops');
    expect([answer.status, answer.headers[IGNORED]]).toEqual([200, undefined]);
  });
});

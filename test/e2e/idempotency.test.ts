/** Idempotency-Key: a request takes effect once for each key, and a repeated request gets the same answer. */
import { describe, expect, it } from 'vitest';
import type { Answer, Api } from './client.ts';
import { OK } from './drive.ts';
import {
  created,
  createdProfile,
  deliveriesOf,
  delivery,
  expectError,
  expectStatus,
  list,
  onlyDelivery,
  ordered,
  patched,
  profile,
  schedule,
} from './expectations.ts';
import { TEST_KEY, useSched } from './harness.ts';
import { type Endpoint, ONE_SHOT, PROFILE, type Schedule, UNKNOWN } from './resources.ts';

const { api, live, atOneNode, drive } = useSched();

let keys = 0;
function freshKey(): string {
  return `key ${keys++} "é"`;
}

function keyed(key: string, caller: Api = api): Api {
  return caller.with({ 'idempotency-key': key });
}

/** The stored answer: the same status and body, marked as a replay, with its own request id. */
function expectReplayOf(first: Answer, again: Answer): void {
  expect(first.headers).not.toHaveProperty('idempotent-replayed');
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect({ status: again.status, text: again.text }).toEqual({ status: first.status, text: first.text });
  expect(again.headers['content-type']).toBe(first.headers['content-type']);
  expect(again.headers['sched-request-id']).not.toBe(first.headers['sched-request-id']);
}

interface Marked {
  /** Sends the request of this test. */
  readonly call: (caller: Api) => Promise<Answer>;
  /** Counts its effects. */
  readonly effects: () => Promise<number>;
}

/** The operations that are marked IK in the specification. */
const MARKED: Readonly<Record<string, () => Promise<Marked>>> = {
  async 'POST /schedules'() {
    const label = `m${keys++}`;
    return {
      call: (caller) => caller.post('/v1/schedules', { ...ONE_SHOT, metadata: { label } }),
      effects: async () => (await list(api, `/v1/schedules?metadata[label]=${label}`)).data.length,
    };
  },
  async 'PATCH /schedules/{id}'() {
    const { id, updated_at } = await created(api, ONE_SHOT);
    return {
      call: (caller) => caller.patch(`/v1/schedules/${id}`, { ttl: '5m' }),
      effects: () => changesSince(id, updated_at),
    };
  },
  async 'POST /schedules/{id}/reschedule'() {
    const { id, updated_at } = await created(api, ONE_SHOT);
    return {
      call: (caller) => caller.post(`/v1/schedules/${id}/reschedule`, { delay: '5m' }),
      effects: () => changesSince(id, updated_at),
    };
  },
  async 'POST /endpoints'() {
    const url = `https://receiver.example/${keys++}`;
    return {
      call: (caller) => caller.post('/v1/endpoints', { url }),
      effects: async () => {
        const { data } = await list<Endpoint>(api, '/v1/endpoints?limit=100');
        return data.filter((shown) => shown.url === url).length;
      },
    };
  },
  async 'PATCH /endpoints/{id}'() {
    const { id } = await createdProfile(api, PROFILE);
    return {
      call: (caller) => caller.patch(`/v1/endpoints/${id}`, { timeout: '5s' }),
      effects: async () => (await profile(api, id)).version - 1,
    };
  },
  async 'POST /deliveries/{id}/replay'() {
    const { id, schedule_id } = await onlyDelivery(api, (await created(api, ONE_SHOT)).id);
    await drive.fire(id, OK);
    return {
      call: (caller) => caller.post(`/v1/deliveries/${id}/replay`),
      effects: async () => (await deliveriesOf(api, schedule_id ?? '')).length - 1,
    };
  },
};

/** A change of a schedule shows in updated_at. All answers of one effect have the same value. */
async function changesSince(id: string, updatedAt: string): Promise<number> {
  return (await schedule(api, id)).updated_at === updatedAt ? 0 : 1;
}

describe.each(Object.keys(MARKED))('%s', (operation) => {
  const prepared = async () => (await MARKED[operation]?.()) as Marked;

  it('a repeated request gets the stored answer and has no further effect', async () => {
    const { call, effects } = await prepared();
    const caller = keyed(freshKey());
    const first = await call(caller);
    expect(first.status).toBeLessThan(300);
    expect(await effects()).toBe(1);
    for (let again = 0; again < 3; again++) expectReplayOf(first, await call(caller));
    expect(await effects()).toBe(1);
  });

  it('50 concurrent requests take effect once', async () => {
    const { call, effects } = await prepared();
    const caller = keyed(freshKey());
    const answers = await Promise.all(Array.from({ length: 50 }, () => call(caller)));
    const refused = answers.filter(({ status }) => status === 409);
    const succeeded = answers.filter(({ status }) => status !== 409);
    for (const answer of refused) expectError(answer, 409, 'idempotency_in_progress');
    expect(new Set(succeeded.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const first = succeeded.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
    expect(first).toHaveLength(1);
    expect(first[0]?.status).toBeLessThan(300);
    expect(await effects()).toBe(1);
    expectReplayOf(first[0] as Answer, await call(caller));
    expect(await effects()).toBe(1);
  });

  it('every request without a key, or with an empty one, takes effect', async () => {
    for (const caller of [api, keyed('')]) {
      const { call } = await prepared();
      const [first, second] = [await call(caller), await call(caller)];
      expect([first.status, second.status].filter((status) => status >= 300)).toEqual([]);
      expect([first, second].filter(({ headers }) => 'idempotent-replayed' in headers)).toEqual([]);
    }
  });

  it('a key of 255 characters is accepted, and one of 256 is refused', async () => {
    const { call, effects } = await prepared();
    const key = freshKey().padEnd(255, 'k');
    expectError(await call(keyed(`${key}k`)), 400, 'idempotency_key_too_long');
    expect(await effects()).toBe(0);
    const first = await call(keyed(key));
    expectReplayOf(first, await call(keyed(key)));
  });

  it('a key that was used for another request: 409 idempotency_key_reuse, no effect', async () => {
    const key = freshKey();
    expectStatus(await keyed(key).post('/v1/schedules', { ...ONE_SHOT, metadata: { other: key } }), 201);
    const { call, effects } = await prepared();
    expectError(await call(keyed(key)), 409, 'idempotency_key_reuse');
    expect(await effects()).toBe(0);
  });
});

describe('the same request means the same method, path and bytes of the body', () => {
  const body = JSON.stringify(ONE_SHOT);
  it.each([
    ['another value', 'POST', '/v1/schedules', body.replace('1h', '2h')],
    ['the same JSON in other bytes', 'POST', '/v1/schedules', `${body} `],
    ['another path', 'POST', '/v1/endpoints', body],
    ['another method', 'PATCH', `/v1/schedules/${UNKNOWN.schedule}`, body],
  ])('%s: 409 idempotency_key_reuse', async (_what, method, path, raw) => {
    const caller = keyed(freshKey());
    const first = await caller.send('POST', '/v1/schedules', { raw: body });
    expectError(await caller.send(method, path, { raw }), 409, 'idempotency_key_reuse');
    expectReplayOf(first, await caller.send('POST', '/v1/schedules', { raw: body }));
  });

  it('the content type is ignored', async () => {
    const caller = keyed(freshKey());
    const first = await caller.send('POST', '/v1/schedules', { raw: body });
    const headers = { 'content-type': 'text/plain' };
    expectReplayOf(first, await caller.send('POST', '/v1/schedules', { raw: body, headers }));
  });

  it('the form of the target is ignored: scheme, host and port are not part of the path', async () => {
    const caller = keyed(freshKey());
    const first = await caller.send('POST', '/v1/schedules', { raw: body });
    for (const target of [
      'http://sched.example/v1/schedules',
      'HTTPS://Other.Example:8443/v1/schedules',
      '/v1/schedules?any=query',
      'http://[::1]/v1/schedules?any=query',
    ]) {
      expectReplayOf(first, await caller.send('POST', target, { raw: body }));
    }
    const other = 'http://sched.example/v1/endpoints';
    expectError(await caller.send('POST', other, { raw: body }), 409, 'idempotency_key_reuse');
  });

  it('of 50 different concurrent requests with one key, one takes effect and the others are refused', async () => {
    const caller = keyed(freshKey());
    const label = `race${keys++}`;
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        caller.post<Schedule>('/v1/schedules', { ...ONE_SHOT, ttl: `${i + 1}m`, metadata: { label } }),
      ),
    );
    const winners = answers.filter(({ status }) => status === 201);
    expect(winners).toHaveLength(1);
    const codes = answers
      .filter(({ status }) => status !== 201)
      .map(({ text }) => /"code":"(\w+)"/.exec(text)?.[1]);
    expect(
      codes.filter((code) => code !== 'idempotency_key_reuse' && code !== 'idempotency_in_progress'),
    ).toEqual([]);
    const { data } = await list<Schedule>(api, `/v1/schedules?metadata[label]=${label}`);
    expect(data.map(({ id }) => id)).toEqual(winners.map(({ json }) => json.id));
  });
});

it('the same key, still in flight: 409 idempotency_in_progress', async () => {
  const caller = keyed(freshKey(), atOneNode.as(TEST_KEY));
  const call = () => caller.post('/v1/schedules', ONE_SHOT);
  const { both, early } = await drive.whileNothingIsWritten(async () => {
    const both = [call(), call()];
    return { both, early: await Promise.race(both) };
  });
  expectError(early, 409, 'idempotency_in_progress');
  const first = (await Promise.all(both)).find((answer) => answer !== early);
  expect(first?.status).toBe(201);
  expectReplayOf(first as Answer, await call());
});

describe('a 4xx releases the key', () => {
  it.each([
    ['400', { ...ONE_SHOT, ttl: 'x' }, 400],
    ['422', { ...ONE_SHOT, delay: '1ms' }, 422],
    ['413', { ...ONE_SHOT, body: 'x'.repeat(262_145) }, 413],
  ])('%s', async (_what, wrong, status) => {
    const caller = keyed(freshKey());
    for (let again = 0; again < 2; again++) {
      const refused = await caller.post('/v1/schedules', wrong);
      expect(refused.status).toBe(status);
      expect(refused.headers).not.toHaveProperty('idempotent-replayed');
    }
    const first = await caller.post('/v1/schedules', ONE_SHOT);
    expectStatus(first, 201);
    expectReplayOf(first, await caller.post('/v1/schedules', ONE_SHOT));
  });

  it('404 and 409', async () => {
    const caller = keyed(freshKey());
    expectError(await caller.patch(`/v1/schedules/${UNKNOWN.schedule}`, {}), 404, 'not_found');
    const { id } = await onlyDelivery(api, (await created(api, ONE_SHOT)).id);
    expectError(await caller.post(`/v1/deliveries/${id}/replay`), 409, 'not_replayable');
    await drive.fire(id, OK);
    const first = await caller.post(`/v1/deliveries/${id}/replay`);
    expectStatus(first, 201);
    expectReplayOf(first, await caller.post(`/v1/deliveries/${id}/replay`));
  });
});

describe('operations that are not marked ignore the header', () => {
  it('whatever its value and length', async () => {
    const used = freshKey();
    expectStatus(await keyed(used).post('/v1/schedules', ONE_SHOT), 201);
    const { id } = await created(api, ONE_SHOT);
    const { id: endpoint } = await createdProfile(api, PROFILE);
    for (const key of [used, 'k'.repeat(1_000)]) {
      for (const path of [
        `/v1/schedules/${id}/pause`,
        `/v1/schedules/${id}/resume`,
        `/v1/schedules/${id}/pause`,
        `/v1/endpoints/${endpoint}/archive`,
      ]) {
        const answer = await keyed(key).post(path);
        expectStatus(answer, 200);
        expect(answer.headers).not.toHaveProperty('idempotent-replayed');
      }
      expectStatus(await keyed(key).get('/v1/schedules'), 200);
      expect((await schedule(api, id)).state).toBe('paused');
    }
  });
});

describe('the stored answer is the first one', () => {
  it('even when the object has changed since', async () => {
    const caller = keyed(freshKey());
    const first = await caller.post<Schedule>('/v1/schedules', ONE_SHOT);
    await patched(api, first.json.id, { metadata: { changed: 'yes' } });
    await ordered(api, first.json.id, 'cancel');
    const again = await caller.post<Schedule>('/v1/schedules', ONE_SHOT);
    expectReplayOf(first, again);
    expect(again.json).toMatchObject({ state: 'active', metadata: {} });
  });

  it('of a reschedule that changed nothing, because the delivery is claimed', async () => {
    const { id } = await created(api, ONE_SHOT);
    const pending = await onlyDelivery(api, id);
    await drive.claim(pending.id);
    const caller = keyed(freshKey());
    const call = () => caller.post<Schedule>(`/v1/schedules/${id}/reschedule`, { delay: '5h' });
    const first = await call();
    expect(expectStatus(first, 200)).toEqual(await schedule(api, id));
    await drive.settle(pending.id, OK);
    expectReplayOf(first, await call());
    expect((await delivery(api, pending.id)).status).toBe('succeeded');
  });

  it('the replay names the version that served the first request', async () => {
    const caller = keyed(freshKey());
    const first = await caller.post('/v1/schedules', ONE_SHOT);
    const again = await caller.post('/v1/schedules', ONE_SHOT);
    expect(again.headers['sched-version']).toBe(first.headers['sched-version']);
  });
});

it('test and live never collide', async () => {
  const key = freshKey();
  const inTest = await keyed(key).post<Schedule>('/v1/schedules', ONE_SHOT);
  const inLive = await keyed(key, live).post<Schedule>('/v1/schedules', { ...ONE_SHOT, ttl: '1h' });
  expect([inTest.json.mode, inLive.json.mode]).toEqual(['test', 'live']);
  expectReplayOf(inTest, await keyed(key).post('/v1/schedules', ONE_SHOT));
  expectReplayOf(inLive, await keyed(key, live).post('/v1/schedules', { ...ONE_SHOT, ttl: '1h' }));
});

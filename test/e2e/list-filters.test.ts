/** Lists by name, profile, part of the URL and original, and the list of attempts. */
import { beforeAll, describe, expect, it } from 'vitest';
import { OK, REDIRECT, SERVER_ERROR } from './drive.ts';
import {
  attemptsOf,
  created,
  createdProfile,
  expectError,
  expectStatus,
  list,
  onlyDelivery,
  ordered,
  patchedProfile,
  replayed,
} from './expectations.ts';
import { useSched } from './harness.ts';
import {
  type Attempt,
  type Delivery,
  type Endpoint,
  type List,
  ONE_SHOT,
  PROFILE,
  RECURRING,
  type Schedule,
  UNKNOWN,
} from './resources.ts';

const { api, drive } = useSched();

interface RecentAttempt extends Attempt {
  readonly schedule_id: string;
  readonly schedule_name: string | null;
  readonly url: string;
  readonly method: string;
  readonly endpoint_id: string | null;
}

const EMPTY = { data: [], has_more: false, next_cursor: null };
const LONG = 'x'.repeat(5_000);
/** Texts that are neither an id nor a name. */
const HOSTILE = [
  'nope',
  '%00',
  '%20',
  '%F0%9F%99%88',
  "'%20OR%201=1--",
  '%25',
  LONG,
  UNKNOWN.schedule.slice(0, -1),
];

async function idsOf(path: string): Promise<readonly string[]> {
  return (await list<{ readonly id: string }>(api, path)).data.map(({ id }) => id);
}

/** Reads a list to its end; its pages may be short or empty. */
async function walk(path: string, limit: number, between: () => Promise<unknown> = async () => {}) {
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: List<{ readonly id: string }> = await list(api, `${path}&limit=${limit}&cursor=${cursor}`);
    expect(page.has_more).toBe(page.next_cursor !== null);
    seen.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
    if (cursor !== null) await between();
  }
  expect(new Set(seen).size).toBe(seen.length);
  return seen;
}

async function named(name: string, body: object): Promise<Schedule> {
  const answered = await api.send<Schedule>('PUT', `/v1/schedules/named/${name}`, {
    raw: JSON.stringify(body),
  });
  expect([200, 201]).toContain(answered.status);
  return answered.json;
}

describe('GET /schedules', () => {
  const [BOTH, NEITHER] = ['https://list.example/Both/Hook?token=AbC', 'https://list.example/%C3%BC'];
  let profile: Endpoint;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    profile = await createdProfile(api, { ...PROFILE, url: 'https://list.example/profile' });
    const metadata = { suite: 'lists' };
    const make = async (key: string, body: object) => {
      ids[key] = (await created(api, { ...RECURRING, endpoint: undefined, metadata, ...body })).id;
    };
    await make('inline', { endpoint: BOTH });
    await make('profile', { endpoint_id: profile.id });
    await make('labelled', { endpoint_id: profile.id, metadata: { suite: 'lists', team: 'a' } });
    await make('paused', { endpoint_id: profile.id });
    await ordered(api, ids.paused ?? '', 'pause');
    await make('ended', { endpoint: NEITHER, name: 'list-report' });
    await ordered(api, ids.ended ?? '', 'cancel');
    await make('named', { endpoint_id: profile.id, name: 'list-report' });
  });

  it.each([
    ['name=list-report', ['named', 'ended']],
    ['name=list-report&state=active', ['named']],
    ['name=list-report&state=canceled&kind=recurring', ['ended']],
    ['name=LIST-report', []],
    ['name=list', []],
    ['name=list-report&metadata[suite]=lists', ['named', 'ended']],
    ['name=list-report&endpoint_id=PROFILE', ['named']],
    ['name=list-report&q=%C3%BC', ['ended']],
    ['endpoint_id=PROFILE', ['named', 'paused', 'labelled', 'profile']],
    ['endpoint_id=PROFILE&state=paused', ['paused']],
    ['endpoint_id=PROFILE&kind=one_shot', []],
    ['endpoint_id=PROFILE&metadata[team]=a', ['labelled']],
    ['endpoint_id=PROFILE&metadata[team]=a&metadata[suite]=lists&q=profile', ['labelled']],
    ['q=list.example/profile', ['named', 'paused', 'labelled', 'profile']],
    ['q=LIST.example/both/hook', ['inline']],
    ['q=token%3Dabc&state=active', ['inline']],
    ['q=list.example&metadata[suite]=lists&state=canceled', ['ended']],
    ['q=list.example&endpoint_id=PROFILE&state=paused', ['paused']],
    ['q=/profile&endpoint_id=NONE', []],
  ])('?%s', async (query, expected) => {
    const filled = query.replace('%C3%BC', encodeURIComponent('%C3%BC'));
    const path = `/v1/schedules?${filled.replace('PROFILE', profile.id).replace('NONE', UNKNOWN.endpoint)}`;
    const wanted = expected.map((key) => ids[key]);
    expect(await idsOf(`${path}&limit=100`)).toEqual(wanted);
    expect(await walk(path, 1)).toEqual(wanted);
  });

  it('q follows the present URL of a profile', async () => {
    const other = await createdProfile(api, { ...PROFILE, url: 'https://list.example/earlier' });
    const { id } = await created(api, { ...ONE_SHOT, endpoint: undefined, endpoint_id: other.id });
    expect(await idsOf('/v1/schedules?q=/earlier')).toEqual([id]);
    await patchedProfile(api, other.id, { url: 'https://list.example/later' });
    expect(await idsOf('/v1/schedules?q=/earlier')).toEqual([]);
    expect(await idsOf('/v1/schedules?q=/later')).toEqual([id]);
  });

  it('name follows a PUT, and shows what GET shows', async () => {
    const shown = await named('list-put', { ...ONE_SHOT, delay: undefined, fire_at: '2031-01-01T00:00:00Z' });
    const { data } = await list<Schedule>(api, '/v1/schedules?name=list-put');
    expect(data).toEqual([shown]);
  });

  it('texts that are no name, no id and in no URL give an empty list', async () => {
    for (const text of HOSTILE) {
      expect(await list(api, `/v1/schedules?name=${text}`)).toMatchObject(EMPTY);
      expect(await list(api, `/v1/schedules?endpoint_id=${text}`)).toMatchObject(EMPTY);
    }
    for (const text of ['%00', '%0A', '%5C', '%F0%9F%99%88', "'", '%22', 'a%00b', '%ff']) {
      expect(await walk(`/v1/schedules?q=${text}`, 100)).toEqual([]);
    }
  });

  it('q has at most 512 characters: 400 invalid_request', async () => {
    expect(await list(api, `/v1/schedules?q=${'x'.repeat(512)}`)).toMatchObject(EMPTY);
    expectError(await api.get(`/v1/schedules?q=${'x'.repeat(513)}`), 400, 'invalid_request', 'q');
  });

  it('empty values are ignored', async () => {
    const all = await list(api, '/v1/schedules');
    expect(await list(api, '/v1/schedules?name=&endpoint_id=&q=')).toEqual(all);
  });
});

describe('GET /deliveries', () => {
  let profile: Endpoint;
  let original: Delivery;
  let waiting: Delivery;
  let replays: readonly string[] = [];

  beforeAll(async () => {
    profile = await createdProfile(api, PROFILE);
    const body = { ...ONE_SHOT, endpoint: undefined, endpoint_id: profile.id };
    original = await onlyDelivery(api, (await created(api, body)).id);
    waiting = await onlyDelivery(api, (await created(api, body)).id);
    await drive.fire(original.id, OK);
    const made = [
      await replayed(api, original.id),
      await replayed(api, original.id),
      await replayed(api, original.id),
    ];
    await drive.fire(made[1]?.id ?? '', OK);
    replays = made.map(({ id }) => id).toReversed();
  });

  it('by profile, with and without a status', async () => {
    const path = `/v1/deliveries?endpoint_id=${profile.id}`;
    const all = [...replays, waiting.id, original.id];
    expect(await idsOf(path)).toEqual(all);
    expect(await walk(path, 2)).toEqual(all);
    expect(await idsOf(`${path}&status=succeeded`)).toEqual([replays[1], original.id]);
    expect(await idsOf(`${path}&status=expired`)).toEqual([]);
    expect(await idsOf(`${path}&created_after=${waiting.created_at}`)).toEqual(
      (await list<Delivery>(api, path)).data
        .filter((one) => one.created_at > waiting.created_at)
        .map(({ id }) => id),
    );
  });

  it('by original, alone and with every other filter', async () => {
    const path = `/v1/deliveries?replay_of=${original.id}`;
    expect(await walk(path, 2)).toEqual(replays);
    expect(await walk(`${path}&status=succeeded`, 1)).toEqual([replays[1]]);
    expect(await walk(`${path}&status=expired`, 1)).toEqual([]);
    expect(await walk(`${path}&endpoint_id=${profile.id}`, 1)).toEqual(replays);
    expect(await walk(`${path}&endpoint_id=${UNKNOWN.endpoint}`, 1)).toEqual([]);
    expect(await walk(`${path}&schedule_id=${original.schedule_id}`, 1)).toEqual(replays);
    expect(await walk(`${path}&schedule_id=${waiting.schedule_id}`, 1)).toEqual([]);
    expect(await walk(`/v1/deliveries?replay_of=${waiting.id}`, 1)).toEqual([]);
  });

  it('by schedule and profile', async () => {
    const path = `/v1/deliveries?schedule_id=${original.schedule_id}`;
    expect(await walk(`${path}&endpoint_id=${profile.id}`, 2)).toEqual([...replays, original.id]);
    expect(await walk(`${path}&endpoint_id=${profile.id}&status=succeeded`, 1)).toEqual([
      replays[1],
      original.id,
    ]);
    expect(await walk(`${path}&endpoint_id=${UNKNOWN.endpoint}`, 1)).toEqual([]);
  });

  it('texts that are not an id give an empty list, and empty ones are ignored', async () => {
    for (const name of ['endpoint_id', 'replay_of']) {
      for (const text of HOSTILE)
        expect(await list(api, `/v1/deliveries?${name}=${text}`)).toMatchObject(EMPTY);
    }
    const all = await list(api, '/v1/deliveries');
    expect(await list(api, '/v1/deliveries?endpoint_id=&replay_of=')).toEqual(all);
  });
});

describe('GET /attempts', () => {
  let profile: Endpoint;
  let sent: readonly Delivery[] = [];

  beforeAll(async () => {
    profile = await createdProfile(api, { ...PROFILE, url: 'https://attempts.example/profile' });
    const onProfile = { ...ONE_SHOT, endpoint: undefined, endpoint_id: profile.id };
    const bodies = [onProfile, { ...onProfile, name: 'attempted' }, { ...ONE_SHOT }];
    const made: Delivery[] = [];
    for (const [i, body] of bodies.entries()) {
      const pending = await onlyDelivery(api, (await created(api, body)).id);
      await drive.fire(pending.id, [OK, SERVER_ERROR, REDIRECT][i] ?? OK);
      made.push(pending);
    }
    sent = made;
  });

  const attemptOf = async (i: number): Promise<RecentAttempt> => {
    const delivery = sent[i] as Delivery;
    const [attempt] = await attemptsOf(api, delivery.id);
    return {
      ...(attempt as Attempt),
      schedule_id: delivery.schedule_id ?? '',
      schedule_name: i === 1 ? 'attempted' : null,
      url: delivery.url,
      method: delivery.method,
      endpoint_id: delivery.endpoint_id,
    };
  };
  const inOrder = (attempts: readonly Attempt[]) =>
    attempts.toSorted(
      (one, other) =>
        (other.finished_at ?? '').localeCompare(one.finished_at ?? '') || (one.id < other.id ? 1 : -1),
    );

  it('shows what has ended with its destination, last ended first', async () => {
    const { data } = await list<RecentAttempt>(api, '/v1/attempts?limit=100');
    expect(data).toEqual(inOrder(data));
    for (const i of [0, 1, 2]) expect(data).toContainEqual(await attemptOf(i));
  });

  it('by outcome and by profile', async () => {
    const [ok, failed, refused] = await Promise.all([attemptOf(0), attemptOf(1), attemptOf(2)]);
    const path = `/v1/attempts?endpoint_id=${profile.id}`;
    const of = async (query: string) => (await list<RecentAttempt>(api, `${path}${query}`)).data;
    expect(await of('')).toEqual(inOrder([ok, failed]));
    expect(await of('&outcome=success')).toEqual([ok]);
    expect(await of('&outcome=retryable')).toEqual([failed]);
    expect(await of('&outcome=terminal')).toEqual([]);
    const terminal = (await list<RecentAttempt>(api, '/v1/attempts?outcome=terminal&limit=100')).data;
    expect(terminal).toContainEqual(refused);
    expect(terminal.filter(({ outcome }) => outcome !== 'terminal')).toEqual([]);
  });

  it.each([1, 2, 100])('in pages of %i, while attempts end: none is skipped or repeated', async (limit) => {
    const before = await idsOf('/v1/attempts?limit=100');
    const seen = await walk('/v1/attempts?outcome=', limit, async () => {
      await drive.fire((await onlyDelivery(api, (await created(api, ONE_SHOT)).id)).id, OK);
    });
    expect(seen.filter((id) => before.includes(id))).toEqual(before);
  });

  it('does not show an attempt in flight, nor those of the other mode', async () => {
    const pending = await onlyDelivery(api, (await created(api, ONE_SHOT)).id);
    await drive.claim(pending.id);
    const { data } = await list<RecentAttempt>(api, '/v1/attempts?limit=100');
    expect(data.filter(({ delivery_id }) => delivery_id === pending.id)).toEqual([]);
  });

  it.each(['failed', 'SUCCESS', '%00', LONG])('outcome=%s: 400 invalid_request', async (outcome) => {
    expectError(await api.get(`/v1/attempts?outcome=${outcome}`), 400, 'invalid_request', 'outcome');
  });

  it('a text that is not an id gives an empty list, and any limit is taken', async () => {
    for (const text of HOSTILE)
      expect(await list(api, `/v1/attempts?endpoint_id=${text}`)).toMatchObject(EMPTY);
    for (const limit of ['0', '-1', '1e9', '99999999999999999999', 'x', '']) {
      expectStatus(await api.get(`/v1/attempts?limit=${limit}`), 200);
    }
  });

  it('a cursor belongs to this list: any other text is 400 invalid_cursor', async () => {
    const { next_cursor: own } = await list(api, '/v1/attempts?limit=1');
    const { next_cursor: foreign } = await list(api, '/v1/deliveries?limit=1');
    expect(own).not.toBeNull();
    const changed = `${own?.slice(0, -1)}${own?.endsWith('A') ? 'B' : 'A'}`;
    for (const cursor of [foreign, changed, 'x', LONG, '%00', sent[0]?.id, '0/att_x']) {
      expectError(await api.get(`/v1/attempts?cursor=${cursor}`), 400, 'invalid_cursor', 'cursor');
    }
    expectError(await api.get(`/v1/deliveries?cursor=${own}`), 400, 'invalid_cursor', 'cursor');
  });
});

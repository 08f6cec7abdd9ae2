/** Lists are read in pages, newest first, while rows are added and moved. */
import { beforeAll, describe, expect, it } from 'vitest';
import { NODES } from '#test/process/store-in-use.ts';
import { OK } from './drive.ts';
import {
  created,
  createdProfile,
  deliveriesOf,
  expectError,
  list,
  onlyDelivery,
  ordered,
  patched,
  patchedProfile,
  replayed,
  rescheduled,
} from './expectations.ts';
import { useSched } from './harness.ts';
import {
  type Delivery,
  type Endpoint,
  type List,
  ONE_SHOT,
  PROFILE,
  RECURRING,
  type Schedule,
} from './resources.ts';

const { api, drive } = useSched();

const COUNT = 23;
const FIRST_PAGE = '/v1/schedules?limit=2';

/** Reads a list to its end, and calls `between` after each page. */
async function walk<T extends { readonly id: string }>(
  path: string,
  limit: number,
  between: () => Promise<unknown> = async () => {},
): Promise<readonly string[]> {
  const seen: string[] = [];
  const join = path.includes('?') ? '&' : '?';
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: List<T> = await list<T>(api, `${path}${join}limit=${limit}&cursor=${cursor}`);
    expect(page.has_more).toBe(page.next_cursor !== null);
    if (page.has_more) expect(page.data).toHaveLength(limit);
    seen.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
    if (cursor !== null) await between();
  }
  return seen;
}

/**
 * Creates objects one after another, and returns their ids in the order of lists. That is the order of `created_at` and
 * `id`, hence of the ids. One node creates in this order; the clocks of several differ by a few milliseconds.
 */
async function series(
  count: number,
  make: (i: number) => Promise<{ readonly id: string }>,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.unshift((await make(i)).id);
  const newestFirst = ids.toSorted().toReversed();
  if (NODES === 1) expect(ids).toEqual(newestFirst);
  return newestFirst;
}

describe('schedules, with changes between the pages', () => {
  let newestFirst: readonly string[] = [];
  beforeAll(async () => {
    newestFirst = await series(COUNT, (i) => created(api, { ...(i % 2 === 0 ? ONE_SHOT : RECURRING) }));
  });

  const pick = (i: number) => newestFirst[i % COUNT] ?? '';
  const between: readonly (readonly [string, (i: number) => Promise<unknown>])[] = [
    ['nothing', async () => {}],
    ['schedules are added', () => created(api, ONE_SHOT)],
    [
      'schedules are moved by reschedule, earlier and later',
      (i) => rescheduled(api, pick(i * 5), { delay: `${1 + (i % 9)}h` }),
    ],
    ['schedules are patched', (i) => patched(api, pick(i * 7), { metadata: { i: `${i}` } })],
    ['schedules are paused', (i) => ordered(api, pick(i * 3), 'pause')],
    ['schedules are resumed', (i) => ordered(api, pick(i * 3), 'resume')],
    ['schedules are canceled', (i) => ordered(api, pick(i * 11), 'cancel')],
  ];
  const walks = between.flatMap(([what, act]) => [1, 7, 100].map((limit) => [limit, what, act] as const));

  it.each(walks)('limit %i, while %s: no item is skipped or repeated', async (limit, _what, act) => {
    let i = 0;
    const seen = await walk<Schedule>('/v1/schedules', limit, () => act(i++));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => newestFirst.includes(id))).toEqual(newestFirst);
  });

  it('rows that are added between the pages do not appear after the cursor', async () => {
    const added: string[] = [];
    const seen = await walk<Schedule>('/v1/schedules', 7, async () =>
      added.push((await created(api, ONE_SHOT)).id),
    );
    expect(added.length).toBeGreaterThan(2);
    expect(seen.filter((id) => added.includes(id))).toEqual([]);
  });
});

describe('the other lists', () => {
  it.each([1, 7, 100])('endpoints, limit %i, while they are added and edited', async (limit) => {
    const ids = await series(9, () => createdProfile(api, PROFILE));
    let i = 0;
    const seen = await walk<Endpoint>('/v1/endpoints', limit, async () => {
      await createdProfile(api, PROFILE);
      await patchedProfile(api, ids[i++ % ids.length] ?? '', { timeout: '9s' });
    });
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => ids.includes(id))).toEqual(ids);
  });

  it.each([1, 7, 100])('deliveries, limit %i, while they are claimed, moved and replayed', async (limit) => {
    const made: Delivery[] = [];
    while (made.length < 9) made.unshift(await onlyDelivery(api, (await created(api, ONE_SHOT)).id));
    const [finished, ...others] = made.map(({ id }) => id);
    const schedules = made.slice(1).map(({ schedule_id }) => schedule_id ?? '');
    await drive.fire(finished ?? '', OK);
    let pages = 0;
    const seen = await walk<Delivery>('/v1/deliveries', limit, async () => {
      const i = pages++;
      await rescheduled(api, schedules[i % schedules.length] ?? '', { delay: `${1 + (i % 9)}h` });
      if (i === 0) await drive.claim(others[3] ?? '');
      if (i % 4 === 0) await replayed(api, finished ?? '');
    });
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => id === finished || others.includes(id))).toEqual([finished, ...others]);
  });

  it.each([1, 7, 100])(
    'the deliveries of a schedule, limit %i, while occurrences are added',
    async (limit) => {
      const { id } = await created(api, RECURRING);
      const claimNext = async () => {
        const [next] = await deliveriesOf(api, id);
        await drive.claim(next?.id ?? '');
      };
      for (let i = 0; i < 8; i++) await claimNext();
      const before = (await deliveriesOf(api, id)).map((one) => one.id);
      const seen = await walk<Delivery>(`/v1/schedules/${id}/deliveries`, limit, claimNext);
      expect(seen).toEqual(before);
    },
  );

  it('a full last page has no cursor and no more items', async () => {
    const { id } = await created(api, RECURRING);
    const first = await onlyDelivery(api, id);
    await drive.claim(first.id);
    const own = await list(api, `/v1/schedules/${id}/deliveries?limit=2`);
    const tried = await list(api, `/v1/deliveries/${first.id}/attempts?limit=1`);
    expect([own.data.length, tried.data.length]).toEqual([2, 1]);
    for (const page of [own, tried]) expect(page).toMatchObject({ has_more: false, next_cursor: null });
  });

  it('a filtered list works the same way', async () => {
    const body = { ...ONE_SHOT, metadata: { walk: 'filtered' } };
    const ids = await series(9, async () => {
      await created(api, ONE_SHOT);
      return created(api, body);
    });
    const path = '/v1/schedules?metadata[walk]=filtered&state=active&kind=one_shot';
    expect(await walk<Schedule>(path, 2, () => created(api, body))).toEqual(ids);
  });
});

describe('a page of very large objects', () => {
  /** Three of them are larger than a page may be. */
  const large = { walk: 'large', again: 'large', note: 'ü'.repeat(400_000) };
  const SHOWN = 3;
  const LARGE = 4;
  let schedules: readonly string[] = [];
  let profiles: readonly string[] = [];
  beforeAll(async () => {
    schedules = await series(LARGE, () => created(api, { ...ONE_SHOT, metadata: large }));
    profiles = await series(LARGE, () => createdProfile(api, { ...PROFILE, metadata: large }));
  });

  it.each([
    ['schedules', () => schedules, '/v1/schedules?'],
    ['schedules of a state and kind', () => schedules, '/v1/schedules?state=active&kind=one_shot&'],
    ['schedules with a label', () => schedules, '/v1/schedules?metadata[walk]=large&'],
    [
      'schedules with two labels',
      () => schedules,
      '/v1/schedules?metadata[walk]=large&metadata[again]=large&',
    ],
    ['endpoints', () => profiles, '/v1/endpoints?'],
  ])('%s: it ends early and says so, and the next page continues after it', async (_what, ids, path) => {
    const first = await list<Schedule>(api, `${path}limit=100`);
    expect(first.data.map(({ id }) => id)).toEqual(ids().slice(0, SHOWN));
    expect(first.data.map(({ metadata }) => metadata)).toEqual([large, large, large]);
    expect(first.has_more).toBe(true);
    const second = await list<Schedule>(api, `${path}limit=100&cursor=${first.next_cursor}`);
    expect(second.data[0]?.id).toBe(ids()[SHOWN]);
  });

  it('a large last page is marked as the last', async () => {
    const path = '/v1/schedules?metadata[walk]=large&limit=3';
    const first = await list(api, path);
    const last = await list(api, `${path}&cursor=${first.next_cursor}`);
    expect(last).toMatchObject({ data: { length: 1 }, has_more: false, next_cursor: null });
  });

  it('small schedules of a large endpoint profile fill their page', async () => {
    const body = { delay: '1h', endpoint_id: profiles[0], metadata: { walk: 'small' } };
    const ids = await series(9, () => created(api, body));
    expect(await walk<Schedule>('/v1/schedules?metadata[walk]=small', 5)).toEqual(ids);
  });
});

describe('limit', () => {
  beforeAll(async () => {
    await Promise.all(Array.from({ length: 101 }, () => createdProfile(api, PROFILE)));
  });

  it.each([
    ['', 20],
    ['limit=', 20],
    ['limit=1', 1],
    ['limit=20', 20],
    ['limit=99', 99],
    ['limit=100', 100],
    ['limit=101', 100],
    ['limit=999999999999999999999', 100],
    ['limit=0', 20],
    ['limit=-1', 20],
    ['limit=1.5', 20],
    ['limit=1e1', 20],
    ['limit=0x10', 20],
    ['limit=ten', 20],
    ['limit=NaN', 20],
    ['limit=%00', 20],
  ])('?%s shows %i', async (query, shown) => {
    expect((await list(api, `/v1/endpoints?${query}`)).data).toHaveLength(shown);
  });
});

describe('400 invalid_cursor', () => {
  beforeAll(async () => {
    for (let i = 0; i < 3; i++) await created(api, ONE_SHOT);
  });

  it.each([
    ['a word', 'nonsense'],
    ['an id', 'sch_01jcq3v8k4zqgw5m2r7n9x0abc'],
    ['base64 of something', Buffer.from('{"id":1}').toString('base64url')],
    ['a malformed escape', '%zz'],
    ['NUL', '%00'],
    ['a very long one', 'x'.repeat(5_000)],
    ['an SQL string', "'%20OR%20'1'='1"],
  ])('%s', async (_what, cursor) => {
    for (const path of ['schedules', 'endpoints', 'deliveries']) {
      expectError(await api.get(`/v1/${path}?cursor=${cursor}`), 400, 'invalid_cursor', 'cursor');
    }
  });

  it('a valid cursor that was shortened, lengthened or changed at its beginning', async () => {
    const cursor = (await list(api, FIRST_PAGE)).next_cursor ?? '';
    const begun = `${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`;
    for (const spoilt of [cursor.slice(0, -1), `${cursor}A`, begun]) {
      expectError(await api.get(`/v1/schedules?cursor=${spoilt}`), 400, 'invalid_cursor', 'cursor');
    }
  });

  it('a cursor of another list', async () => {
    const { id } = await created(api, RECURRING);
    const other = await created(api, RECURRING);
    const first = await onlyDelivery(api, id);
    await drive.claim(first.id);
    await drive.claim((await onlyDelivery(api, other.id)).id);
    for (let i = 0; i < 2; i++) await createdProfile(api, PROFILE);

    const paths = [
      '/v1/schedules',
      '/v1/endpoints',
      '/v1/deliveries',
      `/v1/schedules/${id}/deliveries`,
      `/v1/schedules/${other.id}/deliveries`,
      `/v1/deliveries/${first.id}/attempts`,
    ];
    for (const from of paths.slice(0, -1)) {
      const cursor = (await list(api, `${from}?limit=1`)).next_cursor;
      expect(cursor).not.toBeNull();
      for (const to of paths.filter((path) => path !== from)) {
        expectError(await api.get(`${to}?cursor=${cursor}`), 400, 'invalid_cursor', 'cursor');
      }
    }
  });

  it('an empty cursor is ignored', async () => {
    expect(await list(api, `${FIRST_PAGE}&cursor=`)).toEqual(await list(api, FIRST_PAGE));
  });
});

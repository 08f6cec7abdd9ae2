/** Lists request each page only when it is needed. */
import { beforeAll, expect, it } from 'vitest';
import type { List, Schedule } from '#sdk/index.ts';
import { OK } from '#test/e2e/drive.ts';
import type { Sched as Service } from '#test/e2e/harness.ts';
import { ONE_SHOT, PROFILE } from '#test/e2e/resources.ts';
import { clientAt, recordingClient, uniqueMetadata, uniqueName } from './client-calls.ts';

const COUNT = 7;

export function lists({ url, drive }: Service): void {
  /** Metadata with characters that a query must escape. */
  const metadata = { ...uniqueMetadata(), 'a key[of] ours&': 'x=y &?#/ é €' };
  const query = { metadata, limit: 2 };
  let newestFirst: readonly string[] = [];

  beforeAll(async () => {
    const sched = clientAt(url());
    const made: string[] = [];
    for (let i = 0; i < COUNT; i++)
      made.unshift((await sched.schedules.create({ ...ONE_SHOT, metadata })).id);
    newestFirst = made;
  });

  const ids = (items: readonly Schedule[]) => items.map(({ id }) => id);

  it('iterating yields every item once, with one request for each page', async () => {
    const { sched, seen } = recordingClient(url());
    const found: Schedule[] = [];
    for await (const schedule of sched.schedules.list(query)) found.push(schedule);
    expect(ids(found)).toEqual(newestFirst);
    expect(seen).toHaveLength(Math.ceil(COUNT / 2));
  });

  it('nothing is requested before the first read, and no page after the last one read', async () => {
    const { sched, seen } = recordingClient(url());
    const list = sched.schedules.list(query);
    expect(seen).toHaveLength(0);
    const found: Schedule[] = [];
    for await (const schedule of list) {
      found.push(schedule);
      if (found.length === 4) break;
    }
    expect(ids(found)).toEqual(newestFirst.slice(0, 4));
    expect(seen).toHaveLength(2);
  });

  it('a second iteration starts from the beginning', async () => {
    const list = clientAt(url()).schedules.list(query);
    expect(ids(await list.toArray(3))).toEqual(newestFirst.slice(0, 3));
    expect(ids(await list.toArray(3))).toEqual(newestFirst.slice(0, 3));
  });

  it.each([
    [0, 0],
    [1, 1],
    [2, 1],
    [3, 2],
    [COUNT, 4],
    [100, 4],
  ])('toArray(%i) takes %i requests', async (max, requests) => {
    const { sched, seen } = recordingClient(url());
    expect(ids(await sched.schedules.list(query).toArray(max))).toEqual(newestFirst.slice(0, max));
    expect(seen).toHaveLength(requests);
  });

  it('pages() yields pages as the service returns them', async () => {
    const pages: List<Schedule>[] = [];
    for await (const page of clientAt(url()).schedules.list(query).pages()) pages.push(page);
    expect(pages.map(({ data }) => data.length)).toEqual([2, 2, 2, 1]);
    expect(pages.map(({ has_more }) => has_more)).toEqual([true, true, true, false]);
    expect(pages.at(-1)?.next_cursor).toBeNull();
  });

  it('a cursor continues where another iteration stopped', async () => {
    const { schedules } = clientAt(url());
    const first = await schedules.list(query).page();
    expect(first).toMatchObject({ object: 'list', has_more: true });
    const rest = schedules.list({ ...query, cursor: first.next_cursor ?? '' });
    expect(ids([...first.data, ...(await rest.toArray(100))])).toEqual(newestFirst);
  });

  it('schedules are found by name, profile and a part of the URL', async () => {
    const { schedules, endpoints } = clientAt(url());
    const name = uniqueName();
    const profile = await endpoints.create({ ...PROFILE, url: `https://example.com/${name}/hook` });
    const { id } = await schedules.create({ name, endpoint_id: profile.id, delay: '1h' });
    for (const filter of [{ name }, { endpoint_id: profile.id }, { q: `${name}/ho` }])
      expect(ids(await schedules.list(filter).toArray(10))).toEqual([id]);
    expect(ids(await schedules.list({ name, state: 'paused' }).toArray(10))).toEqual([]);
  });

  it('deliveries and attempts are found by profile, and replays by their original', async () => {
    const { schedules, endpoints, deliveries, attempts } = clientAt(url());
    const { id: endpoint_id } = await endpoints.create(PROFILE);
    const { id } = await schedules.create({ endpoint_id, delay: '1h' });
    const [pending] = await deliveries.list({ endpoint_id }).toArray(10);
    expect(pending?.schedule_id).toBe(id);
    const original = pending?.id ?? '';
    await drive.fire(original, OK);
    const replay = await deliveries.replay(original);
    expect(await deliveries.list({ replay_of: original }).toArray(10)).toEqual([replay]);
    const found = [];
    for await (const attempt of attempts.list({ endpoint_id, limit: 1 })) found.push(attempt);
    expect(found).toMatchObject([{ delivery_id: original, schedule_id: id, url: PROFILE.url, endpoint_id }]);
  });

  it('a filter without matches yields an empty list', async () => {
    const { schedules } = clientAt(url());
    const other = { metadata: { ...metadata, sdk: 'other' } };
    expect(await schedules.list(other).toArray(10)).toEqual([]);
  });
}

import { describe, expect, test } from 'vitest';
import { useDataHarness } from '#test/control/data-harness.ts';
import { parseSearch } from './search.ts';

const open = useDataHarness();

describe('the search text', () => {
  test.each([
    ['sch_01jcq3v8k4zqgw5m2r7n9x0abc', { kind: 'id', id: 'sch_01jcq3v8k4zqgw5m2r7n9x0abc' }],
    ['dlv_01jcq3v8k4zqgw5m2r7n9x0abc', { kind: 'id', id: 'dlv_01jcq3v8k4zqgw5m2r7n9x0abc' }],
    ['', { kind: 'search', labels: [], destination: null }],
    ['team=billing', { kind: 'search', labels: [['team', 'billing']], destination: null }],
    [
      'team=billing app.io/name="night run" x=a=b',
      {
        kind: 'search',
        labels: [
          ['team', 'billing'],
          ['app.io/name', 'night run'],
          ['x', 'a=b'],
        ],
        destination: null,
      },
    ],
    ['shop.example', { kind: 'search', labels: [], destination: 'shop.example' }],
    ['https://shop.example/?a=b', { kind: 'search', labels: [], destination: 'https://shop.example/?a=b' }],
    ['/hook?a=b', { kind: 'search', labels: [], destination: '/hook?a=b' }],
    ['team=billing shop', { kind: 'search', labels: [['team', 'billing']], destination: 'shop' }],
    [
      'https://shop.example/?a=b team=billing',
      { kind: 'search', labels: [['team', 'billing']], destination: 'https://shop.example/?a=b' },
    ],
    ['sch_short', { kind: 'search', labels: [], destination: 'sch_short' }],
  ])('%j', (text, search) => {
    expect(parseSearch(text)).toEqual(search);
  });
});

describe('schedules', () => {
  test('are found by the id of their endpoint profile', async () => {
    const harness = await open();
    const profile = await harness.post('endpoints', { url: 'https://profile.example/hook', method: 'POST' });
    const made = await harness.post('schedules', { endpoint_id: profile.body.id, delay: '5m' });
    const { body } = await harness.get(`search/schedules?q=${profile.body.id}`);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([made.body.id]);
  });

  test('are found by their id, the id of a delivery, labels and a part of the destination', async () => {
    const harness = await open();
    const create = async (host: string, team: string) => {
      const made = await harness.post('schedules', {
        endpoint: `https://${host}/hook`,
        delay: '5m',
        metadata: { team },
      });
      return made.body.id as string;
    };
    const shop = await create('shop.example', 'billing');
    const other = await create('other.example', 'ops');
    const find = async (q: string) => {
      const { body } = await harness.get(
        `search/schedules?${new URLSearchParams({ q }).toString()}`,
        'viewer',
      );
      return body.data.map(({ id }: { id: string }) => id);
    };
    const { body } = await harness.get('deliveries');
    const delivery = body.data.find((one: { schedule_id: string }) => one.schedule_id === shop);
    expect(await find(shop)).toEqual([shop]);
    expect(await find(delivery.id)).toEqual([shop]);
    expect(await find('sch_00000000000000000000000000')).toEqual([]);
    expect(await find('team=ops')).toEqual([other]);
    expect(await find('SHOP.exam')).toEqual([shop]);
    expect(await find('shop.exam team=billing')).toEqual([shop]);
    expect(await find('shop.exam team=ops')).toEqual([]);
    expect(await find('%')).toEqual([]);
    expect(await find('')).toEqual([other, shop]);
    expect((await harness.get('search/schedules?state=paused')).body.data).toEqual([]);
    expect((await harness.get('search/schedules?kind=one_shot')).body.data).toHaveLength(2);
  });

  test('are found by a part of their name, also by a viewer', async () => {
    const harness = await open();
    const made = await harness.post('schedules', {
      name: 'nightly-report',
      endpoint: 'https://shop.example/hook',
      delay: '5m',
    });
    await harness.post('schedules', { endpoint: 'https://shop.example/hook', delay: '5m' });
    for (const q of ['nightly-report', 'Report', 'nightly']) {
      const { body } = await harness.get(`search/schedules?q=${q}`, 'viewer');
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual([made.body.id]);
    }
    // The list of /v1 has filters of their own for both.
    expect((await harness.get('schedules?q=nightly')).body.data).toEqual([]);
  });

  test('come in pages, and a cursor is valid only for the same search', async () => {
    const harness = await open();
    for (let made = 0; made < 3; made++) {
      await harness.post('schedules', { endpoint: 'https://shop.example/', delay: '5m' });
    }
    const first = await harness.get('search/schedules?q=shop&limit=2');
    expect(first.body.data).toHaveLength(2);
    const cursor = encodeURIComponent(first.body.next_cursor);
    const second = await harness.get(`search/schedules?q=shop&limit=2&cursor=${cursor}`);
    expect(second.body.data).toHaveLength(1);
    expect(second.body.next_cursor).toBeNull();
    expect(await harness.get(`search/schedules?q=other&cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_cursor' } },
    });
  });

  test('are not searched with a text that is too long', async () => {
    const harness = await open();
    expect(await harness.get(`search/schedules?q=${'x'.repeat(513)}`)).toMatchObject({
      status: 400,
      body: { error: { param: 'q' } },
    });
  });
});

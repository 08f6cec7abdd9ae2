import { expect, test } from 'vitest';
import { CLOSED } from '#src/domain/breaker.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { instant } from '#src/domain/instant.ts';
import { HOUR_MS, NO_STATS } from '#src/domain/stats.ts';
import { type DataBench, useDataBench } from '#test/control/data-harness.ts';

const open = useDataBench();

async function count(bench: DataBench, endpoint: string, hoursAgo: number, fired: number) {
  const { store, clock } = bench.harness;
  const { partition } = bench.build;
  const at = instant(clock.now() - hoursAgo * HOUR_MS);
  const stats = { ...NO_STATS, fired, succeeded: fired };
  await store.insight.saveStats('a', [], [{ partition, endpoint: endpoint as EndpointKey, at, stats }]);
}

test('profiles come with their breaker and their last day, inline destinations after them', async () => {
  const bench = await open();
  const { store, clock } = bench.harness;
  const profile = await bench.post('endpoints', { url: 'https://profile.example/' });
  const { id } = profile.body;
  await count(bench, id, 1, 5);
  await count(bench, id, 23, 2);
  await count(bench, id, 30, 1_000);
  await count(bench, 'https://inline.example/a', 2, 3);
  await count(bench, 'https://old.example/', 40, 3);
  const openUntil = instant(clock.now() + 30_000);
  await store.saveGates([
    bench.build.gate('https://broken.example/' as EndpointKey, {
      gate: { breaker: { ...CLOSED, failures: 5, openUntil, windowMs: 30_000 }, budget: null, paces: {} },
    }),
  ]);
  const { body } = await bench.get('destinations', 'viewer');
  expect(body.next_cursor).toBeNull();
  expect(body.data[0]).toMatchObject({
    endpoint: id,
    profile: { object: 'endpoint', url: 'https://profile.example/' },
    url: 'https://profile.example/',
    breaker: { state: 'closed', failures: 0, open_until: null },
    last_24h: { fired: 7, succeeded: 7, retried: 0, dead_lettered: 0, expired: 0 },
  });
  const inline = body.data.slice(1);
  expect(inline.map(({ endpoint }: { endpoint: string }) => endpoint).sort()).toEqual([
    'https://broken.example/',
    'https://inline.example/a',
  ]);
  expect(inline.find(({ url }: { url: string }) => url.includes('broken'))).toMatchObject({
    profile: null,
    breaker: { state: 'open', failures: 5, open_until: '2026-11-15T08:00:30.000Z' },
    last_24h: { fired: 0 },
  });
});

test('profiles come a page at a time, inline destinations with the first only', async () => {
  const bench = await open();
  await count(bench, 'https://inline.example/', 1, 1);
  for (let made = 0; made < 51; made++) await bench.post('endpoints', { url: `https://${made}.example/` });
  const first = await bench.get('destinations');
  expect(first.body.data).toHaveLength(51);
  const second = await bench.get(`destinations?cursor=${encodeURIComponent(first.body.next_cursor)}`);
  expect(second.body.data.map(({ url }: { url: string }) => url)).toEqual(['https://0.example/']);
  expect(second.body.next_cursor).toBeNull();
});

test('a page of large profiles ends early, and the next goes on behind it', async () => {
  const bench = await open();
  const metadata = { note: 'x'.repeat(100_000) };
  for (let made = 0; made < 3; made++) {
    await bench.post('endpoints', { url: `https://${made}.example/`, metadata });
  }
  const urls: string[] = [];
  for (let page = await bench.get('destinations'); ; ) {
    expect(page.body.data).toHaveLength(1);
    urls.push(page.body.data[0].url);
    if (page.body.next_cursor === null) break;
    page = await bench.get(`destinations?cursor=${encodeURIComponent(page.body.next_cursor)}`);
  }
  expect(urls).toEqual(['https://2.example/', 'https://1.example/', 'https://0.example/']);
});

test('an order to close a breaker is kept for whoever holds the gate, and in the audit log', async () => {
  const bench = await open();
  const { store, clock } = bench.harness;
  const endpoint = 'https://broken.example/hook';
  expect(await bench.post('destinations/close-breaker', { endpoint })).toEqual({
    status: 200,
    body: { done: true },
  });
  const orders = await store.insight.listBreakerResets(100);
  expect(orders).toContainEqual({ partition: bench.build.partition, endpoint, at: clock.now() });
  expect(bench.audit).toMatchObject([{ action: 'endpoint.close_breaker', subject: endpoint }]);
  expect((await bench.post('destinations/close-breaker', { endpoint }, 'viewer')).status).toBe(403);
});

test.each([{}, { endpoint: 5 }, { endpoint: 'nonsense' }, { endpoint: 'https://a.example/?b' }])(
  '%j names no endpoint',
  async (body) => {
    const bench = await open();
    expect((await bench.post('destinations/close-breaker', body)).status).toBe(400);
  },
);

test('a profile of somebody else is none', async () => {
  const bench = await open();
  const profile = await bench.post('endpoints', { url: 'https://profile.example/' });
  const other = await open();
  expect((await other.post('destinations/close-breaker', { endpoint: profile.body.id })).status).toBe(404);
  expect((await other.get('destinations')).body.data).toEqual([]);
});

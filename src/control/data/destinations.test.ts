import { expect, test } from 'vitest';
import { CLOSED } from '#src/domain/breaker.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { instant } from '#src/domain/instant.ts';
import { HOUR_MS, NO_STATS } from '#src/domain/stats.ts';
import { type DataHarness, useDataHarness } from '#test/control/data-harness.ts';

const open = useDataHarness();

async function count(harness: DataHarness, endpoint: string, hoursAgo: number, fired: number) {
  const { store, clock } = harness.control;
  const { partition } = harness.build;
  const at = instant(clock.now() - hoursAgo * HOUR_MS);
  const stats = { ...NO_STATS, fired, succeeded: fired };
  await store.insight.saveStats('a', [], [{ partition, endpoint: endpoint as EndpointKey, at, stats }]);
}

test('endpoint profiles have their breaker and the counts of the last day, and inline destinations follow', async () => {
  const harness = await open();
  const { store, clock } = harness.control;
  const profile = await harness.post('endpoints', { url: 'https://profile.example/' });
  const { id } = profile.body;
  await count(harness, id, 1, 5);
  await count(harness, id, 23, 2);
  await count(harness, id, 30, 1_000);
  await count(harness, 'https://inline.example/a', 2, 3);
  await count(harness, 'https://old.example/', 40, 3);
  const openUntil = instant(clock.now() + 30_000);
  await store.saveGates([
    harness.build.gate('https://broken.example/' as EndpointKey, {
      gate: {
        breaker: { ...CLOSED, failures: 5, openUntil, windowMs: 30_000 },
        budget: null,
        rateLimiters: {},
      },
    }),
  ]);
  const { body } = await harness.get('destinations', 'viewer');
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

test('endpoint profiles come in pages, and inline destinations only with the first page', async () => {
  const harness = await open();
  await count(harness, 'https://inline.example/', 1, 1);
  for (let made = 0; made < 51; made++) await harness.post('endpoints', { url: `https://${made}.example/` });
  const first = await harness.get('destinations');
  expect(first.body.data).toHaveLength(51);
  const second = await harness.get(`destinations?cursor=${encodeURIComponent(first.body.next_cursor)}`);
  expect(second.body.data.map(({ url }: { url: string }) => url)).toEqual(['https://0.example/']);
  expect(second.body.next_cursor).toBeNull();
});

test('a page of large endpoint profiles ends early, and the next page continues after it', async () => {
  const harness = await open();
  const metadata = { note: 'x'.repeat(100_000) };
  for (let made = 0; made < 3; made++) {
    await harness.post('endpoints', { url: `https://${made}.example/`, metadata });
  }
  const urls: string[] = [];
  for (let page = await harness.get('destinations'); ; ) {
    expect(page.body.data).toHaveLength(1);
    urls.push(page.body.data[0].url);
    if (page.body.next_cursor === null) break;
    page = await harness.get(`destinations?cursor=${encodeURIComponent(page.body.next_cursor)}`);
  }
  expect(urls).toEqual(['https://2.example/', 'https://1.example/', 'https://0.example/']);
});

test('a request to close a breaker is stored for the owner of the gate, and is in the audit log', async () => {
  const harness = await open();
  const { store, clock } = harness.control;
  const endpoint = 'https://broken.example/hook';
  expect(await harness.post('destinations/close-breaker', { endpoint })).toEqual({
    status: 200,
    body: { done: true },
  });
  const orders = await store.insight.listBreakerResets(100);
  expect(orders).toContainEqual({ partition: harness.build.partition, endpoint, at: clock.now() });
  expect(harness.audit).toMatchObject([{ action: 'endpoint.close_breaker', subject: endpoint }]);
  expect((await harness.post('destinations/close-breaker', { endpoint }, 'viewer')).status).toBe(403);
});

test.each([{}, { endpoint: 5 }, { endpoint: 'nonsense' }, { endpoint: 'https://a.example/?b' }])(
  '%j is refused because it names no endpoint',
  async (body) => {
    const harness = await open();
    expect((await harness.post('destinations/close-breaker', body)).status).toBe(400);
  },
);

test('an endpoint profile of another project is not found', async () => {
  const harness = await open();
  const profile = await harness.post('endpoints', { url: 'https://profile.example/' });
  const other = await open();
  expect((await other.post('destinations/close-breaker', { endpoint: profile.body.id })).status).toBe(404);
  expect((await other.get('destinations')).body.data).toEqual([]);
});

import { expect, test } from 'vitest';
import { CLOSED } from '#src/domain/breaker.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { instant } from '#src/domain/instant.ts';
import { latenessClass, MINUTE_MS, NO_STATS, type Stats } from '#src/domain/stats.ts';
import { type DataHarness, useDataHarness } from '#test/control/data-harness.ts';

const open = useDataHarness();

/** Stats of `count` attempts, each this late. */
function fired(count: number, latenessMs: number): Stats {
  const lateness = NO_STATS.lateness.map((_, index) => (index === latenessClass(latenessMs) ? count : 0));
  return { ...NO_STATS, fired: count, succeeded: count, lateness };
}

async function save(
  harness: DataHarness,
  stats: readonly (readonly [minutesAgo: number, Stats])[],
  node = 'a',
) {
  const { store, clock } = harness.control;
  const { partition } = harness.build;
  const rows = stats.map(([minutesAgo, stats]) => ({
    partition,
    spanMs: MINUTE_MS,
    at: instant(clock.now() - minutesAgo * MINUTE_MS),
    stats,
  }));
  await store.insight.saveStats(node, rows as never, []);
}

test('an empty project differs from one where nothing happens right now', async () => {
  const harness = await open();
  const { body } = await harness.get('overview', 'viewer');
  expect(body).toMatchObject({ range: '1h', step_ms: MINUTE_MS, is_empty: true, breakers: [], nodes: null });
  expect(body.steps).toHaveLength(60);
  expect(body.due.counts).toHaveLength(60);
  expect(body.lateness).toMatchObject({ p50_ms: null, attempts: 0 });
  await harness.post('schedules', { endpoint: 'https://example.com/', delay: '5m' });
  expect((await harness.get('overview')).body.is_empty).toBe(false);
});

test('the nodes of a cluster are shown with their slots and versions', async () => {
  const harness = await open(true);
  const { store, clock } = harness.control;
  const leaseUntil = instant(clock.now() + 3_200);
  await store.renewLease({ node: 'node-1', leaseUntil, isStopping: false, version: '1.2.3' });
  const { slots } = await store.renewLease({
    node: 'node-2',
    leaseUntil,
    isStopping: true,
    version: '1.2.2',
  });
  await store.takeSlots('node-1', slots.slice(0, 200));
  const { body } = await harness.get('overview', 'viewer');
  const lease_until = '2026-11-15T08:00:03.200Z';
  expect(body.nodes).toEqual([
    { node: 'node-1', is_this: true, is_stopping: false, version: '1.2.3', lease_until, slots: 200 },
    { node: 'node-2', is_this: false, is_stopping: true, version: '1.2.2', lease_until, slots: 0 },
  ]);
  expect(body.free_slots).toBe(56);
});

test('deliveries and their lateness are shown by step, for all nodes together', async () => {
  const harness = await open();
  await save(harness, [
    [0, fired(2, 4)],
    [59, fired(90, 4)],
    [60, fired(1_000, 4)],
  ]);
  await save(harness, [[0, { ...fired(8, 250), retried: 3, deadLettered: 1 }]], 'b');
  const { body } = await harness.get('overview?range=1h');
  expect(body.total).toEqual({ fired: 100, succeeded: 100, retried: 3, dead_lettered: 1, expired: 0 });
  expect(body.steps[0]).toMatchObject({ at: '2026-11-15T07:01:00.000Z', fired: 90 });
  expect(body.steps.at(-1)).toMatchObject({ at: '2026-11-15T08:00:00.000Z', fired: 10, retried: 3 });
  expect(body.lateness).toMatchObject({ within_100_ms: 92, within_300_ms: 100, attempts: 100 });
  expect(body.lateness.p50_ms).toBeLessThanOrEqual(5);
  expect(body.lateness.p99_ms).toBeGreaterThan(200);
  expect(body.lateness.classes.at(-1)).toEqual({ up_to_ms: null, attempts: 0 });
  expect((await harness.get('overview?range=6h')).body.total.fired).toBe(1_100);
});

test('new counts appear in the next answer, although older ones are cached', async () => {
  const harness = await open();
  await save(harness, [
    [0, fired(1, 1)],
    [30, fired(5, 1)],
  ]);
  expect((await harness.get('overview')).body.total.fired).toBe(6);
  await save(harness, [[0, fired(4, 1)]]);
  expect((await harness.get('overview')).body.total.fired).toBe(9);
  harness.control.advance(2 * MINUTE_MS);
  await save(harness, [[0, fired(10, 1)]]);
  const { body } = await harness.get('overview');
  harness.control.advance(-2 * MINUTE_MS);
  expect(body.total.fired).toBe(19);
});

test.each([
  ['6h', 72, 5],
  ['24h', 96, 15],
  ['7d', 168, 60],
  ['30d', 180, 240],
])('%s has %i steps of %i minutes', async (range, steps, minutes) => {
  const harness = await open();
  const { body } = await harness.get(`overview?range=${range}`);
  expect(body.steps).toHaveLength(steps);
  expect(body.step_ms).toBe(minutes * MINUTE_MS);
});

test('due counts waiting deliveries and future runs of recurring schedules', async () => {
  const harness = await open();
  await harness.post('schedules', { endpoint: 'https://example.com/', delay: '150s' });
  await harness.post('schedules', { endpoint: 'https://example.com/', cron: '*/20 * * * *' });
  const { due } = (await harness.get('overview')).body;
  expect(due).toMatchObject({ from: '2026-11-15T08:00:00.000Z', step_ms: MINUTE_MS, is_complete: true });
  const busy = due.counts.flatMap((count: number, minute: number) => (count > 0 ? [[minute, count]] : []));
  expect(busy).toEqual([
    [2, 1],
    [20, 1],
    [40, 1],
  ]);
});

test('open breakers are listed, and closed ones are not', async () => {
  const harness = await open();
  const { store, clock } = harness.control;
  const profile = await harness.post('endpoints', { url: 'https://profile.example/' });
  const openUntil = instant(clock.now() + 30_000);
  const gate = (endpoint: string, breaker: typeof CLOSED) =>
    harness.build.gate(endpoint as EndpointKey, { gate: { breaker, budget: null, rateLimiters: {} } });
  await store.saveGates([
    gate('https://open.example/', { ...CLOSED, failures: 5, openUntil, windowMs: 30_000 }),
    gate(profile.body.id, { ...CLOSED, failures: 5, openUntil: clock.now(), windowMs: 60_000 }),
    gate('https://closed.example/', { ...CLOSED, failures: 1 }),
  ]);
  const { body } = await harness.get('overview');
  expect(body.breakers).toHaveLength(2);
  expect(body.breakers).toContainEqual({
    endpoint: 'https://open.example/',
    endpoint_id: null,
    name: null,
    url: 'https://open.example/',
    state: 'open',
    open_until: '2026-11-15T08:00:30.000Z',
    window_ms: 30_000,
  });
  expect(body.breakers).toContainEqual(
    expect.objectContaining({ url: 'https://profile.example/', state: 'half_open' }),
  );
});

test('a change of the time alone does not update live pages', async () => {
  const harness = await open();
  const get = () =>
    harness.authorizer.get(harness.caller('viewer'), `p/${harness.project.name}/test/overview?range=1h`);
  const first = await get();
  harness.control.advance(1_000);
  const second = await get();
  harness.control.advance(-1_000);
  expect(second.body).not.toBe(first.body);
  expect(second.comparedBody).toBe(first.comparedBody);
});

test('an unknown range is refused', async () => {
  const harness = await open();
  expect(await harness.get('overview?range=1y')).toMatchObject({
    status: 400,
    body: { error: { param: 'range' } },
  });
});

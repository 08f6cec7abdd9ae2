/** A person closes a breaker by hand. */
import { describe, expect, test } from 'vitest';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { BreakerPolicy, Profile } from '#src/domain/profile.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '#src/domain/retry.ts';
import { ClusterTestWorld } from '#test/cluster-world.ts';
import { BROKEN, EngineTestWorld, OK, PARTITION, requireDue } from '#test/engine-world.ts';
import { Engine } from './engine.ts';
import { GateOrders } from './gate-orders.ts';
import { Gates } from './gates.ts';
import { EVERYWHERE } from './territory.ts';

const POLICY: BreakerPolicy = { threshold: 1, baseOpen: '10m', maxOpen: '1h', probeTimeout: '5m' };
const ONE_ATTEMPT: RetryPolicy = { ...DEFAULT_RETRY_POLICY, maxAttempts: 1 };
const MINUTE_MS = 60_000;

async function started(world: EngineTestWorld, node = 'node-1'): Promise<Engine> {
  world.node = node;
  const engine = new Engine(world, { retentionMs: 0 });
  await engine.start();
  return engine;
}

async function order(world: EngineTestWorld, { id }: Profile): Promise<void> {
  const endpoint = id as string as EndpointKey;
  await world.insight.addGateOrder({ partition: PARTITION, endpoint, at: world.now });
}

/** Its breaker has just been opened, for ten minutes, by an attempt that failed. */
async function opened(world: EngineTestWorld, given: Partial<Profile> = {}) {
  const profile = await world.profile({ breakerPolicy: POLICY, retryPolicy: ONE_ATTEMPT, ...given });
  world.egress.respond = () => BROKEN;
  await world.schedule({ profile, inMs: 1_000 });
  const engine = await started(world);
  await world.time.advance(1_000);
  expect(world.metrics.gauges?.().breakers).toEqual({ open: 1, halfOpen: 0 });
  world.egress.respond = () => OK;
  return { profile, engine };
}

async function statuses(world: EngineTestWorld, ids: readonly DeliveryId[]): Promise<readonly string[]> {
  return Promise.all(ids.map(async (id) => (await world.delivery(id)).status));
}

test('within a second the breaker is closed, what it held back goes out, and the order is gone', async () => {
  await using world = await EngineTestWorld.open();
  const { profile } = await opened(world);
  const held = [
    await world.schedule({ profile, inMs: 1_000 }),
    await world.schedule({ profile, inMs: 2_000 }),
  ];
  await world.time.advance(3_000);
  expect(
    await statuses(
      world,
      held.map(({ pending }) => pending.id),
    ),
  ).toEqual(['scheduled', 'scheduled']);
  await order(world, profile);
  await world.time.advance(1_000);
  expect(
    await statuses(
      world,
      held.map(({ pending }) => pending.id),
    ),
  ).toEqual(['succeeded', 'succeeded']);
  expect(world.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 0 });
  expect(world.insight.orders).toEqual([]);
  const lines = world.log.lines.filter(({ message }) => message === 'closed a breaker by hand');
  expect(lines).toMatchObject([{ fields: { partition: PARTITION, endpoint: profile.id } }]);
});

test('a gate that is only in the store is closed there, and what it put off before a restart goes out', async () => {
  await using world = await EngineTestWorld.open();
  const { profile, engine } = await opened(world);
  const ids: DeliveryId[] = [];
  for (let each = 0; each < 70; each++) {
    ids.push((await world.schedule({ profile, inMs: 1_000 })).pending.id);
  }
  await world.time.advance(2_000);
  await engine.stop(0);
  await started(world, 'node-2');
  await order(world, profile);
  await world.time.advance(1_000);
  expect(new Set(await statuses(world, ids))).toEqual(new Set(['succeeded']));
  const { pending: next } = await world.schedule({ profile, inMs: 5_000 });
  expect((await world.disk.findWork([requireDue(next)]))[0]?.gate).toBeNull();
  expect(world.insight.orders).toEqual([]);
});

test('an order for an endpoint that has no gate is gone, and does nothing', async () => {
  await using world = await EngineTestWorld.open();
  const profile = await world.profile();
  await started(world);
  await order(world, profile);
  await world.time.advance(1_000);
  expect(world.insight.orders).toEqual([]);
  expect(world.faults.times('saveGates')).toBe(0);
});

describe('what is left alone', () => {
  test('what was meant for the very instant at which the window ends', async () => {
    await using world = await EngineTestWorld.open();
    const { profile } = await opened(world);
    const windowEnds = world.now + 10 * MINUTE_MS;
    const meant = await world.schedule({ profile, inMs: windowEnds - world.now });
    const held = await world.schedule({ profile, inMs: 1_000 });
    await world.time.advance(1_000);
    expect((await world.delivery(held.pending.id)).dueAt).toBe(windowEnds);
    await order(world, profile);
    await world.time.advance(1_000);
    expect(await statuses(world, [held.pending.id, meant.pending.id])).toEqual(['succeeded', 'scheduled']);
  });

  test('a retry whose backoff ends with the window', async () => {
    await using world = await EngineTestWorld.open();
    const retryPolicy = { ...DEFAULT_RETRY_POLICY, base: '5m', factor: 2 };
    const { profile } = await opened(world, { retryPolicy });
    const [own] = await world.disk.listDue(null, instant(world.now + 11 * MINUTE_MS), 10);
    expect(own?.dueAt).toBe(world.now + 10 * MINUTE_MS);
    await order(world, profile);
    await world.time.advance(1_000);
    expect(world.egress.sent).toHaveLength(1);
    expect(world.insight.orders).toEqual([]);
  });

  test('what goes elsewhere, and turns that are booked', async () => {
    await using world = await EngineTestWorld.open();
    const { profile } = await opened(world);
    const others = await world.profile({ breakerPolicy: POLICY, retryPolicy: ONE_ATTEMPT });
    world.egress.respond = () => BROKEN;
    await world.schedule({ profile: others, inMs: 1_000 });
    await world.time.advance(1_000);
    const { pending } = await world.schedule({ profile: others, inMs: 1_000 });
    await world.time.advance(1_000);
    await order(world, profile);
    await world.time.advance(2_000);
    expect((await world.delivery(pending.id)).status).toBe('scheduled');
    expect(world.metrics.gauges?.().breakers.open).toBe(1);
  });
});

describe('an attempt that went out before', () => {
  test('does not open it again: a probe that fails', async () => {
    await using world = await EngineTestWorld.open();
    const { profile } = await opened(world);
    await world.schedule({ profile, inMs: 10 * MINUTE_MS });
    world.egress.respond = () => null;
    await world.time.advance(10 * MINUTE_MS);
    expect(world.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 1 });
    await order(world, profile);
    await world.time.advance(1_000);
    expect(world.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 0 });
    world.egress.sent.at(-1)?.answer(BROKEN);
    await world.time.advance(1_000);
    expect(world.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 0 });
  });

  test('does not count either: one that left before the breaker opened', async () => {
    await using world = await EngineTestWorld.open();
    const profile = await world.profile({ breakerPolicy: POLICY, retryPolicy: ONE_ATTEMPT });
    world.egress.respond = () => null;
    for (let each = 0; each < 2; each++) await world.schedule({ profile, inMs: 1_000 });
    await started(world);
    await world.time.advance(1_000);
    world.egress.sent[0]?.answer(BROKEN);
    await world.time.settled();
    await order(world, profile);
    await world.time.advance(1_000);
    world.egress.sent[1]?.answer(BROKEN);
    await world.time.settled();
    expect(world.metrics.gauges?.().breakers.open).toBe(0);
  });

  test('but one that goes out after does', async () => {
    await using world = await EngineTestWorld.open();
    const { profile } = await opened(world);
    await order(world, profile);
    await world.time.advance(1_000);
    world.egress.respond = () => BROKEN;
    await world.schedule({ profile, inMs: 1_000 });
    await world.time.advance(2_000);
    expect(world.metrics.gauges?.().breakers.open).toBe(1);
  });
});

test('what waits for the verdict of a probe goes out as well', async () => {
  await using world = await EngineTestWorld.open();
  const { profile, engine } = await opened(world);
  await world.schedule({ profile, inMs: 10 * MINUTE_MS });
  world.egress.respond = () => null;
  await world.time.advance(10 * MINUTE_MS);
  const { pending } = await world.schedule({ profile, inMs: 1_000 });
  engine.due(requireDue(pending));
  await world.time.advance(1_000);
  expect((await world.delivery(pending.id)).dueAt).toBeGreaterThan(world.now + MINUTE_MS);
  await order(world, profile);
  await world.time.advance(1_000);
  expect(world.egress.sent.at(-1)?.request.headers).toContainEqual(['Sched-Delivery-Id', pending.id]);
});

test('what is booked at the gate stays booked', async () => {
  await using world = await EngineTestWorld.open();
  const { profile } = await opened(world);
  await order(world, profile);
  await world.time.advance(1_000);
  await world.schedule({ profile, rateLimit: { perSecond: 0.1 }, inMs: 1_000 });
  const second = await world.schedule({ profile, rateLimit: { perSecond: 0.1 }, inMs: 1_001 });
  await world.time.advance(3_000);
  const { dueAt } = await world.delivery(second.pending.id);
  await order(world, profile);
  await world.time.advance(1_000);
  expect(await world.delivery(second.pending.id)).toMatchObject({ booked: true, dueAt });
});

test('a store that fails is asked again, until the gate is saved', async () => {
  await using world = await EngineTestWorld.open();
  const { profile } = await opened(world);
  const { pending } = await world.schedule({ profile, inMs: 1_000 });
  await world.time.advance(1_000);
  await order(world, profile);
  world.faults.set('refuses', 'saveGates');
  await world.time.advance(2_000);
  expect(world.insight.orders).toHaveLength(1);
  expect((await world.delivery(pending.id)).status).toBe('succeeded');
  world.faults.clear();
  await world.time.advance(1_000);
  expect(world.insight.orders).toEqual([]);
  world.insight.isAway = true;
  await world.time.advance(1_000);
  expect(world.log.lines.at(-1)?.message).toBe('orders to close a breaker could not be carried out yet');
});

test('one that may be taken for dead leaves the order to whoever holds the endpoint', async () => {
  await using world = await EngineTestWorld.open();
  const profile = await world.profile();
  let isAlive = false;
  const territory = { ...EVERYWHERE, life: () => () => isAlive };
  const gates = new Gates(world, territory);
  const orders = new GateOrders(world, { territory, gates, bringForward: async () => {} });
  await order(world, profile);
  orders.start();
  await world.time.advance(2_000);
  expect(world.insight.orders).toHaveLength(1);
  isAlive = true;
  await world.time.advance(1_000);
  expect(world.insight.orders).toEqual([]);
  await orders.stop();
});

test('of several nodes the one that holds the endpoint does it', async () => {
  await using cluster = await ClusterTestWorld.open();
  const { world } = cluster;
  const nodes = await cluster.settled('a', 'b', 'c');
  const profile = await world.profile({ breakerPolicy: POLICY, retryPolicy: ONE_ATTEMPT });
  for (const { egress } of nodes) egress.respond = () => BROKEN;
  await world.schedule({ profile, inMs: 2_000 });
  await cluster.time.advance(2_000);
  for (const { egress } of nodes) egress.respond = () => OK;
  const { pending } = await world.schedule({ profile, inMs: 2_000 });
  await cluster.time.advance(2_000);
  expect((await world.delivery(pending.id)).status).toBe('scheduled');
  await order(world, profile);
  await cluster.time.advance(1_000);
  expect((await world.delivery(pending.id)).status).toBe('succeeded');
  const holder = await cluster.holderOf({
    partition: PARTITION,
    endpoint: profile.id as string as EndpointKey,
  });
  const closing = nodes.filter(({ log }) =>
    log.lines.some(({ message }) => message === 'closed a breaker by hand'),
  );
  expect(closing.map(({ node }) => node)).toEqual([holder.node]);
  expect(world.insight.orders).toEqual([]);
});

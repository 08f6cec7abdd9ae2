/** A person closes a breaker by hand. */
import { describe, expect, test } from 'vitest';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { BreakerPolicy, EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '#src/domain/retry.ts';
import { OWNS_EVERY_SLOT } from '#src/engine/cluster/slot-ownership.ts';
import { Engine } from '#src/engine/engine.ts';
import { ClusterHarness } from '#test/cluster-harness.ts';
import { BROKEN, EngineHarness, OK, PARTITION, requireDue } from '#test/engine-harness.ts';
import { BreakerResets } from './breaker-resets.ts';
import { Gates } from './gates.ts';

const POLICY: BreakerPolicy = { threshold: 1, baseOpen: '10m', maxOpen: '1h', probeTimeout: '5m' };
const ONE_ATTEMPT: RetryPolicy = { ...DEFAULT_RETRY_POLICY, maxAttempts: 1 };
const MINUTE_MS = 60_000;

async function started(harness: EngineHarness, node = 'node-1'): Promise<Engine> {
  harness.node = node;
  const engine = new Engine(harness, { retentionMs: 0 });
  await engine.start();
  return engine;
}

async function order(harness: EngineHarness, { id }: EndpointProfile): Promise<void> {
  const endpoint = id as string as EndpointKey;
  await harness.insight.addBreakerReset({ partition: PARTITION, endpoint, at: harness.now });
}

/** Its breaker has just been opened, for ten minutes, by an attempt that failed. */
async function opened(harness: EngineHarness, given: Partial<EndpointProfile> = {}) {
  const profile = await harness.profile({ breakerPolicy: POLICY, retryPolicy: ONE_ATTEMPT, ...given });
  harness.egress.respond = () => BROKEN;
  await harness.schedule({ profile, inMs: 1_000 });
  const engine = await started(harness);
  await harness.time.advance(1_000);
  expect(harness.metrics.gauges?.().breakers).toEqual({ open: 1, halfOpen: 0 });
  harness.egress.respond = () => OK;
  return { profile, engine };
}

async function statuses(harness: EngineHarness, ids: readonly DeliveryId[]): Promise<readonly string[]> {
  return Promise.all(ids.map(async (id) => (await harness.delivery(id)).status));
}

test('within a second the breaker is closed, what it deferred goes out, and the order is gone', async () => {
  await using harness = await EngineHarness.open();
  const { profile } = await opened(harness);
  const held = [
    await harness.schedule({ profile, inMs: 1_000 }),
    await harness.schedule({ profile, inMs: 2_000 }),
  ];
  await harness.time.advance(3_000);
  expect(
    await statuses(
      harness,
      held.map(({ pending }) => pending.id),
    ),
  ).toEqual(['scheduled', 'scheduled']);
  await order(harness, profile);
  await harness.time.advance(1_000);
  expect(
    await statuses(
      harness,
      held.map(({ pending }) => pending.id),
    ),
  ).toEqual(['succeeded', 'succeeded']);
  expect(harness.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 0 });
  expect(harness.insight.orders).toEqual([]);
  const lines = harness.log.lines.filter(({ message }) => message === 'a breaker was reset on request');
  expect(lines).toMatchObject([{ fields: { partition: PARTITION, endpoint: profile.id } }]);
});

test('a gate that is only in the store is closed there, and what it deferred before a restart goes out', async () => {
  await using harness = await EngineHarness.open();
  const { profile, engine } = await opened(harness);
  const ids: DeliveryId[] = [];
  for (let each = 0; each < 70; each++) {
    ids.push((await harness.schedule({ profile, inMs: 1_000 })).pending.id);
  }
  await harness.time.advance(2_000);
  await engine.stop(0);
  await started(harness, 'node-2');
  await order(harness, profile);
  await harness.time.advance(1_000);
  expect(new Set(await statuses(harness, ids))).toEqual(new Set(['succeeded']));
  const { pending: next } = await harness.schedule({ profile, inMs: 5_000 });
  expect((await harness.disk.loadDeliveries([requireDue(next)]))[0]?.gate).toBeNull();
  expect(harness.insight.orders).toEqual([]);
});

test('an order for an endpoint that has no gate is gone, and does nothing', async () => {
  await using harness = await EngineHarness.open();
  const profile = await harness.profile();
  await started(harness);
  await order(harness, profile);
  await harness.time.advance(1_000);
  expect(harness.insight.orders).toEqual([]);
  expect(harness.faults.times('saveGates')).toBe(0);
});

describe('what is left alone', () => {
  test('what was meant for the very instant at which the window ends', async () => {
    await using harness = await EngineHarness.open();
    const { profile } = await opened(harness);
    const windowEnds = harness.now + 10 * MINUTE_MS;
    const meant = await harness.schedule({ profile, inMs: windowEnds - harness.now });
    const held = await harness.schedule({ profile, inMs: 1_000 });
    await harness.time.advance(1_000);
    expect((await harness.delivery(held.pending.id)).dueAt).toBe(windowEnds);
    await order(harness, profile);
    await harness.time.advance(1_000);
    expect(await statuses(harness, [held.pending.id, meant.pending.id])).toEqual(['succeeded', 'scheduled']);
  });

  test('a retry whose backoff ends with the window', async () => {
    await using harness = await EngineHarness.open();
    const retryPolicy = { ...DEFAULT_RETRY_POLICY, base: '5m', factor: 2 };
    const { profile } = await opened(harness, { retryPolicy });
    const [own] = await harness.disk.listDue(null, instant(harness.now + 11 * MINUTE_MS), 10);
    expect(own?.dueAt).toBe(harness.now + 10 * MINUTE_MS);
    await order(harness, profile);
    await harness.time.advance(1_000);
    expect(harness.egress.sent).toHaveLength(1);
    expect(harness.insight.orders).toEqual([]);
  });

  test('what goes elsewhere, and turns that are reserved', async () => {
    await using harness = await EngineHarness.open();
    const { profile } = await opened(harness);
    const others = await harness.profile({ breakerPolicy: POLICY, retryPolicy: ONE_ATTEMPT });
    harness.egress.respond = () => BROKEN;
    await harness.schedule({ profile: others, inMs: 1_000 });
    await harness.time.advance(1_000);
    const { pending } = await harness.schedule({ profile: others, inMs: 1_000 });
    await harness.time.advance(1_000);
    await order(harness, profile);
    await harness.time.advance(2_000);
    expect((await harness.delivery(pending.id)).status).toBe('scheduled');
    expect(harness.metrics.gauges?.().breakers.open).toBe(1);
  });
});

describe('an attempt that went out before', () => {
  test('does not open it again: a probe that fails', async () => {
    await using harness = await EngineHarness.open();
    const { profile } = await opened(harness);
    await harness.schedule({ profile, inMs: 10 * MINUTE_MS });
    harness.egress.respond = () => null;
    await harness.time.advance(10 * MINUTE_MS);
    expect(harness.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 1 });
    await order(harness, profile);
    await harness.time.advance(1_000);
    expect(harness.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 0 });
    harness.egress.sent.at(-1)?.answer(BROKEN);
    await harness.time.advance(1_000);
    expect(harness.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 0 });
  });

  test('does not count either: one that left before the breaker opened', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ breakerPolicy: POLICY, retryPolicy: ONE_ATTEMPT });
    harness.egress.respond = () => null;
    for (let each = 0; each < 2; each++) await harness.schedule({ profile, inMs: 1_000 });
    await started(harness);
    await harness.time.advance(1_000);
    harness.egress.sent[0]?.answer(BROKEN);
    await harness.time.settled();
    await order(harness, profile);
    await harness.time.advance(1_000);
    harness.egress.sent[1]?.answer(BROKEN);
    await harness.time.settled();
    expect(harness.metrics.gauges?.().breakers.open).toBe(0);
  });

  test('but one that goes out after does', async () => {
    await using harness = await EngineHarness.open();
    const { profile } = await opened(harness);
    await order(harness, profile);
    await harness.time.advance(1_000);
    harness.egress.respond = () => BROKEN;
    await harness.schedule({ profile, inMs: 1_000 });
    await harness.time.advance(2_000);
    expect(harness.metrics.gauges?.().breakers.open).toBe(1);
  });
});

test('what waits for the verdict of a probe goes out as well', async () => {
  await using harness = await EngineHarness.open();
  const { profile, engine } = await opened(harness);
  await harness.schedule({ profile, inMs: 10 * MINUTE_MS });
  harness.egress.respond = () => null;
  await harness.time.advance(10 * MINUTE_MS);
  const { pending } = await harness.schedule({ profile, inMs: 1_000 });
  engine.due(requireDue(pending));
  await harness.time.advance(1_000);
  expect((await harness.delivery(pending.id)).dueAt).toBeGreaterThan(harness.now + MINUTE_MS);
  await order(harness, profile);
  await harness.time.advance(1_000);
  expect(harness.egress.sent.at(-1)?.request.headers).toContainEqual(['Sched-Delivery-Id', pending.id]);
});

test('what is reserved at the gate stays reserved', async () => {
  await using harness = await EngineHarness.open();
  const { profile } = await opened(harness);
  await order(harness, profile);
  await harness.time.advance(1_000);
  await harness.schedule({ profile, rateLimit: { perSecond: 0.1 }, inMs: 1_000 });
  const second = await harness.schedule({ profile, rateLimit: { perSecond: 0.1 }, inMs: 1_001 });
  await harness.time.advance(3_000);
  const { dueAt } = await harness.delivery(second.pending.id);
  await order(harness, profile);
  await harness.time.advance(1_000);
  expect(await harness.delivery(second.pending.id)).toMatchObject({ reserved: true, dueAt });
});

test('a store that fails is asked again, until the gate is saved', async () => {
  await using harness = await EngineHarness.open();
  const { profile } = await opened(harness);
  const { pending } = await harness.schedule({ profile, inMs: 1_000 });
  await harness.time.advance(1_000);
  await order(harness, profile);
  harness.faults.set('refuses', 'saveGates');
  await harness.time.advance(2_000);
  expect(harness.insight.orders).toHaveLength(1);
  expect((await harness.delivery(pending.id)).status).toBe('succeeded');
  harness.faults.clear();
  await harness.time.advance(1_000);
  expect(harness.insight.orders).toEqual([]);
  harness.insight.isAway = true;
  await harness.time.advance(1_000);
  expect(harness.log.lines.at(-1)?.message).toBe(
    'requested breaker resets could not be done: they are tried again',
  );
});

test('one that may be taken for dead leaves the order to whoever holds the endpoint', async () => {
  await using harness = await EngineHarness.open();
  const profile = await harness.profile();
  let isAlive = false;
  const ownership = { ...OWNS_EVERY_SLOT, watchLease: () => () => isAlive };
  const gates = new Gates(harness, ownership);
  const { store, insight, clock, timers, log } = harness;
  const queue = { due: () => {} };
  const orders = new BreakerResets({ store, insight, clock, timers, log, ownership, gates, queue });
  await order(harness, profile);
  orders.start();
  await harness.time.advance(2_000);
  expect(harness.insight.orders).toHaveLength(1);
  isAlive = true;
  await harness.time.advance(1_000);
  expect(harness.insight.orders).toEqual([]);
  await orders.stop();
});

test('of several nodes the one that holds the endpoint does it', async () => {
  await using cluster = await ClusterHarness.open();
  const { harness } = cluster;
  const nodes = await cluster.settled('a', 'b', 'c');
  const profile = await harness.profile({ breakerPolicy: POLICY, retryPolicy: ONE_ATTEMPT });
  for (const { egress } of nodes) egress.respond = () => BROKEN;
  await harness.schedule({ profile, inMs: 2_000 });
  await cluster.time.advance(2_000);
  for (const { egress } of nodes) egress.respond = () => OK;
  const { pending } = await harness.schedule({ profile, inMs: 2_000 });
  await cluster.time.advance(2_000);
  expect((await harness.delivery(pending.id)).status).toBe('scheduled');
  await order(harness, profile);
  await cluster.time.advance(1_000);
  expect((await harness.delivery(pending.id)).status).toBe('succeeded');
  const holder = await cluster.ownerNodeOf({
    partition: PARTITION,
    endpoint: profile.id as string as EndpointKey,
  });
  const closing = nodes.filter(({ log }) =>
    log.lines.some(({ message }) => message === 'a breaker was reset on request'),
  );
  expect(closing.map(({ node }) => node)).toEqual([holder.node]);
  expect(harness.insight.orders).toEqual([]);
});

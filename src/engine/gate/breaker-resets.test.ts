/** A person requests the reset of a breaker. */
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

async function requestReset(harness: EngineHarness, { id }: EndpointProfile): Promise<void> {
  const endpoint = id as string as EndpointKey;
  await harness.insight.addBreakerReset({ partition: PARTITION, endpoint, at: harness.now });
}

/** Opens the breaker of a profile for ten minutes, by an attempt that fails. */
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

test('within a second the breaker is closed, its deferred deliveries are sent, and the request is removed', async () => {
  await using harness = await EngineHarness.open();
  const { profile } = await opened(harness);
  const deferred = [
    await harness.schedule({ profile, inMs: 1_000 }),
    await harness.schedule({ profile, inMs: 2_000 }),
  ];
  await harness.time.advance(3_000);
  expect(
    await statuses(
      harness,
      deferred.map(({ pending }) => pending.id),
    ),
  ).toEqual(['scheduled', 'scheduled']);
  await requestReset(harness, profile);
  await harness.time.advance(1_000);
  expect(
    await statuses(
      harness,
      deferred.map(({ pending }) => pending.id),
    ),
  ).toEqual(['succeeded', 'succeeded']);
  expect(harness.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 0 });
  expect(harness.insight.breakerResets).toEqual([]);
  const lines = harness.log.lines.filter(({ message }) => message === 'a breaker was reset on request');
  expect(lines).toMatchObject([{ fields: { partition: PARTITION, endpoint: profile.id } }]);
});

test('a gate that is only in the store is reset there, and its deliveries from before a restart are sent', async () => {
  await using harness = await EngineHarness.open();
  const { profile, engine } = await opened(harness);
  const ids: DeliveryId[] = [];
  for (let each = 0; each < 70; each++) {
    ids.push((await harness.schedule({ profile, inMs: 1_000 })).pending.id);
  }
  await harness.time.advance(2_000);
  await engine.stop(0);
  await started(harness, 'node-2');
  await requestReset(harness, profile);
  await harness.time.advance(1_000);
  expect(new Set(await statuses(harness, ids))).toEqual(new Set(['succeeded']));
  const { pending: next } = await harness.schedule({ profile, inMs: 5_000 });
  expect((await harness.disk.loadDeliveries([requireDue(next)]))[0]?.gate).toBeNull();
  expect(harness.insight.breakerResets).toEqual([]);
});

test('a request for an endpoint without a gate is removed, and does nothing', async () => {
  await using harness = await EngineHarness.open();
  const profile = await harness.profile();
  await started(harness);
  await requestReset(harness, profile);
  await harness.time.advance(1_000);
  expect(harness.insight.breakerResets).toEqual([]);
  expect(harness.faults.times('saveGates')).toBe(0);
});

describe('deliveries that are left alone', () => {
  test('those that are scheduled for the instant at which the window ends', async () => {
    await using harness = await EngineHarness.open();
    const { profile } = await opened(harness);
    const windowEnds = harness.now + 10 * MINUTE_MS;
    const scheduled = await harness.schedule({ profile, inMs: windowEnds - harness.now });
    const deferred = await harness.schedule({ profile, inMs: 1_000 });
    await harness.time.advance(1_000);
    expect((await harness.delivery(deferred.pending.id)).dueAt).toBe(windowEnds);
    await requestReset(harness, profile);
    await harness.time.advance(1_000);
    expect(await statuses(harness, [deferred.pending.id, scheduled.pending.id])).toEqual([
      'succeeded',
      'scheduled',
    ]);
  });

  test('retries whose backoff ends with the window', async () => {
    await using harness = await EngineHarness.open();
    const retryPolicy = { ...DEFAULT_RETRY_POLICY, base: '5m', factor: 2 };
    const { profile } = await opened(harness, { retryPolicy });
    const [own] = await harness.disk.listDue(null, instant(harness.now + 11 * MINUTE_MS), 10);
    expect(own?.dueAt).toBe(harness.now + 10 * MINUTE_MS);
    await requestReset(harness, profile);
    await harness.time.advance(1_000);
    expect(harness.egress.sent).toHaveLength(1);
    expect(harness.insight.breakerResets).toEqual([]);
  });

  test('those of other endpoints', async () => {
    await using harness = await EngineHarness.open();
    const { profile } = await opened(harness);
    const others = await harness.profile({ breakerPolicy: POLICY, retryPolicy: ONE_ATTEMPT });
    harness.egress.respond = () => BROKEN;
    await harness.schedule({ profile: others, inMs: 1_000 });
    await harness.time.advance(1_000);
    const { pending } = await harness.schedule({ profile: others, inMs: 1_000 });
    await harness.time.advance(1_000);
    await requestReset(harness, profile);
    await harness.time.advance(2_000);
    expect((await harness.delivery(pending.id)).status).toBe('scheduled');
    expect(harness.metrics.gauges?.().breakers.open).toBe(1);
  });
});

describe('an attempt that was sent before the reset', () => {
  test('does not open the breaker again when it was a probe that fails', async () => {
    await using harness = await EngineHarness.open();
    const { profile } = await opened(harness);
    await harness.schedule({ profile, inMs: 10 * MINUTE_MS });
    harness.egress.respond = () => null;
    await harness.time.advance(10 * MINUTE_MS);
    expect(harness.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 1 });
    await requestReset(harness, profile);
    await harness.time.advance(1_000);
    expect(harness.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 0 });
    harness.egress.sent.at(-1)?.answer(BROKEN);
    await harness.time.advance(1_000);
    expect(harness.metrics.gauges?.().breakers).toEqual({ open: 0, halfOpen: 0 });
  });

  test('does not count when it was sent before the breaker opened', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ breakerPolicy: POLICY, retryPolicy: ONE_ATTEMPT });
    harness.egress.respond = () => null;
    for (let each = 0; each < 2; each++) await harness.schedule({ profile, inMs: 1_000 });
    await started(harness);
    await harness.time.advance(1_000);
    harness.egress.sent[0]?.answer(BROKEN);
    await harness.time.settled();
    await requestReset(harness, profile);
    await harness.time.advance(1_000);
    harness.egress.sent[1]?.answer(BROKEN);
    await harness.time.settled();
    expect(harness.metrics.gauges?.().breakers.open).toBe(0);
  });

  test('opens the breaker only when it was sent after the reset', async () => {
    await using harness = await EngineHarness.open();
    const { profile } = await opened(harness);
    await requestReset(harness, profile);
    await harness.time.advance(1_000);
    harness.egress.respond = () => BROKEN;
    await harness.schedule({ profile, inMs: 1_000 });
    await harness.time.advance(2_000);
    expect(harness.metrics.gauges?.().breakers.open).toBe(1);
  });
});

test('deliveries that wait for the result of a probe are sent as well', async () => {
  await using harness = await EngineHarness.open();
  const { profile, engine } = await opened(harness);
  await harness.schedule({ profile, inMs: 10 * MINUTE_MS });
  harness.egress.respond = () => null;
  await harness.time.advance(10 * MINUTE_MS);
  const { pending } = await harness.schedule({ profile, inMs: 1_000 });
  engine.due(requireDue(pending));
  await harness.time.advance(1_000);
  expect((await harness.delivery(pending.id)).dueAt).toBeGreaterThan(harness.now + MINUTE_MS);
  await requestReset(harness, profile);
  await harness.time.advance(1_000);
  expect(harness.egress.sent.at(-1)?.request.headers).toContainEqual(['Sched-Delivery-Id', pending.id]);
});

test('reserved tokens stay reserved', async () => {
  await using harness = await EngineHarness.open();
  const { profile } = await opened(harness);
  await requestReset(harness, profile);
  await harness.time.advance(1_000);
  await harness.schedule({ profile, rateLimit: { perSecond: 0.1 }, inMs: 1_000 });
  const second = await harness.schedule({ profile, rateLimit: { perSecond: 0.1 }, inMs: 1_001 });
  await harness.time.advance(3_000);
  const { dueAt } = await harness.delivery(second.pending.id);
  await requestReset(harness, profile);
  await harness.time.advance(1_000);
  expect(await harness.delivery(second.pending.id)).toMatchObject({ reserved: true, dueAt });
});

test('a reset is tried again until the gate is saved', async () => {
  await using harness = await EngineHarness.open();
  const { profile } = await opened(harness);
  const { pending } = await harness.schedule({ profile, inMs: 1_000 });
  await harness.time.advance(1_000);
  await requestReset(harness, profile);
  harness.faults.set('refuses', 'saveGates');
  await harness.time.advance(2_000);
  expect(harness.insight.breakerResets).toHaveLength(1);
  expect((await harness.delivery(pending.id)).status).toBe('succeeded');
  harness.faults.clear();
  await harness.time.advance(1_000);
  expect(harness.insight.breakerResets).toEqual([]);
  harness.insight.isAway = true;
  await harness.time.advance(1_000);
  expect(harness.log.lines.at(-1)?.message).toBe(
    'requested breaker resets could not be done: they are tried again',
  );
});

test('a process whose lease may have run out leaves the request to the owner of the slot', async () => {
  await using harness = await EngineHarness.open();
  const profile = await harness.profile();
  let isAlive = false;
  const ownership = { ...OWNS_EVERY_SLOT, watchLease: () => () => isAlive };
  const gates = new Gates(harness, ownership);
  const { store, insight, clock, timers, log } = harness;
  const queue = { due: () => {} };
  const resets = new BreakerResets({ store, insight, clock, timers, log, ownership, gates, queue });
  await requestReset(harness, profile);
  resets.start();
  await harness.time.advance(2_000);
  expect(harness.insight.breakerResets).toHaveLength(1);
  isAlive = true;
  await harness.time.advance(1_000);
  expect(harness.insight.breakerResets).toEqual([]);
  await resets.stop();
});

test('of several nodes, the owner of the slot does the reset', async () => {
  await using cluster = await ClusterHarness.open();
  const { harness } = cluster;
  const nodes = await cluster.startNodes('a', 'b', 'c');
  const profile = await harness.profile({ breakerPolicy: POLICY, retryPolicy: ONE_ATTEMPT });
  for (const { egress } of nodes) egress.respond = () => BROKEN;
  await harness.schedule({ profile, inMs: 2_000 });
  await cluster.time.advance(2_000);
  for (const { egress } of nodes) egress.respond = () => OK;
  const { pending } = await harness.schedule({ profile, inMs: 2_000 });
  await cluster.time.advance(2_000);
  expect((await harness.delivery(pending.id)).status).toBe('scheduled');
  await requestReset(harness, profile);
  await cluster.time.advance(1_000);
  expect((await harness.delivery(pending.id)).status).toBe('succeeded');
  const owner = await cluster.ownerNodeOf({
    partition: PARTITION,
    endpoint: profile.id as string as EndpointKey,
  });
  const closing = nodes.filter(({ log }) =>
    log.lines.some(({ message }) => message === 'a breaker was reset on request'),
  );
  expect(closing.map(({ node }) => node)).toEqual([owner.node]);
  expect(harness.insight.breakerResets).toEqual([]);
});

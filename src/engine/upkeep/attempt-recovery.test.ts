import { describe, expect, test } from 'vitest';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { instant } from '#src/domain/instant.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { Settler } from '#src/engine/attempt/settler.ts';
import { OWNS_EVERY_SLOT } from '#src/engine/cluster/slot-ownership.ts';
import { ClusterHarness, ownerAndOthers } from '#test/cluster-harness.ts';
import { EngineHarness, type ScheduleOptions } from '#test/engine-harness.ts';
import { type Builders, HOURLY, scheduleIdOf } from '#test/store-contract/builders.ts';
import { AttemptRecovery } from './attempt-recovery.ts';
import { StatsRecorder } from './stats-recorder.ts';

async function claimed(
  harness: EngineHarness,
  order: ScheduleOptions = {},
  node = 'dead-node',
): Promise<ReturnType<Builders['claim']>> {
  const view = await harness.schedule(order);
  const { build } = harness;
  const write = build.claim(view.pending, view, node);
  expect(await harness.disk.claim([write])).toEqual(['done']);
  return write;
}

/** Recovery of this node; `inFlight` are the tokens of its attempts in flight. */
function setUp(harness: EngineHarness, inFlight: readonly string[] = []) {
  const hinted: (DueDelivery | null)[] = [];
  const { store, clock, timers, log, node } = harness;
  const recovery = new AttemptRecovery({
    store,
    clock,
    timers,
    log,
    node,
    cluster: null,
    ownership: OWNS_EVERY_SLOT,
    settler: new Settler(harness),
    stats: new StatsRecorder(harness),
    hints: { due: (due) => void hinted.push(due) },
    notifications: { due: () => {} },
    membership: null,
    attempts: { has: (token) => inFlight.includes(token) },
  });
  return { hinted, recovery };
}

describe('an attempt of a process that died', () => {
  test('is closed as interrupted, counts as an attempt, and is retried by its policy', async () => {
    await using harness = await EngineHarness.open();
    const { delivery } = await claimed(harness);
    await harness.time.advance(60_000);
    const { recovery, hinted } = setUp(harness);
    expect(await recovery.recoverOnce(true)).toBe(1);
    expect(await harness.attempts(delivery.id)).toMatchObject([
      { attemptNo: 1, outcome: 'retryable', statusCode: null, error: 'interrupted', finishedAt: harness.now },
    ]);
    expect(await harness.delivery(delivery.id)).toMatchObject({
      status: 'retry_scheduled',
      attemptCount: 1,
      dueAt: harness.now + 10_000,
      error: 'interrupted',
    });
    expect(hinted).toMatchObject([{ id: delivery.id, dueAt: harness.now + 10_000 }]);
  });

  test('is dead-lettered when it was the last attempt that its policy allows', async () => {
    await using harness = await EngineHarness.open();
    const { delivery } = await claimed(harness, { retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts: 1 } });
    const { recovery, hinted } = setUp(harness);
    expect(await recovery.recoverOnce(true)).toBe(1);
    expect((await harness.delivery(delivery.id)).status).toBe('dead_letter');
    expect(hinted).toEqual([null]);
  });

  test('is canceled when its schedule was canceled meanwhile', async () => {
    await using harness = await EngineHarness.open();
    const { delivery } = await claimed(harness);
    await harness.change(scheduleIdOf(delivery), (view) => life.cancel(view, harness.now));
    await setUp(harness).recovery.recoverOnce(true);
    expect((await harness.delivery(delivery.id)).status).toBe('canceled');
  });

  test('of a recurring schedule leaves the next occurrence as it is', async () => {
    await using harness = await EngineHarness.open();
    const { delivery, advanced } = await claimed(harness, { timing: HOURLY });
    await setUp(harness).recovery.recoverOnce(true);
    expect((await harness.delivery(delivery.id)).status).toBe('retry_scheduled');
    expect(advanced && (await harness.delivery(advanced.next.id))).toEqual(advanced?.next);
  });

  test('is closed once: a second run finds nothing', async () => {
    await using harness = await EngineHarness.open();
    await claimed(harness);
    await claimed(harness);
    const { recovery } = setUp(harness);
    expect([await recovery.recoverOnce(true), await recovery.recoverOnce(true)]).toEqual([2, 0]);
    expect(harness.log.lines).toMatchObject([{ level: 'warn', fields: { claims: 2 } }]);
  });
});

describe('an attempt of this node', () => {
  test('is left alone while it is in flight, and closed otherwise', async () => {
    await using harness = await EngineHarness.open();
    const inFlight = await claimed(harness, {}, harness.node);
    const lost = await claimed(harness, {}, harness.node);
    expect(await setUp(harness, [inFlight.attempt.id]).recovery.recoverOnce(true)).toBe(1);
    expect(await harness.delivery(inFlight.delivery.id)).toEqual(inFlight.delivery);
    expect(await harness.attempts(inFlight.delivery.id)).toEqual([inFlight.attempt]);
    expect((await harness.delivery(lost.delivery.id)).status).toBe('retry_scheduled');
  });
});

describe('a store that is away', () => {
  test('fails the run when lost claims cannot be read, and nothing has changed', async () => {
    await using harness = await EngineHarness.open();
    const { delivery } = await claimed(harness);
    harness.faults.set('refuses', 'listLostClaims');
    await expect(setUp(harness).recovery.recoverOnce(true)).rejects.toThrow('The store is away.');
    expect((await harness.delivery(delivery.id)).status).toBe('claimed');
  });

  test('is waited for when the outcome cannot be written', async () => {
    await using harness = await EngineHarness.open();
    const { delivery } = await claimed(harness);
    harness.faults.set('refuses', 'settle');
    const running = setUp(harness).recovery.recoverOnce(true);
    await harness.time.advance(10_000);
    harness.faults.clear();
    await harness.time.advance(500);
    expect(await running).toBe(1);
    expect((await harness.delivery(delivery.id)).status).toBe('retry_scheduled');
  });
});

describe('in a cluster, lost claims', () => {
  test('of an unknown node are closed within seconds by the owner of the slot', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    const { delivery } = await claimed(cluster.harness, { inMs: 60_000 }, 'long-gone');
    const [owner, other] = await ownerAndOthers(cluster, delivery);
    await cluster.time.advance(5_000);
    expect((await cluster.harness.delivery(delivery.id)).status).toBe('retry_scheduled');
    expect([owner.faults.times('settle'), other?.faults.times('settle')]).toEqual([1, 0]);
  });

  test('of a node that joined after they were listed are left alone', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.startNodes('a');
    const { delivery } = await claimed(cluster.harness, { inMs: 60_000 }, 'newcomer');
    const { disk } = cluster.harness;
    const join = () => {
      const { now } = cluster.harness;
      return disk.renewLease({
        node: 'newcomer',
        leaseUntil: instant(now + 3_200),
        isStopping: false,
        version: '1.2.3',
      });
    };
    node.faults.before('listLostClaims', () => node.faults.before('renewLease', join));
    const listed = node.faults.times('listLostClaims');
    await cluster.time.advance(5_000);
    expect(node.faults.times('listLostClaims')).toBe(listed + 1);
    expect((await cluster.harness.delivery(delivery.id)).status).toBe('claimed');
  });

  test('of the node itself, when the answer to the claim was lost, are closed by it', async () => {
    await using cluster = await ClusterHarness.open();
    const [node] = await cluster.startNodes('a');
    const { pending } = await cluster.harness.schedule({ inMs: 1_000 });
    node?.faults.set('loses', 'claim');
    await cluster.time.advance(1_000);
    node?.faults.clear();
    await cluster.time.advance(1_000);
    expect(await cluster.harness.attempts(pending.id)).toMatchObject([{ error: 'interrupted' }]);
  });

  test('of a live node are left alone', async () => {
    await using cluster = await ClusterHarness.open();
    await cluster.startNodes('a', 'b');
    const { delivery } = await claimed(cluster.harness, { inMs: 60_000 }, 'b');
    await cluster.time.advance(30_000);
    expect((await cluster.harness.delivery(delivery.id)).status).toBe('claimed');
  });
});

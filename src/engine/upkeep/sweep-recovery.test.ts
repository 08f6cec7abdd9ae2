import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { SweepCursor, UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import { instant } from '#src/domain/instant.ts';
import { cancel, pause, resume } from '#src/domain/schedule-lifecycle.ts';
import { OWNS_EVERY_SLOT } from '#src/engine/cluster/slot-ownership.ts';
import { Engine } from '#src/engine/engine.ts';
import { ClusterHarness } from '#test/cluster-harness.ts';
import { EngineHarness, OTHER_PARTITION, PARTITION } from '#test/engine-harness.ts';
import { FAILURE, HOURLY, START } from '#test/store-contract/builders.ts';
import { ALL_DELIVERIES } from '#test/store-contract/everything.ts';
import { SweepRecovery } from './sweep-recovery.ts';

const ACTIONS = { pause, resume, cancel };
const RETRIES = 5;
const SCAN_MS = 4_500;
const RETRY_IN_MS = 20_000;

/** A recurring schedule with some deliveries that wait for a retry. */
async function withRetries(harness: EngineHarness, partition = PARTITION) {
  const view = await harness.schedule({ timing: HOURLY, partition });
  const claimed = harness.build.claim(view.pending, view);
  expect(await harness.disk.claim([claimed])).toEqual(['done']);
  const { schedule } = claimed.advanced ?? view;
  await harness.disk.settle([harness.build.settle(claimed, schedule, FAILURE)]);
  const replays = Array.from({ length: RETRIES - 1 }, (): Delivery => {
    const dueAt = instant(harness.now + RETRY_IN_MS);
    return { ...harness.build.replay(claimed.delivery), status: 'retry_scheduled', attemptCount: 1, dueAt };
  });
  for (const delivery of replays) await harness.disk.addReplay({ delivery, receipt: null });
  return schedule;
}

/** Returns the statuses of all deliveries of a partition. */
async function statuses(harness: EngineHarness, partition = PARTITION): Promise<readonly string[]> {
  const page = { before: null, limit: 100 };
  return (await harness.disk.listDeliveries(partition, ALL_DELIVERIES, page)).map(({ status }) => status);
}

/** Stores an action on a schedule, as a process does that ends before it has reached all deliveries. */
async function abandon(harness: EngineHarness, action: keyof typeof ACTIONS): Promise<void> {
  const { id } = await withRetries(harness);
  if (action === 'resume') {
    await harness.change(id, (view) => pause(view, harness.now));
    await finished(harness);
  }
  await harness.change(id, (view) => ACTIONS[action](view, harness.now));
  expect(await harness.disk.listSweeps(10)).toMatchObject([{ scheduleId: id, action: action }]);
}

async function finished(harness: EngineHarness): Promise<void> {
  for (const sweep of await harness.disk.listSweeps(10)) {
    let cursor = await harness.disk.continueSweep(sweep, null);
    while (cursor !== null) cursor = await harness.disk.continueSweep(sweep, cursor);
  }
}

type ContinueSweep = (sweep: UnfinishedSweep, cursor: SweepCursor | null) => Promise<SweepCursor | null>;

/** A recovery whose steps are done by the test. */
function recoveryWith(harness: EngineHarness, continueSweep: ContinueSweep): SweepRecovery {
  const { timers, log, cluster } = harness;
  const store = new Proxy(harness.store, {
    get: (target, name): unknown =>
      name === 'continueSweep' ? continueSweep : Reflect.get(target, name, target),
  });
  const hints = { rescan: () => {} };
  return new SweepRecovery({ store, timers, log, cluster, ownership: OWNS_EVERY_SLOT, hints });
}

function recoveryOf({ store, timers, log, cluster }: EngineHarness) {
  let rescans = 0;
  const hints = { rescan: () => void rescans++ };
  return {
    recovery: new SweepRecovery({ store, timers, log, cluster, ownership: OWNS_EVERY_SLOT, hints }),
    rescans: () => rescans,
  };
}

describe('an action whose process ended', () => {
  test.for([
    ['pause', 'paused', 0],
    ['cancel', 'canceled', 0],
    ['resume', 'retry_scheduled', 1],
  ] as const)('%s: is completed by the next process at once', async ([action, status, rescans]) => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
    await abandon(harness, action);
    const { recovery, rescans: counted } = recoveryOf(harness);
    recovery.start();
    await harness.time.advance(1_000);
    expect((await statuses(harness)).filter((one) => one === status).length).toBeGreaterThanOrEqual(RETRIES);
    expect(await harness.disk.listSweeps(10)).toEqual([]);
    expect(counted()).toBe(rescans);
    await recovery.stop();
    expect(harness.time.pending).toBe(0);
  });

  test('is completed step by step, with a pause in between', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
    await abandon(harness, 'cancel');
    const { recovery } = recoveryOf(harness);
    recovery.start();
    const canceled = async () => (await statuses(harness)).filter((status) => status === 'canceled').length;
    // The action itself reached the pending delivery and one more.
    expect(await canceled()).toBe(2);
    await harness.time.advance(0);
    expect(await canceled()).toBe(3);
    await harness.time.advance(9);
    expect(await canceled()).toBe(3);
    await harness.time.advance(1);
    expect(await canceled()).toBe(4);
    const stopped = recovery.stop();
    await harness.time.advance(1_000);
    await stopped;
    expect(await canceled()).toBe(4);
  });

  test('is tried again when the store was away', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
    await abandon(harness, 'cancel');
    harness.faults.set('refuses', 'continueSweep');
    const { recovery } = recoveryOf(harness);
    recovery.start();
    await harness.time.advance(SCAN_MS - 1);
    expect(harness.log.lines).toMatchObject([
      { level: 'warn', message: 'unfinished schedule actions could not be completed' },
    ]);
    harness.faults.clear();
    await harness.time.advance(1_000);
    expect(await harness.disk.listSweeps(10)).toEqual([]);
    await recovery.stop();
  });
});

describe('a delivery that an action has not reached yet', () => {
  test.for(['pause', 'cancel'] as const)('%s: is not sent, however long the sweep takes', async (action) => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 2 });
    const engine = new Engine(harness, { retentionMs: 0 });
    await engine.start();
    const { id } = await withRetries(harness);
    // All deliveries are prefetched by then, and the first has been retried.
    await harness.time.advance(RETRY_IN_MS - 100);
    const before = harness.egress.sent.length;
    harness.faults.set('refuses', 'continueSweep');
    await harness.change(id, (view) => ACTIONS[action](view, harness.now));
    await harness.time.advance(60_000);
    expect(harness.egress.sent).toHaveLength(before);
    const left = (await statuses(harness)).filter((status) => status === 'retry_scheduled');
    expect(left.length).toBeGreaterThan(1);
    harness.faults.clear();
    await harness.time.advance(2 * SCAN_MS);
    const swept = (await statuses(harness)).filter((status) => status !== 'succeeded');
    expect(new Set(swept)).toEqual(new Set([action === 'pause' ? 'paused' : 'canceled']));
    expect(harness.egress.sent).toHaveLength(before);
    const stopped = engine.stop(0);
    await harness.time.advance(1_000);
    await stopped;
  });
});

describe('several abandoned sweeps', () => {
  /** Stores as many cancels, as a process does that ends at once. */
  async function canceled(harness: EngineHarness, count: number, partition = PARTITION): Promise<void> {
    for (let each = 0; each < count; each++) {
      const { id } = await withRetries(harness, partition);
      await harness.change(id, (view) => cancel(view, harness.now), partition);
      await harness.time.advance(1);
    }
  }

  async function left(harness: EngineHarness, partition = PARTITION): Promise<number> {
    return (await statuses(harness, partition)).filter((status) => status === 'retry_scheduled').length;
  }

  test('are completed step by step, in a round robin by customer', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
    await canceled(harness, 3);
    await canceled(harness, 1, OTHER_PARTITION);
    const steps: string[] = [];
    const recovery = recoveryWith(harness, (sweep, cursor) => {
      steps.push(`${sweep.partition}/${sweep.requestedAt - START}`);
      return harness.disk.continueSweep(sweep, cursor);
    });
    recovery.start();
    await harness.time.advance(1_000);
    expect(steps.slice(0, 6)).toEqual(['1/0', '2/3', '1/1', '2/3', '1/2', '2/3']);
    expect(await harness.disk.listSweeps(10)).toEqual([]);
    expect([await left(harness), await left(harness, OTHER_PARTITION)]).toEqual([0, 0]);
    await recovery.stop();
  });

  test('do not delay a sweep of another customer that is abandoned later', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
    await canceled(harness, 1);
    // The sweep of the first customer never ends.
    const recovery = recoveryWith(harness, async (sweep, cursor) =>
      sweep.partition === PARTITION
        ? { status: 'retry_scheduled', id: sweep.lastId }
        : harness.disk.continueSweep(sweep, cursor),
    );
    recovery.start();
    await harness.time.advance(100);
    await canceled(harness, 1, OTHER_PARTITION);
    expect(await left(harness, OTHER_PARTITION)).toBeGreaterThan(0);
    await harness.time.advance(3 * SCAN_MS);
    expect(await left(harness, OTHER_PARTITION)).toBe(0);
    expect(await left(harness)).toBeGreaterThan(0);
    const stopped = recovery.stop();
    await harness.time.advance(1_000);
    await stopped;
  });

  test('continue when one of them fails', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
    await canceled(harness, 1);
    await canceled(harness, 1, OTHER_PARTITION);
    harness.faults.before('continueSweep', () => Promise.reject(new Error('This sweep fails.')));
    const { recovery } = recoveryOf(harness);
    recovery.start();
    await harness.time.advance(SCAN_MS - 1);
    expect([await left(harness), await left(harness, OTHER_PARTITION)]).toEqual([RETRIES - 1, 0]);
    await harness.time.advance(SCAN_MS);
    expect(await left(harness)).toBe(0);
    await recovery.stop();
  });
});

test('a sweep is left to its process until the second scan finds it', async () => {
  await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
  const { recovery } = recoveryOf(harness);
  recovery.start();
  await harness.time.advance(1_000);
  await abandon(harness, 'cancel');
  await harness.time.advance(SCAN_MS);
  expect(await harness.disk.listSweeps(10)).toHaveLength(1);
  await harness.time.advance(SCAN_MS);
  expect(await harness.disk.listSweeps(10)).toEqual([]);
  await recovery.stop();
});

test('of several nodes, only the upkeep node scans for sweeps', async () => {
  await using cluster = await ClusterHarness.open();
  const nodes = await cluster.startNodes('a', 'b', 'c');
  const scans = () => nodes.map(({ faults }) => faults.times('listSweeps'));
  const before = scans();
  await cluster.time.advance(60_000);
  const first = (await cluster.slots())[0]?.owner;
  const found = nodes.filter((_, index) => (scans()[index] ?? 0) > (before[index] ?? 0));
  expect(found.map(({ node }) => node)).toEqual([first]);
});

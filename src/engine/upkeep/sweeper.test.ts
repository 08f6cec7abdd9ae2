import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { SweepCursor, UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import { instant } from '#src/domain/instant.ts';
import { cancel, pause, resume } from '#src/domain/schedule-lifecycle.ts';
import { OWNS_EVERY_SLOT } from '#src/engine/cluster/slot-ownership.ts';
import { Engine } from '#src/engine/engine.ts';
import { FAILURE, HOURLY, START } from '#src/store/contract/builders.ts';
import { ALL_DELIVERIES } from '#src/store/contract/everything.ts';
import { ClusterHarness } from '#test/cluster-harness.ts';
import { EngineHarness, NEIGHBOUR, PARTITION } from '#test/engine-harness.ts';
import { Sweeper } from './sweeper.ts';

const ORDERS = { pause, resume, cancel };
const RETRIES = 5;
const LOOK_MS = 4_500;
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

/** All its deliveries, the pending one among them. */
async function statuses(harness: EngineHarness, partition = PARTITION): Promise<readonly string[]> {
  const page = { before: null, limit: 100 };
  return (await harness.disk.listDeliveries(partition, ALL_DELIVERIES, page)).map(({ status }) => status);
}

/** A process that dies as soon as its order is stored: nobody carries it on. */
async function dies(harness: EngineHarness, order: keyof typeof ORDERS): Promise<void> {
  const { id } = await withRetries(harness);
  if (order === 'resume') {
    await harness.change(id, (view) => pause(view, harness.now));
    await finished(harness);
  }
  await harness.change(id, (view) => ORDERS[order](view, harness.now));
  expect(await harness.disk.listSweeps(10)).toMatchObject([{ scheduleId: id, action: order }]);
}

async function finished(harness: EngineHarness): Promise<void> {
  for (const sweep of await harness.disk.listSweeps(10)) {
    let place = await harness.disk.continueSweep(sweep, null);
    while (place !== null) place = await harness.disk.continueSweep(sweep, place);
  }
}

type ContinueSweep = (sweep: UnfinishedSweep, place: SweepCursor | null) => Promise<SweepCursor | null>;

/** Sweeper of a store that carries on as the test wants it to. */
function sweepsBy(harness: EngineHarness, continueSweep: ContinueSweep): Sweeper {
  const { timers, log, cluster } = harness;
  const store = new Proxy(harness.store, {
    get: (target, name): unknown =>
      name === 'continueSweep' ? continueSweep : Reflect.get(target, name, target),
  });
  const hints = { rescan: () => {} };
  return new Sweeper({ store, timers, log, cluster, ownership: OWNS_EVERY_SLOT, hints });
}

function sweepsOf({ store, timers, log, cluster }: EngineHarness) {
  let looks = 0;
  const hints = { rescan: () => void looks++ };
  return {
    sweeps: new Sweeper({ store, timers, log, cluster, ownership: OWNS_EVERY_SLOT, hints }),
    looks: () => looks,
  };
}

describe('an order whose process died', () => {
  test.for([
    ['pause', 'paused', 0],
    ['cancel', 'canceled', 0],
    ['resume', 'retry_scheduled', 1],
  ] as const)('%s: is finished by the next process, at once', async ([order, status, looks]) => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
    await dies(harness, order);
    const { sweeps, looks: looked } = sweepsOf(harness);
    sweeps.start();
    await harness.time.advance(1_000);
    expect((await statuses(harness)).filter((one) => one === status).length).toBeGreaterThanOrEqual(RETRIES);
    expect(await harness.disk.listSweeps(10)).toEqual([]);
    expect(looked()).toBe(looks);
    await sweeps.stop();
    expect(harness.time.pending).toBe(0);
  });

  test('is carried out piece by piece, with a pause in between', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
    await dies(harness, 'cancel');
    const { sweeps } = sweepsOf(harness);
    sweeps.start();
    const canceled = async () => (await statuses(harness)).filter((status) => status === 'canceled').length;
    // With the order went the pending one and one more.
    expect(await canceled()).toBe(2);
    await harness.time.advance(0);
    expect(await canceled()).toBe(3);
    await harness.time.advance(9);
    expect(await canceled()).toBe(3);
    await harness.time.advance(1);
    expect(await canceled()).toBe(4);
    const stopped = sweeps.stop();
    await harness.time.advance(1_000);
    await stopped;
    expect(await canceled()).toBe(4);
  });

  test('is tried again when the store was away', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
    await dies(harness, 'cancel');
    harness.faults.set('refuses', 'continueSweep');
    const { sweeps } = sweepsOf(harness);
    sweeps.start();
    await harness.time.advance(LOOK_MS - 1);
    expect(harness.log.lines).toMatchObject([
      { level: 'warn', message: 'unfinished schedule actions could not be completed' },
    ]);
    harness.faults.clear();
    await harness.time.advance(1_000);
    expect(await harness.disk.listSweeps(10)).toEqual([]);
    await sweeps.stop();
  });
});

describe('a delivery that an order has not reached yet', () => {
  test.for(['pause', 'cancel'] as const)('%s: is not sent, however long that takes', async (order) => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 2 });
    const engine = new Engine(harness, { retentionMs: 0 });
    await engine.start();
    const { id } = await withRetries(harness);
    // All of them are read ahead by then; the first has had its retry.
    await harness.time.advance(RETRY_IN_MS - 100);
    const before = harness.egress.sent.length;
    harness.faults.set('refuses', 'continueSweep');
    await harness.change(id, (view) => ORDERS[order](view, harness.now));
    await harness.time.advance(60_000);
    expect(harness.egress.sent).toHaveLength(before);
    const left = (await statuses(harness)).filter((status) => status === 'retry_scheduled');
    expect(left.length).toBeGreaterThan(1);
    harness.faults.clear();
    await harness.time.advance(2 * LOOK_MS);
    const swept = (await statuses(harness)).filter((status) => status !== 'succeeded');
    expect(new Set(swept)).toEqual(new Set([order === 'pause' ? 'paused' : 'canceled']));
    expect(harness.egress.sent).toHaveLength(before);
    const stopped = engine.stop(0);
    await harness.time.advance(1_000);
    await stopped;
  });
});

describe('several orders left behind', () => {
  /** Stored by a process that died at once: cancels of so many schedules. */
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

  test('are carried out one piece of each in turn, and customers in turns', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
    await canceled(harness, 3);
    await canceled(harness, 1, NEIGHBOUR);
    const carriedOn: string[] = [];
    const sweeps = sweepsBy(harness, (sweep, place) => {
      carriedOn.push(`${sweep.partition}/${sweep.requestedAt - START}`);
      return harness.disk.continueSweep(sweep, place);
    });
    sweeps.start();
    await harness.time.advance(1_000);
    expect(carriedOn.slice(0, 6)).toEqual(['1/0', '2/3', '1/1', '2/3', '1/2', '2/3']);
    expect(await harness.disk.listSweeps(10)).toEqual([]);
    expect([await left(harness), await left(harness, NEIGHBOUR)]).toEqual([0, 0]);
    await sweeps.stop();
  });

  test('do not keep the order of another customer waiting that is left behind later', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
    await canceled(harness, 1);
    // What the first customer has left to do never ends.
    const sweeps = sweepsBy(harness, async (sweep, place) =>
      sweep.partition === PARTITION
        ? { status: 'retry_scheduled', id: sweep.lastId }
        : harness.disk.continueSweep(sweep, place),
    );
    sweeps.start();
    await harness.time.advance(100);
    await canceled(harness, 1, NEIGHBOUR);
    expect(await left(harness, NEIGHBOUR)).toBeGreaterThan(0);
    await harness.time.advance(3 * LOOK_MS);
    expect(await left(harness, NEIGHBOUR)).toBe(0);
    expect(await left(harness)).toBeGreaterThan(0);
    const stopped = sweeps.stop();
    await harness.time.advance(1_000);
    await stopped;
  });

  test('an order that fails holds up no other', async () => {
    await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
    await canceled(harness, 1);
    await canceled(harness, 1, NEIGHBOUR);
    harness.faults.before('continueSweep', () =>
      Promise.reject(new Error('This one cannot be carried out.')),
    );
    const { sweeps } = sweepsOf(harness);
    sweeps.start();
    await harness.time.advance(LOOK_MS - 1);
    expect([await left(harness), await left(harness, NEIGHBOUR)]).toEqual([RETRIES - 1, 0]);
    await harness.time.advance(LOOK_MS);
    expect(await left(harness)).toBe(0);
    await sweeps.stop();
  });
});

test('an order that a living process carries out is left to it until the second look', async () => {
  await using harness = await EngineHarness.open({ sweepBatchMax: 1 });
  const { sweeps } = sweepsOf(harness);
  sweeps.start();
  await harness.time.advance(1_000);
  await dies(harness, 'cancel');
  await harness.time.advance(LOOK_MS);
  expect(await harness.disk.listSweeps(10)).toHaveLength(1);
  await harness.time.advance(LOOK_MS);
  expect(await harness.disk.listSweeps(10)).toEqual([]);
  await sweeps.stop();
});

test('of several nodes one looks for them: the one that holds the first slot', async () => {
  await using cluster = await ClusterHarness.open();
  const nodes = await cluster.settled('a', 'b', 'c');
  const looked = () => nodes.map(({ faults }) => faults.times('listSweeps'));
  const before = looked();
  await cluster.time.advance(60_000);
  const first = (await cluster.slots())[0]?.owner;
  const found = nodes.filter((_, index) => (looked()[index] ?? 0) > (before[index] ?? 0));
  expect(found.map(({ node }) => node)).toEqual([first]);
});

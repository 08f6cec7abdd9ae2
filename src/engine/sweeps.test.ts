import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { instant } from '#src/domain/instant.ts';
import { cancel, pause, resume } from '#src/domain/schedule-life.ts';
import { FAILURE, HOURLY } from '#src/store/contract/builders.ts';
import { ALL_DELIVERIES } from '#src/store/contract/everything.ts';
import { ClusterTestWorld } from '#test/cluster-world.ts';
import { EngineTestWorld, PARTITION } from '#test/engine-world.ts';
import { Engine } from './engine.ts';
import { Sweeps } from './sweeps.ts';
import { EVERYWHERE } from './territory.ts';

const ORDERS = { pause, resume, cancel };
const RETRIES = 5;
const LOOK_MS = 4_500;
const RETRY_IN_MS = 20_000;

/** A recurring schedule with some deliveries that wait for a retry. */
async function withRetries(world: EngineTestWorld) {
  const view = await world.schedule({ timing: HOURLY });
  const claimed = world.build.claim(view.pending, view);
  expect(await world.disk.claim([claimed])).toEqual(['done']);
  const { schedule } = claimed.advanced ?? view;
  await world.disk.settle([world.build.settle(claimed, schedule, FAILURE)]);
  const replays = Array.from({ length: RETRIES - 1 }, (): Delivery => {
    const dueAt = instant(world.now + RETRY_IN_MS);
    return { ...world.build.replay(claimed.delivery), status: 'retry_scheduled', attemptCount: 1, dueAt };
  });
  for (const delivery of replays) await world.disk.addReplay({ delivery, receipt: null });
  return schedule;
}

/** Of all its deliveries, the pending one among them. */
async function statuses(world: EngineTestWorld): Promise<readonly string[]> {
  const page = { before: null, limit: 100 };
  return (await world.disk.listDeliveries(PARTITION, ALL_DELIVERIES, page)).map(({ status }) => status);
}

/** A process that dies as soon as its order is stored: nobody carries it on. */
async function dies(world: EngineTestWorld, order: keyof typeof ORDERS): Promise<void> {
  const { id } = await withRetries(world);
  if (order === 'resume') {
    await world.change(id, (view) => pause(view, world.now));
    await finished(world);
  }
  await world.change(id, (view) => ORDERS[order](view, world.now));
  expect(await world.disk.listSweeps(10)).toMatchObject([{ scheduleId: id, order }]);
}

async function finished(world: EngineTestWorld): Promise<void> {
  for (const sweep of await world.disk.listSweeps(10)) {
    let place = await world.disk.carryOnSweep(sweep, null);
    while (place !== null) place = await world.disk.carryOnSweep(sweep, place);
  }
}

function sweepsOf(world: EngineTestWorld) {
  let looks = 0;
  const hints = { lookAgain: () => void looks++ };
  return { sweeps: new Sweeps(world, { territory: EVERYWHERE, hints }), looks: () => looks };
}

describe('an order whose process died', () => {
  test.for([
    ['pause', 'paused', 0],
    ['cancel', 'canceled', 0],
    ['resume', 'retry_scheduled', 1],
  ] as const)('%s: is finished by the next process, at once', async ([order, status, looks]) => {
    await using world = await EngineTestWorld.open({ sweptTogetherMax: 1 });
    await dies(world, order);
    const { sweeps, looks: looked } = sweepsOf(world);
    sweeps.start();
    await world.time.advance(1_000);
    expect((await statuses(world)).filter((one) => one === status).length).toBeGreaterThanOrEqual(RETRIES);
    expect(await world.disk.listSweeps(10)).toEqual([]);
    expect(looked()).toBe(looks);
    await sweeps.stop();
    expect(world.time.pending).toBe(0);
  });

  test('is carried out piece by piece, with a pause in between', async () => {
    await using world = await EngineTestWorld.open({ sweptTogetherMax: 1 });
    await dies(world, 'cancel');
    const { sweeps } = sweepsOf(world);
    sweeps.start();
    const canceled = async () => (await statuses(world)).filter((status) => status === 'canceled').length;
    // With the order went the pending one and one more.
    expect(await canceled()).toBe(2);
    await world.time.advance(0);
    expect(await canceled()).toBe(3);
    await world.time.advance(9);
    expect(await canceled()).toBe(3);
    await world.time.advance(1);
    expect(await canceled()).toBe(4);
    const stopped = sweeps.stop();
    await world.time.advance(1_000);
    await stopped;
    expect(await canceled()).toBe(4);
  });

  test('is tried again when the store was away', async () => {
    await using world = await EngineTestWorld.open({ sweptTogetherMax: 1 });
    await dies(world, 'cancel');
    world.faults.set('refuses', 'carryOnSweep');
    const { sweeps } = sweepsOf(world);
    sweeps.start();
    await world.time.advance(LOOK_MS - 1);
    expect(world.log.lines).toMatchObject([{ level: 'warn', message: 'unfinished orders have to wait' }]);
    world.faults.clear();
    await world.time.advance(1_000);
    expect(await world.disk.listSweeps(10)).toEqual([]);
    await sweeps.stop();
  });
});

describe('a delivery that an order has not reached yet', () => {
  test.for(['pause', 'cancel'] as const)('%s: is not sent, however long that takes', async (order) => {
    await using world = await EngineTestWorld.open({ sweptTogetherMax: 2 });
    const engine = new Engine(world, { retentionMs: 0 });
    await engine.start();
    const { id } = await withRetries(world);
    // All of them are read ahead by then; the first has had its retry.
    await world.time.advance(RETRY_IN_MS - 100);
    const before = world.egress.sent.length;
    world.faults.set('refuses', 'carryOnSweep');
    await world.change(id, (view) => ORDERS[order](view, world.now));
    await world.time.advance(60_000);
    expect(world.egress.sent).toHaveLength(before);
    const left = (await statuses(world)).filter((status) => status === 'retry_scheduled');
    expect(left.length).toBeGreaterThan(1);
    world.faults.clear();
    await world.time.advance(2 * LOOK_MS);
    const swept = (await statuses(world)).filter((status) => status !== 'succeeded');
    expect(new Set(swept)).toEqual(new Set([order === 'pause' ? 'paused' : 'canceled']));
    expect(world.egress.sent).toHaveLength(before);
    const stopped = engine.stop(0);
    await world.time.advance(1_000);
    await stopped;
  });
});

test('an order that a living process carries out is left to it until the second look', async () => {
  await using world = await EngineTestWorld.open({ sweptTogetherMax: 1 });
  const { sweeps } = sweepsOf(world);
  sweeps.start();
  await world.time.advance(1_000);
  await dies(world, 'cancel');
  await world.time.advance(LOOK_MS);
  expect(await world.disk.listSweeps(10)).toHaveLength(1);
  await world.time.advance(LOOK_MS);
  expect(await world.disk.listSweeps(10)).toEqual([]);
  await sweeps.stop();
});

test('of several nodes one looks for them: the one that holds the first slot', async () => {
  await using cluster = await ClusterTestWorld.open();
  const nodes = await cluster.settled('a', 'b', 'c');
  const looked = () => nodes.map(({ faults }) => faults.times('listSweeps'));
  const before = looked();
  await cluster.time.advance(60_000);
  const first = (await cluster.slots())[0]?.owner;
  const found = nodes.filter((_, index) => (looked()[index] ?? 0) > (before[index] ?? 0));
  expect(found.map(({ node }) => node)).toEqual([first]);
});

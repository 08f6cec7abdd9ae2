import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { SweepPlace, UnfinishedSweep } from '#src/domain/delivery-life.ts';
import { instant } from '#src/domain/instant.ts';
import { cancel, pause, resume } from '#src/domain/schedule-life.ts';
import { FAILURE, HOURLY, START } from '#src/store/contract/builders.ts';
import { ALL_DELIVERIES } from '#src/store/contract/everything.ts';
import { ClusterTestWorld } from '#test/cluster-world.ts';
import { EngineTestWorld, NEIGHBOUR, PARTITION } from '#test/engine-world.ts';
import { Engine } from './engine.ts';
import { Sweeps } from './sweeps.ts';
import { EVERYWHERE } from './territory.ts';

const ORDERS = { pause, resume, cancel };
const RETRIES = 5;
const LOOK_MS = 4_500;
const RETRY_IN_MS = 20_000;

/** A recurring schedule with some deliveries that wait for a retry. */
async function withRetries(world: EngineTestWorld, partition = PARTITION) {
  const view = await world.schedule({ timing: HOURLY, partition });
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

/** All its deliveries, the pending one among them. */
async function statuses(world: EngineTestWorld, partition = PARTITION): Promise<readonly string[]> {
  const page = { before: null, limit: 100 };
  return (await world.disk.listDeliveries(partition, ALL_DELIVERIES, page)).map(({ status }) => status);
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

type CarryOn = (sweep: UnfinishedSweep, place: SweepPlace | null) => Promise<SweepPlace | null>;

/** Sweeps of a store that carries on as the test wants it to. */
function sweepsBy(world: EngineTestWorld, carryOnSweep: CarryOn): Sweeps {
  const { timers, log, cluster } = world;
  const store = new Proxy(world.store, {
    get: (target, name): unknown =>
      name === 'carryOnSweep' ? carryOnSweep : Reflect.get(target, name, target),
  });
  const hints = { lookAgain: () => {} };
  return new Sweeps({ store, timers, log, cluster }, { territory: EVERYWHERE, hints });
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

describe('several orders left behind', () => {
  /** Stored by a process that died at once: cancels of so many schedules. */
  async function canceled(world: EngineTestWorld, count: number, partition = PARTITION): Promise<void> {
    for (let each = 0; each < count; each++) {
      const { id } = await withRetries(world, partition);
      await world.change(id, (view) => cancel(view, world.now), partition);
      await world.time.advance(1);
    }
  }

  async function left(world: EngineTestWorld, partition = PARTITION): Promise<number> {
    return (await statuses(world, partition)).filter((status) => status === 'retry_scheduled').length;
  }

  test('are carried out one piece of each in turn, and customers in turns', async () => {
    await using world = await EngineTestWorld.open({ sweptTogetherMax: 1 });
    await canceled(world, 3);
    await canceled(world, 1, NEIGHBOUR);
    const carriedOn: string[] = [];
    const sweeps = sweepsBy(world, (sweep, place) => {
      carriedOn.push(`${sweep.partition}/${sweep.orderedAt - START}`);
      return world.disk.carryOnSweep(sweep, place);
    });
    sweeps.start();
    await world.time.advance(1_000);
    expect(carriedOn.slice(0, 6)).toEqual(['1/0', '2/3', '1/1', '2/3', '1/2', '2/3']);
    expect(await world.disk.listSweeps(10)).toEqual([]);
    expect([await left(world), await left(world, NEIGHBOUR)]).toEqual([0, 0]);
    await sweeps.stop();
  });

  test('do not keep the order of another customer waiting that is left behind later', async () => {
    await using world = await EngineTestWorld.open({ sweptTogetherMax: 1 });
    await canceled(world, 1);
    // What the first customer has left to do never ends.
    const sweeps = sweepsBy(world, async (sweep, place) =>
      sweep.partition === PARTITION
        ? { status: 'retry_scheduled', id: sweep.lastId }
        : world.disk.carryOnSweep(sweep, place),
    );
    sweeps.start();
    await world.time.advance(100);
    await canceled(world, 1, NEIGHBOUR);
    expect(await left(world, NEIGHBOUR)).toBeGreaterThan(0);
    await world.time.advance(3 * LOOK_MS);
    expect(await left(world, NEIGHBOUR)).toBe(0);
    expect(await left(world)).toBeGreaterThan(0);
    const stopped = sweeps.stop();
    await world.time.advance(1_000);
    await stopped;
  });

  test('an order that fails holds up no other', async () => {
    await using world = await EngineTestWorld.open({ sweptTogetherMax: 1 });
    await canceled(world, 1);
    await canceled(world, 1, NEIGHBOUR);
    world.faults.before('carryOnSweep', () => Promise.reject(new Error('This one cannot be carried out.')));
    const { sweeps } = sweepsOf(world);
    sweeps.start();
    await world.time.advance(LOOK_MS - 1);
    expect([await left(world), await left(world, NEIGHBOUR)]).toEqual([RETRIES - 1, 0]);
    await world.time.advance(LOOK_MS);
    expect(await left(world)).toBe(0);
    await sweeps.stop();
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

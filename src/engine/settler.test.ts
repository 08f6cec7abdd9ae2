import { describe, expect, test } from 'vitest';
import { cancel, edit, pause, resume } from '#src/domain/schedule-life.ts';
import { FAILURE, HOURLY, REDIRECT, SUCCESS } from '#src/store/contract/builders.ts';
import { EngineTestWorld, type Order, PARTITION } from '#test/engine-world.ts';
import { Settler, type AttemptInFlight } from './settler.ts';

const ORDERS = { cancel, pause, resume };

/** An attempt that is stored as under way. */
async function underWay(world: EngineTestWorld, order: Order = {}): Promise<AttemptInFlight> {
  const view = await world.schedule(order);
  await world.time.advance(5_000);
  const write = world.build.claim(view.pending, view);
  expect(await world.disk.claim([write])).toEqual(['done']);
  return { ...write, schedule: write.advanced?.schedule ?? view.schedule };
}

async function scheduleOf(world: EngineTestWorld, { schedule }: AttemptInFlight) {
  const view = await world.disk.findSchedule(PARTITION, schedule.id);
  if (view === null) throw new Error('The schedule is stored.');
  return view.schedule;
}

describe('settling an attempt', () => {
  test.for([
    ['a success', SUCCESS, 'succeeded', 'completed'],
    ['a failure', FAILURE, 'retry_scheduled', 'active'],
    ['a redirect', REDIRECT, 'dead_letter', 'completed'],
  ] as const)('%s closes the attempt, moves the delivery and completes the schedule', async (row) => {
    const [, result, status, state] = row;
    await using world = await EngineTestWorld.open();
    const given = await underWay(world);
    await world.time.advance(1_234);
    const settled = await new Settler(world).settle(given, result, world.now);
    expect(settled).toMatchObject({
      delivery: { status },
      attempt: { finishedAt: world.now, egressMs: 1_234 },
    });
    expect(await world.delivery(given.delivery.id)).toEqual(settled?.delivery);
    expect(await world.attempts(given.delivery.id)).toEqual([settled?.attempt]);
    expect((await scheduleOf(world, given)).state).toBe(state);
  });

  test('needs one write and no read when nothing happened meanwhile', async () => {
    await using world = await EngineTestWorld.open();
    const given = await underWay(world, { timing: HOURLY });
    await new Settler(world).settle(given, FAILURE, world.now);
    expect(world.faults.asked).toEqual(['settle']);
  });
});

describe('what was ordered of the schedule meanwhile counts', () => {
  test.for([
    ['cancel', 'a failure', FAILURE, 'canceled'],
    ['cancel', 'a success', SUCCESS, 'succeeded'],
    ['pause', 'a failure', FAILURE, 'paused'],
    ['pause', 'a success', SUCCESS, 'succeeded'],
  ] as const)('%s, then %s', async ([order, , result, status]) => {
    await using world = await EngineTestWorld.open();
    const given = await underWay(world);
    await world.change(given.schedule.id, (view) => ORDERS[order](view, world.now));
    const settled = await new Settler(world).settle(given, result, world.now);
    expect(settled?.delivery.status).toBe(status);
    expect((await world.delivery(given.delivery.id)).status).toBe(status);
  });

  test('also when it is ordered at the very last moment, before the write', async () => {
    await using world = await EngineTestWorld.open();
    const given = await underWay(world);
    world.faults.before('settle', () => world.change(given.schedule.id, (view) => cancel(view, world.now)));
    const settled = await new Settler(world).settle(given, FAILURE, world.now);
    expect(settled?.delivery.status).toBe('canceled');
  });

  test('also when one order follows the other while it is being decided again', async () => {
    await using world = await EngineTestWorld.open();
    const given = await underWay(world);
    const order = (what: keyof typeof ORDERS) => () =>
      world.change(given.schedule.id, (view) => ORDERS[what](view, world.now));
    world.faults.before('settle', async () => {
      await order('pause')();
      world.faults.before('settle', order('resume'));
    });
    const settled = await new Settler(world).settle(given, FAILURE, world.now);
    expect(settled?.delivery.status).toBe('retry_scheduled');
    expect(world.faults.times('settle')).toBe(3);
  });

  test('an edit of the record that completing would overwrite is kept', async () => {
    await using world = await EngineTestWorld.open();
    const given = await underWay(world);
    await world.change(given.schedule.id, (view) => edit(view, { metadata: [['team', 'ops']] }, world.now));
    await new Settler(world).settle(given, SUCCESS, world.now);
    expect(await scheduleOf(world, given)).toMatchObject({ state: 'completed', metadata: [['team', 'ops']] });
  });
});

describe('attempts that end while others are being settled', () => {
  test('are settled together after them', async () => {
    await using world = await EngineTestWorld.open();
    const attempts = await Promise.all([underWay(world), underWay(world), underWay(world)]);
    const settler = new Settler(world);
    const settled = await Promise.all(attempts.map((given) => settler.settle(given, SUCCESS, world.now)));
    expect(settled.map((write) => write?.delivery.status)).toEqual(Array(3).fill('succeeded'));
    expect(world.faults.times('settle')).toBe(2);
  });

  test('go alone after a failure: one that cannot be stored does not keep the others from it', async () => {
    await using world = await EngineTestWorld.open();
    const attempts = await Promise.all([underWay(world), underWay(world), underWay(world)]);
    const unstorable = attempts[1]?.delivery.id;
    const store = new Proxy(world.store, {
      get: (target, name) => {
        if (name !== 'settle') return Reflect.get(target, name);
        return async (writes: Parameters<typeof target.settle>[0]) => {
          if (writes.some(({ delivery }) => delivery.id === unstorable)) throw new Error('no');
          return target.settle(writes);
        };
      },
    });
    const { insight, clock, vault, egress, timers, ids, log, metrics, node, cluster } = world;
    const settler = new Settler({
      store,
      insight,
      clock,
      vault,
      egress,
      timers,
      ids,
      log,
      metrics,
      node,
      cluster,
    });
    for (const given of attempts) void settler.settle(given, SUCCESS, world.now);
    await world.time.advance(1_000);
    const statuses = await Promise.all(
      attempts.map(async ({ delivery }) => (await world.delivery(delivery.id)).status),
    );
    expect(statuses).toEqual(['succeeded', 'claimed', 'succeeded']);
  });
});

describe('a claim that is no longer ours', () => {
  test('is left alone when it was settled already', async () => {
    await using world = await EngineTestWorld.open();
    const given = await underWay(world);
    const first = await new Settler(world).settle(given, SUCCESS, world.now);
    await world.time.advance(1_000);
    expect(await new Settler(world).settle(given, FAILURE, world.now)).toBeNull();
    expect(await world.delivery(given.delivery.id)).toEqual(first?.delivery);
    expect(await world.attempts(given.delivery.id)).toEqual([first?.attempt]);
  });

  test('is left alone when another has claimed the delivery since', async () => {
    await using world = await EngineTestWorld.open();
    const given = await underWay(world);
    const freed = await new Settler(world).settle(given, FAILURE, world.now);
    if (freed === null) throw new Error('It was ours.');
    await world.time.advance(60_000);
    const taken = world.build.claim(freed.delivery, { schedule: given.schedule, profile: null }, 'node-2');
    expect(await world.disk.claim([taken])).toEqual(['done']);
    expect(await new Settler(world).settle(given, SUCCESS, world.now)).toBeNull();
    expect(await world.delivery(given.delivery.id)).toEqual(taken.delivery);
    expect((await world.attempts(given.delivery.id)).map(({ outcome }) => outcome)).toEqual([
      'retryable',
      'retryable',
    ]);
  });

  test('is given up when its delivery is not there any more', async () => {
    await using world = await EngineTestWorld.open();
    const view = await world.schedule();
    await using elsewhere = await EngineTestWorld.open();
    const write = world.build.claim(view.pending, view);
    expect(
      await new Settler(elsewhere).settle({ ...write, schedule: view.schedule }, SUCCESS, world.now),
    ).toBeNull();
  });
});

describe('a store that is away', () => {
  test('is waited for, and the attempt ends at the instant it ended', async () => {
    await using world = await EngineTestWorld.open();
    const given = await underWay(world);
    const endedAt = world.now;
    world.faults.set('refuses', 'settle');
    const settling = new Settler(world).settle(given, FAILURE, endedAt);
    await world.time.advance(60_000);
    expect((await world.delivery(given.delivery.id)).status).toBe('claimed');
    expect(world.faults.times('settle')).toBeLessThanOrEqual(121);
    world.faults.clear();
    await world.time.advance(500);
    expect((await settling)?.attempt).toMatchObject({ finishedAt: endedAt });
    expect(await world.delivery(given.delivery.id)).toMatchObject({
      status: 'retry_scheduled',
      dueAt: endedAt + 10_000,
    });
    await world.time.advance(2_000);
    expect(world.time.pending).toBe(0);
  });

  test('is waited for also while it is being decided again', async () => {
    await using world = await EngineTestWorld.open();
    const given = await underWay(world);
    await world.change(given.schedule.id, (view) => cancel(view, world.now));
    world.faults.set('refuses', 'findWork');
    const settling = new Settler(world).settle(given, FAILURE, world.now);
    await world.time.advance(5_000);
    world.faults.clear();
    await world.time.advance(500);
    expect((await settling)?.delivery.status).toBe('canceled');
  });

  test('that lost its answer has settled it once', async () => {
    await using world = await EngineTestWorld.open();
    const given = await underWay(world);
    const endedAt = world.now;
    world.faults.set('loses', 'settle');
    const settling = new Settler(world).settle(given, SUCCESS, endedAt);
    await world.time.settled();
    world.faults.clear();
    await world.time.advance(500);
    expect(await settling).toBeNull();
    expect(await world.delivery(given.delivery.id)).toMatchObject({
      status: 'succeeded',
      finalizedAt: endedAt,
    });
  });

  test('is not waited for once it is given up, but what waits is tried once more', async () => {
    await using world = await EngineTestWorld.open();
    const [waiting, late] = [await underWay(world), await underWay(world)];
    const settler = new Settler(world);
    world.faults.set('refuses', 'settle');
    const settling = settler.settle(waiting, SUCCESS, world.now).catch(String);
    await world.time.settled();
    settler.giveUp();
    await expect(settler.settle(late, SUCCESS, world.now)).rejects.toThrow('The store is away.');
    const times = world.faults.times('settle');
    await world.time.advance(500);
    expect(await settling).toContain('The store is away.');
    expect(world.faults.times('settle')).toBe(times + 1);
    expect(world.time.pending).toBe(0);
  });
});

describe('in an outage of the store', () => {
  test('attempts that wait for it write one line a second together, and one when it is back', async () => {
    await using world = await EngineTestWorld.open();
    const attempts = await Promise.all(Array.from({ length: 50 }, () => underWay(world)));
    world.faults.set('refuses', 'settle');
    const settler = new Settler(world);
    const settled = Promise.all(attempts.map((given) => settler.settle(given, SUCCESS, world.now)));
    await world.time.advance(10_000);
    const failed = world.log.lines.filter(({ level }) => level === 'error');
    expect(failed.length).toBeGreaterThan(5);
    expect(failed.length).toBeLessThan(12);
    expect(failed[1]?.fields).toMatchObject({ count: 99, error: expect.stringContaining('away') });
    world.faults.clear();
    await world.time.advance(5_000);
    expect(await settled).toHaveLength(50);
    const recovered = world.log.lines.filter(({ level }) => level === 'info');
    expect(recovered).toMatchObject([{ message: 'attempts are settled again' }]);
  });
});

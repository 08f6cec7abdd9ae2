import { describe, expect, test } from 'vitest';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import { cancel, edit, pause, resume } from '#src/domain/schedule-lifecycle.ts';
import type { UnsettledAttempt } from '#src/ports/store.ts';
import { pause as waitFor } from '#src/ports/system.ts';
import {
  EngineHarness,
  OTHER_PARTITION,
  overridden,
  PARTITION,
  type ScheduleOptions,
} from '#test/engine-harness.ts';
import { FAILURE, HOURLY, REDIRECT, SUCCESS, scheduleIdOf } from '#test/store-contract/builders.ts';
import { Settler } from './settler.ts';

const ORDERS = { cancel, pause, resume };

/** Stores an attempt that is in flight. */
async function attemptInFlight(
  harness: EngineHarness,
  order: ScheduleOptions = {},
): Promise<UnsettledAttempt> {
  const view = await harness.schedule(order);
  await harness.time.advance(5_000);
  const write = harness.build.claim(view.pending, view);
  expect(await harness.disk.claim([write])).toEqual(['done']);
  return { ...write, schedule: write.advanced?.schedule ?? view.schedule };
}

async function scheduleOf(harness: EngineHarness, { delivery }: UnsettledAttempt) {
  const view = await harness.disk.findSchedule(PARTITION, scheduleIdOf(delivery));
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
    await using harness = await EngineHarness.open();
    const given = await attemptInFlight(harness);
    await harness.time.advance(1_234);
    const settled = await new Settler(harness).settle(given, result, harness.now);
    expect(settled).toMatchObject({
      delivery: { status },
      attempt: { finishedAt: harness.now, egressMs: 1_234 },
    });
    expect(await harness.delivery(given.delivery.id)).toEqual(settled?.delivery);
    expect(await harness.attempts(given.delivery.id)).toEqual([settled?.attempt]);
    expect((await scheduleOf(harness, given)).state).toBe(state);
  });

  test('needs one write and no read when the schedule did not change meanwhile', async () => {
    await using harness = await EngineHarness.open();
    const given = await attemptInFlight(harness, { timing: HOURLY });
    await new Settler(harness).settle(given, FAILURE, harness.now);
    expect(harness.faults.asked).toEqual(['settle']);
  });
});

describe('a change of the schedule during the attempt counts', () => {
  test.for([
    ['cancel', 'a failure', FAILURE, 'canceled'],
    ['cancel', 'a success', SUCCESS, 'succeeded'],
    ['pause', 'a failure', FAILURE, 'paused'],
    ['pause', 'a success', SUCCESS, 'succeeded'],
  ] as const)('%s, then %s', async ([order, , result, status]) => {
    await using harness = await EngineHarness.open();
    const given = await attemptInFlight(harness);
    await harness.change(scheduleIdOf(given.delivery), (view) => ORDERS[order](view, harness.now));
    const settled = await new Settler(harness).settle(given, result, harness.now);
    expect(settled?.delivery.status).toBe(status);
    expect((await harness.delivery(given.delivery.id)).status).toBe(status);
  });

  test('also when it comes just before the write', async () => {
    await using harness = await EngineHarness.open();
    const given = await attemptInFlight(harness);
    harness.faults.before('settle', () =>
      harness.change(scheduleIdOf(given.delivery), (view) => cancel(view, harness.now)),
    );
    const settled = await new Settler(harness).settle(given, FAILURE, harness.now);
    expect(settled?.delivery.status).toBe('canceled');
  });

  test('also when a second change comes while the first one is taken into account', async () => {
    await using harness = await EngineHarness.open();
    const given = await attemptInFlight(harness);
    const order = (what: keyof typeof ORDERS) => () =>
      harness.change(scheduleIdOf(given.delivery), (view) => ORDERS[what](view, harness.now));
    harness.faults.before('settle', async () => {
      await order('pause')();
      harness.faults.before('settle', order('resume'));
    });
    const settled = await new Settler(harness).settle(given, FAILURE, harness.now);
    expect(settled?.delivery.status).toBe('retry_scheduled');
    expect(harness.faults.times('settle')).toBe(3);
  });

  test('completing a schedule keeps an edit that was made meanwhile', async () => {
    await using harness = await EngineHarness.open();
    const given = await attemptInFlight(harness);
    await harness.change(scheduleIdOf(given.delivery), (view) =>
      edit(view, { metadata: [['team', 'ops']] }, harness.now),
    );
    await new Settler(harness).settle(given, SUCCESS, harness.now);
    expect(await scheduleOf(harness, given)).toMatchObject({
      state: 'completed',
      metadata: [['team', 'ops']],
    });
  });
});

describe('attempts that end while others are being settled', () => {
  test('are settled together in the next write', async () => {
    await using harness = await EngineHarness.open();
    const attempts = await Promise.all([
      attemptInFlight(harness),
      attemptInFlight(harness),
      attemptInFlight(harness),
    ]);
    const settler = new Settler(harness);
    const settled = await Promise.all(attempts.map((given) => settler.settle(given, SUCCESS, harness.now)));
    expect(settled.map((write) => write?.delivery.status)).toEqual(Array(3).fill('succeeded'));
    expect(harness.faults.times('settle')).toBe(2);
  });

  test('are settled customer by customer if the store works so, and a slow one delays no other', async () => {
    await using harness = await EngineHarness.open();
    const [slow, quick] = [await attemptInFlight(harness), await attemptInFlight(harness)];
    const never = Promise.withResolvers<never>();
    const settle: EngineHarness['store']['settle'] = (writes) =>
      writes.some(({ delivery }) => delivery.partition === OTHER_PARTITION)
        ? never.promise
        : harness.store.settle(writes);
    const store = overridden(harness.store, { worksByCustomer: true, settle });
    const settler = new Settler(overridden(harness, { store }));
    const ofOther = { ...slow, delivery: { ...slow.delivery, partition: OTHER_PARTITION } };
    void settler.settle(ofOther, SUCCESS, harness.now);
    const settling = settler.settle(quick, SUCCESS, harness.now);
    await harness.time.advance(100);
    expect((await settling)?.delivery.status).toBe('succeeded');
  });

  test('wait for each other if the store works by customer, unless the retry is due soon', async () => {
    await using harness = await EngineHarness.open();
    const [first, second] = [await attemptInFlight(harness), await attemptInFlight(harness)];
    const hurried = await attemptInFlight(harness, {
      retryPolicy: { ...DEFAULT_RETRY_POLICY, base: '240ms' },
    });
    const sizes: number[] = [];
    const settle: EngineHarness['store']['settle'] = (writes) => {
      sizes.push(writes.length);
      return harness.store.settle(writes);
    };
    const store = overridden(harness.store, { worksByCustomer: true, settle });
    const settler = new Settler(overridden(harness, { store }));
    void settler.settle(first, SUCCESS, harness.now);
    await harness.time.advance(60);
    void settler.settle(second, FAILURE, harness.now);
    expect((await settler.settle(hurried, FAILURE, harness.now))?.delivery.status).toBe('retry_scheduled');
    expect(sizes).toEqual([1]);
    await harness.time.advance(40);
    expect(sizes).toEqual([1, 2]);
    expect((await harness.delivery(first.delivery.id)).status).toBe('succeeded');
    expect((await harness.delivery(second.delivery.id)).status).toBe('retry_scheduled');
  });

  test.for([
    [30, 300],
    [9_000, 500],
  ] as const)('wait longer after a slow write: after one of %i ms, for %i ms', async ([tookMs, waitMs]) => {
    await using harness = await EngineHarness.open();
    const attempts = await Promise.all([attemptInFlight(harness), attemptInFlight(harness)]);
    const waitedMs: number[] = [];
    const settle: EngineHarness['store']['settle'] = async (writes) => {
      waitedMs.push(harness.now - endedAt);
      await waitFor(harness.timers, tookMs);
      return harness.store.settle(writes);
    };
    const store = overridden(harness.store, { worksByCustomer: true, settle });
    const settler = new Settler(overridden(harness, { store }));
    let endedAt = harness.now;
    for (const given of attempts) {
      endedAt = harness.now;
      void settler.settle(given, SUCCESS, endedAt);
      await harness.time.advance(10_000);
    }
    expect(waitedMs).toEqual([100, waitMs]);
  });

  test('are settled one by one after a failure, so that one bad row does not stop the others', async () => {
    await using harness = await EngineHarness.open();
    const attempts = await Promise.all([
      attemptInFlight(harness),
      attemptInFlight(harness),
      attemptInFlight(harness),
    ]);
    const unstorable = attempts[1]?.delivery.id;
    const store = new Proxy(harness.store, {
      get: (target, name) => {
        if (name !== 'settle') return Reflect.get(target, name);
        return async (writes: Parameters<typeof target.settle>[0]) => {
          if (writes.some(({ delivery }) => delivery.id === unstorable)) throw new Error('no');
          return target.settle(writes);
        };
      },
    });
    const { insight, clock, vault, composeNotification, egress, timers, ids, log, metrics, node, cluster } =
      harness;
    const settler = new Settler({
      store,
      insight,
      clock,
      vault,
      composeNotification,
      egress,
      timers,
      ids,
      log,
      metrics,
      node,
      cluster,
    });
    for (const given of attempts) void settler.settle(given, SUCCESS, harness.now);
    await harness.time.advance(1_000);
    const statuses = await Promise.all(
      attempts.map(async ({ delivery }) => (await harness.delivery(delivery.id)).status),
    );
    expect(statuses).toEqual(['succeeded', 'claimed', 'succeeded']);
  });
});

describe('a claim that this node no longer holds', () => {
  test('is not changed when it was settled already', async () => {
    await using harness = await EngineHarness.open();
    const given = await attemptInFlight(harness);
    const first = await new Settler(harness).settle(given, SUCCESS, harness.now);
    await harness.time.advance(1_000);
    expect(await new Settler(harness).settle(given, FAILURE, harness.now)).toBeNull();
    expect(await harness.delivery(given.delivery.id)).toEqual(first?.delivery);
    expect(await harness.attempts(given.delivery.id)).toEqual([first?.attempt]);
  });

  test('is not changed when another node has claimed the delivery since', async () => {
    await using harness = await EngineHarness.open();
    const given = await attemptInFlight(harness);
    const freed = await new Settler(harness).settle(given, FAILURE, harness.now);
    if (freed === null) throw new Error('This node held the claim.');
    await harness.time.advance(60_000);
    const taken = harness.build.claim(freed.delivery, { schedule: given.schedule, profile: null }, 'node-2');
    expect(await harness.disk.claim([taken])).toEqual(['done']);
    expect(await new Settler(harness).settle(given, SUCCESS, harness.now)).toBeNull();
    expect(await harness.delivery(given.delivery.id)).toEqual(taken.delivery);
    expect((await harness.attempts(given.delivery.id)).map(({ outcome }) => outcome)).toEqual([
      'retryable',
      'retryable',
    ]);
  });

  test('is dropped when its delivery does not exist any more', async () => {
    await using harness = await EngineHarness.open();
    const view = await harness.schedule();
    await using elsewhere = await EngineHarness.open();
    const write = harness.build.claim(view.pending, view);
    expect(
      await new Settler(elsewhere).settle({ ...write, schedule: view.schedule }, SUCCESS, harness.now),
    ).toBeNull();
  });
});

describe('while the store is unavailable', () => {
  test('settling waits, and the attempt keeps the instant of its end', async () => {
    await using harness = await EngineHarness.open();
    const given = await attemptInFlight(harness);
    const endedAt = harness.now;
    harness.faults.set('refuses', 'settle');
    const settling = new Settler(harness).settle(given, FAILURE, endedAt);
    await harness.time.advance(60_000);
    expect((await harness.delivery(given.delivery.id)).status).toBe('claimed');
    expect(harness.faults.times('settle')).toBeLessThanOrEqual(121);
    harness.faults.clear();
    await harness.time.advance(500);
    expect((await settling)?.attempt).toMatchObject({ finishedAt: endedAt });
    expect(await harness.delivery(given.delivery.id)).toMatchObject({
      status: 'retry_scheduled',
      dueAt: endedAt + 10_000,
    });
    await harness.time.advance(2_000);
    expect(harness.time.pending).toBe(0);
  });

  test('settling waits also when the delivery has to be read again', async () => {
    await using harness = await EngineHarness.open();
    const given = await attemptInFlight(harness);
    await harness.change(scheduleIdOf(given.delivery), (view) => cancel(view, harness.now));
    harness.faults.set('refuses', 'loadDeliveries');
    const settling = new Settler(harness).settle(given, FAILURE, harness.now);
    await harness.time.advance(5_000);
    harness.faults.clear();
    await harness.time.advance(500);
    expect((await settling)?.delivery.status).toBe('canceled');
  });

  test('an attempt is settled once, even if the answer of the store is lost', async () => {
    await using harness = await EngineHarness.open();
    const given = await attemptInFlight(harness);
    const endedAt = harness.now;
    harness.faults.set('loses', 'settle');
    const settling = new Settler(harness).settle(given, SUCCESS, endedAt);
    await harness.time.settled();
    harness.faults.clear();
    await harness.time.advance(500);
    expect(await settling).toBeNull();
    expect(await harness.delivery(given.delivery.id)).toMatchObject({
      status: 'succeeded',
      finalizedAt: endedAt,
    });
  });

  test('a stop ends the wait: waiting attempts are written once more, and later ones fail at once', async () => {
    await using harness = await EngineHarness.open();
    const [waiting, late] = [await attemptInFlight(harness), await attemptInFlight(harness)];
    const settler = new Settler(harness);
    harness.faults.set('refuses', 'settle');
    const settling = settler.settle(waiting, SUCCESS, harness.now).catch(String);
    await harness.time.settled();
    settler.stopWaiting();
    await expect(settler.settle(late, SUCCESS, harness.now)).rejects.toThrow('The store is away.');
    const times = harness.faults.times('settle');
    await harness.time.advance(500);
    expect(await settling).toContain('The store is away.');
    expect(harness.faults.times('settle')).toBe(times + 1);
    expect(harness.time.pending).toBe(0);
  });
});

describe('the log of an outage', () => {
  test('has one line a second for all waiting attempts, and one line when the store is back', async () => {
    await using harness = await EngineHarness.open();
    const attempts = await Promise.all(Array.from({ length: 50 }, () => attemptInFlight(harness)));
    harness.faults.set('refuses', 'settle');
    const settler = new Settler(harness);
    const settled = Promise.all(attempts.map((given) => settler.settle(given, SUCCESS, harness.now)));
    await harness.time.advance(10_000);
    const failed = harness.log.lines.filter(({ level }) => level === 'error');
    expect(failed.length).toBeGreaterThan(5);
    expect(failed.length).toBeLessThan(12);
    expect(failed[1]?.fields).toMatchObject({ count: 99, error: expect.stringContaining('away') });
    harness.faults.clear();
    await harness.time.advance(5_000);
    expect(await settled).toHaveLength(50);
    const recovered = harness.log.lines.filter(({ level }) => level === 'info');
    expect(recovered).toMatchObject([{ message: 'attempts are settled again' }]);
  });
});

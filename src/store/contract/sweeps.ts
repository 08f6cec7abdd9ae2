import { describe, expect, test } from 'vitest';
import { DELIVERY_STATUSES, type Delivery, type DeliveryStatus } from '#src/domain/delivery.ts';
import * as deliveryLife from '#src/domain/delivery-life.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-life.ts';
import { SWEPT_TOGETHER_MAX, SWEPT_WITH_ORDER_MAX } from '#src/store/sql/sweep-verbs.ts';
import { type Bench, pendingOf, type Suite } from './bench.ts';
import { HOUR_MS, HOURLY, SUCCESS } from './builders.ts';
import { crowd, deliveriesOf } from './crowd.ts';
import { ALL_DELIVERIES, allPages } from './everything.ts';

const STEPS = { pause: deliveryLife.pause, resume: deliveryLife.resume, cancel: deliveryLife.cancel };
const ORDERS = { pause: life.pause, resume: life.resume, cancel: life.cancel };
type Order = keyof typeof ORDERS;

export function sweepsContract(suite: Suite): void {
  describe.for(['pause', 'resume', 'cancel'] as const)('the %s of a schedule', (order) => {
    test('does to each of its other deliveries what the life of a delivery says, and no more', async () => {
      const bench = await suite.bench();
      const before = await crowded(bench, order);
      const others = before.filter((delivery) => delivery.id !== before[0]?.id);
      expect(new Set(others.map(({ status }) => status)).size).toBe(DELIVERY_STATUSES.length);

      const now = bench.tick();
      const { scheduleId } = before[0] ?? others[0] ?? raise();
      const view = await bench.change(scheduleId, (read) => ORDERS[order](read, now));

      const after = await deliveriesOf(bench, scheduleId);
      const expected = before.map((delivery) =>
        delivery.id === view.schedule.pendingId ? view.pending : swept(delivery, order, now),
      );
      expect(after).toEqual(expected);
    });

    test('leaves other schedules alone, and other partitions', async () => {
      const bench = await suite.bench();
      const [first] = await crowded(bench, order);
      const other = await crowded(bench, order);
      const [otherFirst] = other;
      const foreign = bench.schedule({ partition: bench.neighbour, id: first?.scheduleId ?? raise() });
      const elsewhere: Delivery = { ...foreign.pending, status: order === 'resume' ? 'paused' : 'scheduled' };
      await bench.store.addSchedule({
        schedule: foreign.schedule,
        pending: elsewhere,
        payload: null,
        profile: null,
        receipt: null,
      });
      await bench.change(first?.scheduleId ?? raise(), (read) => ORDERS[order](read, bench.tick()));
      expect(await deliveriesOf(bench, otherFirst?.scheduleId ?? raise())).toEqual(other);
      expect(await bench.store.findDelivery(bench.neighbour, elsewhere.id)).toEqual(elsewhere);
    });

    test('that is stale sweeps nothing', async () => {
      const bench = await suite.bench();
      const [first] = await crowded(bench, order);
      const read = await bench.view(first?.scheduleId ?? raise());
      await bench.change(read.schedule.id, (view) => life.edit(view, { ttl: '1h' }, bench.tick()));
      const late = ORDERS[order](read, bench.tick()) ?? raise();
      const replace = () => bench.store.replaceSchedule({ ...late, receipt: null });
      expect(await bench.changesNothing(replace)).toBe('stale');
    });

    test('makes what was decided on a swept delivery stale', async () => {
      const bench = await suite.bench();
      const deliveries = await crowded(bench, order);
      const view: ScheduleView = await bench.view(deliveries[0]?.scheduleId ?? raise());
      const touched = deliveries.filter(
        ({ id, status }) => id !== view.schedule.pendingId && movesBy(status, order),
      );
      await bench.change(view.schedule.id, (read) => ORDERS[order](read, bench.tick()));
      const late = touched.map((delivery) => ({
        ...bench.claim({ ...delivery, status: 'scheduled' }, view),
        advanced: null,
      }));
      expect(late.length).toBeGreaterThan(1);
      expect(await bench.changesNothing(() => bench.store.claim(late))).toEqual(late.map(() => 'stale'));
    });
  });
}

/** More than a store changes in one step, of each status. */
const MANY = 2 * SWEPT_TOGETHER_MAX + 1;

export function unfinishedSweepsContract(suite: Suite): void {
  describe('a sweep of more deliveries than one step may change', () => {
    test.for([
      ['pause', 'paused', 'paused'],
      ['cancel', 'canceled', 'canceled'],
    ] as const)('a %s goes on piece by piece, and none of them can be claimed meanwhile', async (row) => {
      const [order, untriedTo, triedTo] = row;
      const bench = await suite.bench();
      const { schedule, others } = await numerous(bench);
      const now = bench.tick();
      const view = await bench.change(schedule.id, (read) => ORDERS[order](read, now));
      const unfinished = (await bench.store.findSweep(bench.partition, schedule.id)) ?? raise();
      expect(unfinished).toMatchObject({ partition: bench.partition, scheduleId: schedule.id, order });
      expect(unfinished.orderedAt).toBe(now);
      expect(await bench.store.listSweeps(1_000)).toContainEqual(unfinished);

      const before = await allOf(bench, schedule.id);
      const left = before.filter(({ id, status }) => id !== view.pending?.id && movesBy(status, order));
      expect(left).toHaveLength(others.length - 2 * SWEPT_WITH_ORDER_MAX);
      const [one] = left;
      const work = await bench.work(one ?? raise());
      expect(work.sweep).toEqual(unfinished);
      expect(deliveryLife.isToBeSwept(work.delivery, work.sweep)).toBe(true);
      const claims = left.slice(0, 3).map((each) => ({ ...bench.claim(each, view), advanced: null }));
      expect(await bench.changesNothing(() => bench.store.claim(claims))).toEqual(claims.map(() => 'stale'));

      // Two statuses, of each a full piece and the rest.
      expect(await finish(bench, schedule.id)).toBe(4);
      const after = await allOf(bench, schedule.id);
      const expected = others.map(({ id, attemptCount }) => ({
        id,
        status: attemptCount === 0 ? untriedTo : triedTo,
        finalizedAt: order === 'cancel' ? now : null,
        reserved: false,
        revision: 2,
      }));
      expect(after.filter(({ id }) => others.some((other) => other.id === id))).toMatchObject(expected);
      expect(await bench.store.listSweeps(1_000)).not.toContainEqual(unfinished);
    });

    test('a resume goes on piece by piece, and what it has reached can be claimed meanwhile', async () => {
      const bench = await suite.bench();
      const { schedule, others } = await numerous(bench);
      await bench.change(schedule.id, (read) => life.pause(read, bench.tick()));
      await finish(bench, schedule.id);
      const view = await bench.change(schedule.id, (read) => life.resume(read, bench.tick()));
      const reached = (await allOf(bench, schedule.id)).filter(
        ({ id, status }) => id !== view.pending?.id && deliveryLife.isWaiting(status),
      );
      expect(reached).toHaveLength(SWEPT_WITH_ORDER_MAX);
      const [one] = reached;
      const work = await bench.work(one ?? raise());
      expect(work.sweep).toMatchObject({ order: 'resume' });
      expect(deliveryLife.isToBeSwept(work.delivery, work.sweep)).toBe(false);
      const claim = { ...bench.claim(one ?? raise(), view), advanced: null };
      expect(await bench.store.claim([claim])).toEqual(['done']);
      await finish(bench, schedule.id);
      const statuses = (await allOf(bench, schedule.id)).filter(({ id }) => id !== one?.id);
      expect(new Set(statuses.map(({ status }) => status))).toEqual(
        new Set(['scheduled', 'retry_scheduled', 'succeeded']),
      );
      expect(statuses.filter(({ status }) => deliveryLife.isWaiting(status))).toHaveLength(others.length);
    });

    test.for([
      ['pause', 'resume', ['scheduled', 'retry_scheduled']],
      ['pause', 'cancel', ['canceled']],
    ] as const)('a %s, then a %s before it has ended: the last order counts', async ([first, then, to]) => {
      const bench = await suite.bench();
      const { schedule, others } = await numerous(bench);
      await bench.change(schedule.id, (read) => ORDERS[first](read, bench.tick()));
      const early = (await bench.store.findSweep(bench.partition, schedule.id)) ?? raise();
      await bench.change(schedule.id, (read) => ORDERS[then](read, bench.tick()));
      // Whoever still carries out the first order does nothing any more.
      const late = await bench.store.findSweep(bench.partition, schedule.id);
      await bench.changesNothing(() => bench.store.carryOnSweep(early, null));
      expect(await bench.store.findSweep(bench.partition, schedule.id)).toEqual(late);
      await finish(bench, schedule.id);
      const own = new Set(others.map(({ id }) => id));
      const after = (await allOf(bench, schedule.id)).filter(({ id }) => own.has(id));
      expect(new Set(after.map(({ status }) => status))).toEqual(new Set(to));
    });

    test('a resume, then a pause before it has ended: the last order counts', async () => {
      const bench = await suite.bench();
      const { schedule, others } = await numerous(bench);
      await bench.change(schedule.id, (read) => life.pause(read, bench.tick()));
      await finish(bench, schedule.id);
      await bench.change(schedule.id, (read) => life.resume(read, bench.tick()));
      await bench.change(schedule.id, (read) => life.pause(read, bench.tick()));
      await finish(bench, schedule.id);
      const own = new Set(others.map(({ id }) => id));
      const after = (await allOf(bench, schedule.id)).filter(({ id }) => own.has(id));
      expect(new Set(after.map(({ status }) => status))).toEqual(new Set(['paused']));
    });

    test('leaves replays alone that were made after the order, and an edit in between', async () => {
      const bench = await suite.bench();
      const { schedule, original } = await numerous(bench);
      await bench.change(schedule.id, (read) => life.cancel(read, bench.tick()));
      bench.tick();
      const replayed = await bench.addReplay(original);
      const claim = { ...bench.claim(replayed, await bench.view(schedule.id)), advanced: null };
      await bench.change(schedule.id, (read) => life.edit(read, { ttl: '1h' }, bench.tick()));
      expect(await finish(bench, schedule.id)).toBeGreaterThan(0);
      expect(await bench.delivery(replayed.id)).toEqual(replayed);
      expect(await bench.store.claim([claim])).toEqual(['done']);
    });

    test('outlives the store, and is finished by whoever finds it', async () => {
      const bench = await suite.bench();
      const { schedule, others } = await numerous(bench);
      await bench.change(schedule.id, (read) => life.cancel(read, bench.tick()));
      await bench.reopen();
      await Promise.all([finish(bench, schedule.id), finish(bench, schedule.id)]);
      const canceled = (await allOf(bench, schedule.id)).filter(({ status }) => status === 'canceled');
      // And the pending one.
      expect(canceled).toHaveLength(others.length + 1);
    });

    test('that belongs to a state which the schedule has left without it is forgotten', async () => {
      const bench = await suite.bench();
      const { schedule } = await numerous(bench);
      await bench.change(schedule.id, (read) => life.pause(read, bench.tick()));
      const resumed = life.resume(await bench.view(schedule.id), bench.tick()) ?? raise();
      expect(await bench.store.replaceSchedule({ ...resumed, sweep: null, receipt: null })).toBe('done');
      const unfinished = (await bench.store.findSweep(bench.partition, schedule.id)) ?? raise();
      await bench.changesNothing(() => bench.store.carryOnSweep(unfinished, null));
      expect(await bench.store.findSweep(bench.partition, schedule.id)).toBeNull();
    });

    test('is listed before the second of another customer, however old that is', async () => {
      const [one, other] = [await suite.bench(), await suite.bench()];
      const canceled = async (bench: Bench) => {
        const { schedule } = await numerous(bench, SWEPT_WITH_ORDER_MAX + 1);
        await bench.change(schedule.id, (read) => life.cancel(read, bench.tick()));
        return schedule.id;
      };
      const [first, second] = [await canceled(one), await canceled(one)];
      other.tick(HOUR_MS * 24);
      const third = await canceled(other);
      const listed = (await suite.store.listSweeps(1_000)).map(({ scheduleId }) => scheduleId);
      const own = new Set([first, second, third]);
      expect(listed.filter((id) => own.has(id))).toEqual([first, third, second]);
      await finish(one, first);
      await finish(one, second);
      await finish(other, third);
    });

    test('of no more than one step leaves nothing to do', async () => {
      const bench = await suite.bench();
      const { schedule } = await crowd(bench);
      await bench.change(schedule.id, (read) => life.cancel(read, bench.tick()));
      expect(await bench.store.findSweep(bench.partition, schedule.id)).toBeNull();
    });
  });
}

/** A recurring schedule with many replays that wait, half of them tried before. */
async function numerous(bench: Bench, ofEachStatus = MANY) {
  const view = await bench.addSchedule({ timing: HOURLY });
  bench.tick(HOUR_MS);
  const original = await bench.fire(pendingOf(view), SUCCESS);
  const others = Array.from({ length: 2 * ofEachStatus }, (_, index): Delivery => {
    const wasTried = index % 2 === 1;
    return {
      ...bench.replay(original),
      status: wasTried ? 'retry_scheduled' : 'scheduled',
      attemptCount: wasTried ? 3 : 0,
      reserved: index % 3 === 0,
    };
  });
  await Promise.all(others.map((delivery) => bench.store.addReplay({ delivery, receipt: null })));
  return { schedule: view.schedule, original, others };
}

/** Carries out all that is left; answers how many pieces that took. */
async function finish(bench: Bench, id: ScheduleId): Promise<number> {
  const unfinished = await bench.store.findSweep(bench.partition, id);
  if (unfinished === null) return 0;
  let pieces = 0;
  let place = await bench.store.carryOnSweep(unfinished, null);
  for (; place !== null; pieces++) place = await bench.store.carryOnSweep(unfinished, place);
  expect(await bench.store.findSweep(bench.partition, id)).toBeNull();
  return pieces;
}

/** Oldest first, however many there are. */
async function allOf(bench: Bench, scheduleId: ScheduleId): Promise<readonly Delivery[]> {
  const filter = { ...ALL_DELIVERIES, scheduleId };
  const deliveries = await allPages(
    (page) => bench.store.listDeliveries(bench.partition, filter, page),
    ({ id }: Delivery) => id,
  );
  return deliveries.toReversed();
}

function raise(): never {
  throw new Error('The test lacks what it is about.');
}

function movesBy(status: DeliveryStatus, order: Order): boolean {
  return deliveryLife.LIFE[status][order] !== undefined;
}

function swept(delivery: Delivery, order: Order, now: Instant): Delivery {
  return movesBy(delivery.status, order) ? STEPS[order](delivery, now) : delivery;
}

/** A crowd, ready for `order`. Oldest first. */
async function crowded(bench: Bench, order: Order): Promise<readonly Delivery[]> {
  const { schedule } = await crowd(bench);
  if (order === 'resume') await pauseOnly(bench, schedule.id);
  return deliveriesOf(bench, schedule.id);
}

/** Pauses the schedule and its pending delivery, and leaves the crowd as it is. */
async function pauseOnly(bench: Bench, id: ScheduleId): Promise<void> {
  const paused = life.pause(await bench.view(id), bench.tick()) ?? raise();
  expect(await bench.store.replaceSchedule({ ...paused, sweep: null, receipt: null })).toBe('done');
}

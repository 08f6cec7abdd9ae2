import { describe, expect, test } from 'vitest';
import { DELIVERY_STATUSES, type Delivery, type DeliveryStatus } from '#src/domain/delivery.ts';
import * as deliveryLife from '#src/domain/delivery-life.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-life.ts';
import type { Bench, Suite } from './bench.ts';
import { crowd, deliveriesOf } from './crowd.ts';

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

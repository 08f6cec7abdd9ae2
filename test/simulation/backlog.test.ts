import { expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { Backlog } from './backlog.ts';

const NOW = instant(1_000_000);
const ID = 'dlv_1' as DeliveryId;

type Known = Pick<Delivery, 'scheduledFor' | 'status' | 'notificationOf'>;

function durable(scheduledFor: number, status: Delivery['status']) {
  const delivery: Known = { scheduledFor: instant(scheduledFor), status, notificationOf: null };
  return { open: new Set([ID]), deliveries: new Map([[ID, delivery]]) };
}

test('a delivery that is due stays in the backlog until it ends', () => {
  const observer = durable(NOW, 'scheduled');
  const backlog = new Backlog(observer, NOW);
  observer.deliveries.set(ID, { scheduledFor: NOW, status: 'retry_scheduled', notificationOf: null });
  expect(backlog.remaining()).toBe(ID);
  observer.open.delete(ID);
  expect(backlog.remaining()).toBeNull();
});

test('a delivery that its customer moves to a later instant or pauses leaves the backlog', () => {
  const observer = durable(NOW, 'retry_scheduled');
  const backlog = new Backlog(observer, NOW);
  observer.deliveries.set(ID, {
    scheduledFor: instant(NOW + 86_400_000),
    status: 'retry_scheduled',
    notificationOf: null,
  });
  expect(backlog.remaining()).toBeNull();
  observer.deliveries.set(ID, { scheduledFor: NOW, status: 'paused', notificationOf: null });
  expect(backlog.remaining()).toBeNull();
  observer.deliveries.set(ID, { scheduledFor: NOW, status: 'retry_scheduled', notificationOf: null });
  expect(backlog.remaining()).toBe(ID);
});

test('a delivery that is due later is not in the backlog', () => {
  const observer = durable(NOW + 1, 'scheduled');
  const backlog = new Backlog(observer, NOW);
  expect(backlog.remaining()).toBeNull();
});

test('what tells of a delivery of the backlog belongs to it, until it ends', () => {
  const observer = durable(NOW, 'scheduled');
  const backlog = new Backlog(observer, NOW);
  observer.open.delete(ID);
  const told = 'dlv_2' as DeliveryId;
  observer.open.add(told);
  observer.deliveries.set(told, {
    scheduledFor: instant(NOW + 5),
    status: 'scheduled',
    notificationOf: ID,
  });
  expect(backlog.remaining()).toBe(told);
  observer.open.delete(told);
  expect(backlog.remaining()).toBeNull();
});

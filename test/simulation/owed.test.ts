import { expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { Owed } from './owed.ts';

const NOW = instant(1_000_000);
const ID = 'dlv_1' as DeliveryId;

function durable(scheduledFor: number, status: Delivery['status']) {
  const deliveries = new Map([[ID, { scheduledFor: instant(scheduledFor), status }]]);
  return { open: new Set([ID]), deliveries };
}

test('a delivery whose instant has come is owed until it ends', () => {
  const witness = durable(NOW, 'scheduled');
  const owed = new Owed(witness, NOW);
  witness.deliveries.set(ID, { scheduledFor: NOW, status: 'retry_scheduled' });
  expect(owed.left()).toBe(ID);
  witness.open.delete(ID);
  expect(owed.left()).toBeNull();
});

test('a delivery that its customer moves to a later instant, or pauses, is not owed any more', () => {
  const witness = durable(NOW, 'retry_scheduled');
  const owed = new Owed(witness, NOW);
  witness.deliveries.set(ID, { scheduledFor: instant(NOW + 86_400_000), status: 'retry_scheduled' });
  expect(owed.left()).toBeNull();
  witness.deliveries.set(ID, { scheduledFor: NOW, status: 'paused' });
  expect(owed.left()).toBeNull();
  witness.deliveries.set(ID, { scheduledFor: NOW, status: 'retry_scheduled' });
  expect(owed.left()).toBe(ID);
});

test('a delivery whose instant comes later is not owed', () => {
  const witness = durable(NOW + 1, 'scheduled');
  const owed = new Owed(witness, NOW);
  expect(owed.left()).toBeNull();
});

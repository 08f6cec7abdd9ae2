import { expect, test } from 'vitest';
import { BatchesInFlight } from './batches-in-flight.ts';

test('a batch counts until it has ended, and the caller hears of its end after that', async () => {
  const batches = new BatchesInFlight();
  const work = Promise.withResolvers<void>();
  const ended = batches.add('overdue', work.promise);
  void batches.add('overdue', work.promise);
  expect([batches.size, batches.isFull('overdue'), batches.isFull('in_time')]).toEqual([2, true, false]);
  work.resolve();
  await ended;
  expect(batches.isFull('overdue')).toBe(false);
});

test('the end of all batches comes after the large deliveries that they added', async () => {
  const batches = new BatchesInFlight();
  const batch = Promise.withResolvers<void>();
  const payload = Promise.withResolvers<void>();
  void batches.add('in_time', batch.promise);
  const state = { hasEnded: false };
  const ended = batches.ended().then(() => {
    state.hasEnded = true;
    return state;
  });
  batches.addLargeDelivery(payload.promise);
  batch.resolve();
  await new Promise(setImmediate);
  expect(state.hasEnded).toBe(false);
  payload.resolve();
  await ended;
  expect(state.hasEnded).toBe(true);
});

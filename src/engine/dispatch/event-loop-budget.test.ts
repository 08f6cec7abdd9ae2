import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { VirtualTime } from '#test/engine-harness.ts';
import { EventLoopBudget } from './event-loop-budget.ts';
import { BATCH_SIZE_MIN } from './overdue-batch-size.ts';

function setUp(isShared: boolean, worksByCustomer = false) {
  const time = new VirtualTime(instant(0));
  const counts = { woken: 0, restsEnded: 0 };
  const budget = new EventLoopBudget({
    timers: time,
    throttledTimers: time,
    store: { worksByCustomer },
    load: { isShared },
    ready: { endRests: () => void counts.restsEnded++ },
    waker: { soon: () => void counts.woken++ },
  });
  return { time, budget, counts };
}

test('deliveries in time are bounded in one turn of the event loop, and go on in the next', async () => {
  const { time, budget, counts } = setUp(false);
  for (let begun = 0; begun < 256; begun += 64) {
    expect(budget.batchMax('in_time')).toBe(64);
    budget.began('in_time', 64);
  }
  expect(budget.batchMax('in_time')).toBe(0);
  await time.advance(0);
  expect(budget.batchMax('in_time')).toBe(64);
  expect(counts).toEqual({ woken: 2, restsEnded: 1 });
});

test('fewer begin at once while customers share the process, and a customer has a bound of its own', () => {
  const shared = setUp(true).budget;
  expect([shared.dueMax, shared.batchMax('in_time'), shared.ofEachMax('in_time')]).toEqual([64, 32, 16]);
  expect(shared.ofEachMax('overdue')).toBe(Number.POSITIVE_INFINITY);
  expect(setUp(false).budget.ofEachMax('in_time')).toBe(Number.POSITIVE_INFINITY);
});

test('many begin at once where the store works by customer, whether customers share the process or not', () => {
  for (const isShared of [true, false]) {
    const { budget } = setUp(isShared, true);
    expect([budget.dueMax, budget.batchMax('in_time'), budget.ofEachMax('in_time')]).toEqual([512, 512, 128]);
    expect(budget.batchMax('overdue')).toBe(8 * BATCH_SIZE_MIN);
  }
});

test('overdue work begins one batch at a time, and full batches that are quick grow', async () => {
  const { time, budget } = setUp(false);
  expect(budget.batchMax('overdue')).toBe(BATCH_SIZE_MIN);
  budget.began('overdue', BATCH_SIZE_MIN);
  expect(budget.batchMax('overdue')).toBe(0);
  budget.ended('overdue', BATCH_SIZE_MIN, BATCH_SIZE_MIN, 5);
  await time.advance(1);
  expect(budget.batchMax('overdue')).toBeGreaterThan(BATCH_SIZE_MIN);
});

test('a batch that was not full says nothing about the size', async () => {
  const { time, budget } = setUp(false);
  budget.began('overdue', 1);
  budget.ended('overdue', 1, BATCH_SIZE_MIN, 5);
  await time.advance(1);
  expect(budget.batchMax('overdue')).toBe(BATCH_SIZE_MIN);
});

import { expect, test } from 'vitest';
import { ACTIVE_MS, CustomerActivity, customerActivity } from './customer-activity.ts';

function setUp() {
  const stopwatch = { now: 0, elapsed: () => stopwatch.now };
  const around = new CustomerActivity(stopwatch);
  const noticeAt = (now: number, customer: string) => {
    stopwatch.now = now;
    around.record(customer);
    return around.hasSeveral;
  };
  return { stopwatch, around, noticeAt };
}

test('one customer is alone, however much it has to do', () => {
  const { noticeAt } = setUp();
  expect([0, 1, 10, 5_000].map((now) => noticeAt(now, 'a'))).toEqual([false, false, false, false]);
});

test('two that have something to do at about the same time are several, until one of them has been gone for a while', () => {
  const { noticeAt } = setUp();
  expect(noticeAt(0, 'a')).toBe(false);
  expect(noticeAt(900, 'b')).toBe(true);
  expect(noticeAt(1_000, 'a')).toBe(true);
  expect(noticeAt(1_999, 'a')).toBe(true);
  expect(noticeAt(1_000 + ACTIVE_MS, 'a')).toBe(false);
});

test('one after the other is not several', () => {
  const { noticeAt } = setUp();
  expect(noticeAt(0, 'a')).toBe(false);
  expect(noticeAt(ACTIVE_MS, 'b')).toBe(false);
});

test('everything that goes by the same stopwatch has the same customers around', () => {
  const { stopwatch } = setUp();
  expect(customerActivity(stopwatch)).toBe(customerActivity(stopwatch));
});

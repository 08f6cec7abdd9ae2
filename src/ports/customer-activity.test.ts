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

test('one customer alone does not count as several, with any activity', () => {
  const { noticeAt } = setUp();
  expect([0, 1, 10, 5_000].map((now) => noticeAt(now, 'a'))).toEqual([false, false, false, false]);
});

test('two customers that are active at about the same time count as several, until one is inactive for a while', () => {
  const { noticeAt } = setUp();
  expect(noticeAt(0, 'a')).toBe(false);
  expect(noticeAt(900, 'b')).toBe(true);
  expect(noticeAt(1_000, 'a')).toBe(true);
  expect(noticeAt(1_999, 'a')).toBe(true);
  expect(noticeAt(1_000 + ACTIVE_MS, 'a')).toBe(false);
});

test('two customers one after the other do not count as several', () => {
  const { noticeAt } = setUp();
  expect(noticeAt(0, 'a')).toBe(false);
  expect(noticeAt(ACTIVE_MS, 'b')).toBe(false);
});

test('all users of a stopwatch share one activity', () => {
  const { stopwatch } = setUp();
  expect(customerActivity(stopwatch)).toBe(customerActivity(stopwatch));
});

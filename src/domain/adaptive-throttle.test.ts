import { describe, expect, test } from 'vitest';
import { AdaptiveThrottle, DELAY_MS_MAX } from './adaptive-throttle.ts';

/** Records timers that are this late, one every 10 ms. */
function afterLate(throttle: AdaptiveThrottle, lateMs: readonly number[], from = 0): number {
  lateMs.forEach((late, index) => {
    throttle.recordTimer(late, from + 10 * index);
  });
  return throttle.delayMs(from + 10 * lateMs.length);
}

function times(count: number, lateMs: number): readonly number[] {
  return Array.from({ length: count }, () => lateMs);
}

describe('the delay of an adaptive throttle', () => {
  test('is zero while timers are punctual', () => {
    expect(afterLate(new AdaptiveThrottle(), [0, 1, 5, 0])).toBe(0);
  });

  test('grows quickly while timers are late, up to a bound', () => {
    const throttle = new AdaptiveThrottle();
    expect(afterLate(throttle, [6])).toBe(3);
    expect(afterLate(throttle, times(5, 6), 100)).toBeGreaterThan(15);
    expect(afterLate(throttle, times(50, 20), 1_000)).toBe(DELAY_MS_MAX);
  });

  test('is at once half of the lateness of a timer', () => {
    expect(afterLate(new AdaptiveThrottle(), [80])).toBe(40);
  });

  test('shrinks slowly to zero once timers are punctual again', () => {
    const throttle = new AdaptiveThrottle();
    afterLate(throttle, times(50, 20));
    const slower = afterLate(throttle, times(10, 0), 500);
    expect(slower).toBeGreaterThan(DELAY_MS_MAX / 2);
    expect(slower).toBeLessThan(DELAY_MS_MAX);
    expect(afterLate(throttle, times(500, 0), 600)).toBe(0);
  });

  test('halves again and again while there are no timers', () => {
    const throttle = new AdaptiveThrottle();
    throttle.recordTimer(80, 0);
    expect([499, 500, 1_000, 10_000].map((now) => throttle.delayMs(now))).toEqual([40, 20, 10, 0]);
    expect(afterLate(throttle, [6], 10_000)).toBe(3);
  });

  test('is longer after a long piece of work, in proportion up to a bound', () => {
    const throttle = new AdaptiveThrottle();
    expect(throttle.delayMsAfter(1_000, 0)).toBe(0);
    afterLate(throttle, times(50, 20));
    expect(throttle.delayMsAfter(1, 500)).toBe(DELAY_MS_MAX);
    expect(throttle.delayMsAfter(10, 500)).toBe(DELAY_MS_MAX);
    expect(throttle.delayMsAfter(40, 500)).toBe(4 * DELAY_MS_MAX);
    expect(throttle.delayMsAfter(60_000, 500)).toBe(5 * DELAY_MS_MAX);
  });

  test('counts timers of the same moment once', () => {
    const throttle = new AdaptiveThrottle();
    for (let n = 0; n < 20; n++) throttle.recordTimer(50, 7);
    expect(throttle.delayMs(7)).toBe(25);
  });
});

import { describe, expect, test } from 'vitest';
import { AdaptiveThrottle, DELAY_MS_MAX } from './adaptive-throttle.ts';

/** Timers that come so late, every 10 ms. */
function afterLate(slowdown: AdaptiveThrottle, lateMs: readonly number[], from = 0): number {
  lateMs.forEach((late, index) => {
    slowdown.recordTimer(late, from + 10 * index);
  });
  return slowdown.delayMs(from + 10 * lateMs.length);
}

function times(count: number, lateMs: number): readonly number[] {
  return Array.from({ length: count }, () => lateMs);
}

describe('a slowdown', () => {
  test('rests not at all while timers come in time', () => {
    expect(afterLate(new AdaptiveThrottle(), [0, 1, 5, 0])).toBe(0);
  });

  test('grows quickly while timers come late, up to a bound', () => {
    const slowdown = new AdaptiveThrottle();
    expect(afterLate(slowdown, [6])).toBe(3);
    expect(afterLate(slowdown, times(5, 6), 100)).toBeGreaterThan(15);
    expect(afterLate(slowdown, times(50, 20), 1_000)).toBe(DELAY_MS_MAX);
  });

  test('is half as long as a timer came late, at once', () => {
    expect(afterLate(new AdaptiveThrottle(), [80])).toBe(40);
  });

  test('shrinks slowly once they come in time again, down to nothing', () => {
    const slowdown = new AdaptiveThrottle();
    afterLate(slowdown, times(50, 20));
    const slower = afterLate(slowdown, times(10, 0), 500);
    expect(slower).toBeGreaterThan(DELAY_MS_MAX / 2);
    expect(slower).toBeLessThan(DELAY_MS_MAX);
    expect(afterLate(slowdown, times(500, 0), 600)).toBe(0);
  });

  test('is forgotten while no timer says anything', () => {
    const slowdown = new AdaptiveThrottle();
    slowdown.recordTimer(80, 0);
    expect([499, 500, 1_000, 10_000].map((now) => slowdown.delayMs(now))).toEqual([40, 20, 10, 0]);
    expect(afterLate(slowdown, [6], 10_000)).toBe(3);
  });

  test('is longer after a long piece of work, in proportion up to a bound', () => {
    const slowdown = new AdaptiveThrottle();
    expect(slowdown.delayMsAfter(1_000, 0)).toBe(0);
    afterLate(slowdown, times(50, 20));
    expect(slowdown.delayMsAfter(1, 500)).toBe(DELAY_MS_MAX);
    expect(slowdown.delayMsAfter(10, 500)).toBe(DELAY_MS_MAX);
    expect(slowdown.delayMsAfter(40, 500)).toBe(4 * DELAY_MS_MAX);
    expect(slowdown.delayMsAfter(60_000, 500)).toBe(5 * DELAY_MS_MAX);
  });

  test('counts timers of one moment once', () => {
    const slowdown = new AdaptiveThrottle();
    for (let n = 0; n < 20; n++) slowdown.recordTimer(50, 7);
    expect(slowdown.delayMs(7)).toBe(25);
  });
});

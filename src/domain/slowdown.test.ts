import { describe, expect, test } from 'vitest';
import { REST_MS_MAX, Slowdown } from './slowdown.ts';

/** Timers that come so late, every 10 ms. */
function afterLate(slowdown: Slowdown, lateMs: readonly number[], from = 0): number {
  lateMs.forEach((late, index) => {
    slowdown.timerCame(late, from + 10 * index);
  });
  return slowdown.restMs;
}

function times(count: number, lateMs: number): readonly number[] {
  return Array.from({ length: count }, () => lateMs);
}

describe('a slowdown', () => {
  test('rests not at all while timers come in time', () => {
    expect(afterLate(new Slowdown(), [0, 1, 5, 0])).toBe(0);
  });

  test('grows quickly while timers come late, up to a bound', () => {
    const slowdown = new Slowdown();
    expect(afterLate(slowdown, [20])).toBe(1);
    expect(afterLate(slowdown, times(5, 20), 100)).toBeGreaterThan(5);
    expect(afterLate(slowdown, times(50, 20), 1_000)).toBe(REST_MS_MAX);
  });

  test('shrinks slowly once they come in time again, down to nothing', () => {
    const slowdown = new Slowdown();
    afterLate(slowdown, times(50, 20));
    const slower = afterLate(slowdown, times(10, 0), 1_000);
    expect(slower).toBeGreaterThan(REST_MS_MAX / 2);
    expect(slower).toBeLessThan(REST_MS_MAX);
    expect(afterLate(slowdown, times(500, 0), 2_000)).toBe(0);
  });

  test('is longer after a long piece of work, in proportion up to a bound', () => {
    const slowdown = new Slowdown();
    expect(slowdown.restMsAfter(1_000)).toBe(0);
    afterLate(slowdown, times(50, 20));
    expect(slowdown.restMsAfter(1)).toBe(REST_MS_MAX);
    expect(slowdown.restMsAfter(10)).toBe(REST_MS_MAX);
    expect(slowdown.restMsAfter(40)).toBe(4 * REST_MS_MAX);
    expect(slowdown.restMsAfter(60_000)).toBe(20 * REST_MS_MAX);
  });

  test('counts timers of one moment once', () => {
    const slowdown = new Slowdown();
    for (let n = 0; n < 20; n++) slowdown.timerCame(50, 7);
    expect(slowdown.restMs).toBe(1);
  });

  test('goes on after a clock was set back', () => {
    const slowdown = new Slowdown();
    slowdown.timerCame(50, 1_000_000);
    expect(afterLate(slowdown, times(50, 20))).toBe(REST_MS_MAX);
  });
});

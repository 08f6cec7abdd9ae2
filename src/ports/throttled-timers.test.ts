import { expect, test } from 'vitest';
import type { Stopwatch, Timers } from './system.ts';
import { ThrottledTimers } from './throttled-timers.ts';

/** Timers that fire when the test says so. */
class LateTimers implements Timers, Stopwatch {
  now = 0;
  readonly set: { readonly ms: number; readonly act: () => void }[] = [];

  after(ms: number, act: () => void): () => void {
    const timer = { ms, act };
    this.set.push(timer);
    return () => void this.set.splice(this.set.indexOf(timer), 1);
  }

  elapsed(): number {
    return this.now;
  }

  /** Fires the first timer this late. Returns the delay that it was set for. */
  come(lateMs: number): number | undefined {
    const timer = this.set.shift();
    this.now += (timer?.ms ?? 0) + lateMs;
    timer?.act();
    return timer?.ms;
  }
}

function setUp() {
  const timers = new LateTimers();
  const state = { isShared: true };
  const slowed = new ThrottledTimers(timers, () => state.isShared);
  const next = (lateMs: number, ms = 0) => {
    slowed.after(ms, () => {});
    return timers.come(lateMs);
  };
  return { timers, state, slowed, next };
}

test('background work waits longer and longer while timers are late, and less once they are punctual', () => {
  const { next } = setUp();
  expect(next(20)).toBe(0);
  for (let n = 0; n < 10; n++) next(20);
  const rest = next(20) ?? 0;
  expect(rest).toBeGreaterThan(10);
  for (let n = 0; n < 300; n++) next(0);
  expect(next(0)).toBe(0);
});

test('a longer wait stays as it is, and a process that is not shared is not throttled', () => {
  const { next, state } = setUp();
  for (let n = 0; n < 10; n++) next(20);
  expect(next(0, 1_000)).toBe(1_000);
  state.isShared = false;
  expect(next(0)).toBe(0);
});

test('background work waits longer after a long piece while timers are late', () => {
  const { next, slowed, timers } = setUp();
  const nextAfter = (workedMs: number) => {
    slowed.afterWork(workedMs, () => {});
    return timers.come(0);
  };
  expect(nextAfter(100)).toBe(0);
  for (let n = 0; n < 20; n++) next(20);
  expect(nextAfter(100)).toBeGreaterThan(4 * (nextAfter(1) ?? 0));
});

test('all background work on the same timers slows down together, each up to its own limit', () => {
  const { next, timers } = setUp();
  for (let n = 0; n < 20; n++) next(20);
  const restBy = (by: LateTimers, msMax?: number) => {
    new ThrottledTimers(by, () => true, msMax).after(0, () => {});
    return by.come(0);
  };
  expect(restBy(timers)).toBeGreaterThan(100);
  expect(restBy(timers, 8)).toBe(8);
  expect(restBy(new LateTimers())).toBe(0);
});

test('a canceled timer does not fire', () => {
  const { timers, slowed } = setUp();
  slowed.after(0, () => expect.unreachable())();
  expect(timers.set).toEqual([]);
});

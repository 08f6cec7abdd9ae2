import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { VirtualTime } from '#test/engine-harness.ts';
import { PeriodicTask, SOON_MS } from './periodic-task.ts';

const EVERY_MS = 900;

function setUp() {
  const time = new VirtualTime(instant(0));
  const begunAt: number[] = [];
  const ends: (() => void)[] = [];
  let isSlow = false;
  const repetition = new PeriodicTask(time, async () => {
    begunAt.push(time.now());
    if (isSlow) await new Promise<void>((resolve) => void ends.push(resolve));
    return EVERY_MS;
  });
  const beSlow = (slow: boolean) => {
    isSlow = slow;
  };
  return { time, begunAt, ends, repetition, beSlow };
}

test('runs at once where it is asked to, and then again and again', async () => {
  const { time, begunAt, repetition } = setUp();
  repetition.runNow();
  await time.advance(2 * EVERY_MS);
  expect(begunAt).toEqual([0, EVERY_MS, 2 * EVERY_MS]);
});

test('runs soon, once, however often it is asked to', async () => {
  const { time, begunAt, repetition } = setUp();
  repetition.runNow();
  await time.advance(100);
  for (let times = 0; times < 5; times++) {
    repetition.runSoon();
    await time.advance(2);
  }
  await time.advance(SOON_MS + EVERY_MS);
  expect(begunAt).toEqual([0, 100 + SOON_MS, 100 + SOON_MS + EVERY_MS]);
});

test('never runs twice at one time: what is asked for meanwhile comes right after', async () => {
  const { time, begunAt, ends, repetition, beSlow } = setUp();
  beSlow(true);
  repetition.runNow();
  await time.advance(10);
  repetition.runSoon();
  repetition.runNow();
  await time.advance(5_000);
  expect(begunAt).toEqual([0]);
  beSlow(false);
  for (const end of ends) end();
  await time.advance(SOON_MS);
  expect(begunAt).toEqual([0, 5_010 + SOON_MS]);
  await time.advance(EVERY_MS);
  expect(begunAt).toHaveLength(3);
});

test('waits until it is asked for where a run says so', async () => {
  const time = new VirtualTime(instant(0));
  let runs = 0;
  const repetition = new PeriodicTask(time, async () => {
    runs++;
    return null;
  });
  repetition.runNow();
  await time.advance(100_000);
  expect([runs, time.pending]).toEqual([1, 0]);
  repetition.runSoon();
  await time.advance(SOON_MS);
  expect(runs).toBe(2);
});

test('does not run any more once it was stopped, not even after the run under way', async () => {
  const { time, begunAt, ends, repetition, beSlow } = setUp();
  beSlow(true);
  repetition.runNow();
  await time.advance(0);
  repetition.runSoon();
  repetition.stop();
  for (const end of ends) end();
  repetition.runNow();
  await time.advance(10_000);
  expect(begunAt).toEqual([0]);
});

import { describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { VirtualTime } from '#test/engine-harness.ts';
import { PeriodicTask, SOON_MS, type Wait } from './periodic-task.ts';

const EVERY_MS = 900;
const RETRY_MS = 300;

/** A task in virtual time that records when its runs begin. Its runs wait for `endRun` while `isSlow` is set. */
function setUp() {
  const time = new VirtualTime(instant(0));
  const begunAt: number[] = [];
  const errors: unknown[] = [];
  const ends: (() => void)[] = [];
  const script = { isSlow: false, fails: false, wait: EVERY_MS as Wait };
  const task = new PeriodicTask(
    time,
    async () => {
      begunAt.push(time.now());
      if (script.isSlow) await new Promise<void>((resolve) => void ends.push(resolve));
      if (script.fails) throw new Error('broken');
      return script.wait;
    },
    (error) => {
      errors.push(error);
      return RETRY_MS;
    },
  );
  const endRun = () => ends.shift()?.();
  return { time, begunAt, errors, task, script, endRun };
}

test('runs once it is started, then again after the wait that each run returns', async () => {
  const { time, begunAt, task, script } = setUp();
  task.runNow();
  await time.advance(EVERY_MS);
  script.wait = 100;
  await time.advance(EVERY_MS + 100);
  expect(begunAt).toEqual([0, EVERY_MS, 2 * EVERY_MS, 2 * EVERY_MS + 100]);
});

test('runs first after the wait that it is started with', async () => {
  const { time, begunAt, task } = setUp();
  task.runWithin(250);
  await time.advance(250 + EVERY_MS);
  expect(begunAt).toEqual([250, 250 + EVERY_MS]);
});

test('the wait counts from the end of the run', async () => {
  const { time, begunAt, task, script, endRun } = setUp();
  script.isSlow = true;
  task.runNow();
  await time.advance(5_000);
  endRun();
  await time.advance(EVERY_MS);
  expect(begunAt).toEqual([0, 5_000 + EVERY_MS]);
});

test('a run that returns no wait is followed by the next request', async () => {
  const { time, begunAt, task, script } = setUp();
  script.wait = null;
  task.runNow();
  await time.advance(100_000);
  expect([begunAt, time.pending]).toEqual([[0], 0]);
  task.runSoon();
  await time.advance(SOON_MS);
  expect(begunAt).toEqual([0, 100_000 + SOON_MS]);
});

test('a run may be a plain function', async () => {
  const time = new VirtualTime(instant(0));
  let runs = 0;
  const task = new PeriodicTask(time, () => {
    runs++;
    return 10;
  });
  task.runNow();
  await time.advance(25);
  expect(runs).toBe(3);
});

describe('a request', () => {
  test('brings the next run forward', async () => {
    const { time, begunAt, task } = setUp();
    task.runNow();
    await time.advance(100);
    task.runNow();
    await time.advance(EVERY_MS);
    expect(begunAt).toEqual([0, 100, 100 + EVERY_MS]);
  });

  test('shares its run with other requests', async () => {
    const { time, begunAt, task } = setUp();
    task.runNow();
    await time.advance(100);
    for (let times = 0; times < 5; times++) {
      task.runSoon();
      await time.advance(2);
    }
    await time.advance(SOON_MS + EVERY_MS);
    expect(begunAt).toEqual([0, 100 + SOON_MS, 100 + SOON_MS + EVERY_MS]);
  });

  test('does not delay a run that is planned earlier', async () => {
    const { time, begunAt, task } = setUp();
    task.runWithin(10);
    task.runWithin(5_000);
    task.runSoon();
    await time.advance(10);
    expect(begunAt).toEqual([10]);
  });

  test('during a run is served after its end, never at the same time', async () => {
    const { time, begunAt, task, script, endRun } = setUp();
    script.isSlow = true;
    task.runNow();
    await time.advance(10);
    task.runSoon();
    await time.advance(5_000);
    expect([begunAt, task.isRunning]).toEqual([[0], true]);
    endRun();
    await time.advance(SOON_MS);
    expect(begunAt).toEqual([0, 5_010 + SOON_MS]);
    task.runSoon();
    task.runNow();
    script.isSlow = false;
    endRun();
    await time.advance(EVERY_MS);
    expect(begunAt).toEqual([0, 5_010 + SOON_MS, 5_010 + SOON_MS, 5_010 + SOON_MS + EVERY_MS]);
    expect(task.isRunning).toBe(false);
  });

  test('by the run itself is served after its end', async () => {
    const time = new VirtualTime(instant(0));
    const begunAt: number[] = [];
    const task: PeriodicTask = new PeriodicTask(time, async () => {
      begunAt.push(time.now());
      task.runSoon();
      await time.settled();
      return null;
    });
    task.runNow();
    await time.advance(2 * SOON_MS);
    expect(begunAt).toEqual([0, SOON_MS, 2 * SOON_MS]);
    await task.stop();
  });

  test('during a run does not make the wait longer', async () => {
    const { time, begunAt, task, script, endRun } = setUp();
    script.isSlow = true;
    script.wait = 0;
    task.runNow();
    await time.advance(10);
    task.runWithin(EVERY_MS);
    endRun();
    await time.advance(0);
    expect(begunAt).toEqual([0, 10]);
  });
});

describe('a run that fails', () => {
  test('is reported, and the next run begins after the wait that the report returns', async () => {
    const { time, begunAt, errors, task, script } = setUp();
    script.fails = true;
    task.runNow();
    await time.advance(RETRY_MS);
    script.fails = false;
    await time.advance(RETRY_MS + EVERY_MS);
    expect(begunAt).toEqual([0, RETRY_MS, 2 * RETRY_MS, 2 * RETRY_MS + EVERY_MS]);
    expect(errors).toEqual([new Error('broken'), new Error('broken')]);
  });

  test('makes requests that came in meanwhile wait as long', async () => {
    const { time, begunAt, task, script, endRun } = setUp();
    script.isSlow = true;
    script.fails = true;
    task.runNow();
    await time.advance(10);
    task.runNow();
    endRun();
    await time.advance(RETRY_MS - 1);
    expect(begunAt).toEqual([0]);
    await time.advance(1);
    expect(begunAt).toEqual([0, 10 + RETRY_MS]);
  });

  test('may throw before it returns a promise', async () => {
    const time = new VirtualTime(instant(0));
    const errors: unknown[] = [];
    const task = new PeriodicTask(
      time,
      () => {
        throw new Error('broken');
      },
      (error) => {
        errors.push(error);
        return errors.length < 3 ? 10 : null;
      },
    );
    task.runNow();
    await time.advance(1_000);
    expect([errors.length, time.pending]).toEqual([3, 0]);
  });
});

test('a planned run can be canceled, and another one requested', async () => {
  const { time, begunAt, task } = setUp();
  task.runWithin(100);
  task.cancel();
  expect(time.pending).toBe(0);
  await time.advance(1_000);
  task.runWithin(100);
  await time.advance(100);
  expect(begunAt).toEqual([1_100]);
});

test('what would follow the run in progress can be canceled, and requested again', async () => {
  const { time, begunAt, task, script, endRun } = setUp();
  script.isSlow = true;
  task.runNow();
  await time.advance(10);
  task.cancel();
  endRun();
  await time.advance(EVERY_MS);
  expect([begunAt, time.pending]).toEqual([[0], 0]);
  task.runNow();
  await time.advance(10);
  task.cancel();
  task.runWithin(100);
  endRun();
  await time.advance(100);
  expect(begunAt).toEqual([0, 10 + EVERY_MS, 20 + EVERY_MS + 100]);
});

describe('once it was stopped', () => {
  test('no run begins, not even when one is requested', async () => {
    const { time, begunAt, task } = setUp();
    task.runNow();
    await time.advance(0);
    await task.stop();
    task.runNow();
    await time.advance(10_000);
    expect([begunAt, time.pending, task.isStopped]).toEqual([[0], 0, true]);
  });

  test('the run in progress is waited for, and none follows', async () => {
    const { time, begunAt, task, script, endRun } = setUp();
    script.isSlow = true;
    task.runNow();
    await time.advance(0);
    task.runSoon();
    const events: string[] = [];
    const stopped = task.stop().finally(() => events.push('stopped'));
    await time.advance(100);
    events.push('run ends');
    endRun();
    await stopped;
    expect(events).toEqual(['run ends', 'stopped']);
    await time.advance(10_000);
    expect(begunAt).toEqual([0]);
  });
});

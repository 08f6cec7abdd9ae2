import { describe, expect, test } from 'vitest';
import { RecordedLog, VirtualTime } from '#test/engine-harness.ts';
import { START } from '#test/store-contract/builders.ts';
import { SerialTasks } from './serial-tasks.ts';

function setUp() {
  const time = new VirtualTime(START);
  const log = new RecordedLog();
  const tasks = new SerialTasks(time, log);
  const runs: string[] = [];
  /** A task that records the time of each run. */
  const recording = (name: string, everyMs: number | null) => async () => {
    runs.push(`${name} ${time.elapsed()}`);
    return everyMs;
  };
  return { time, log, tasks, runs, recording };
}

describe('tasks', () => {
  test('run when they are due, one at a time, with a pause after each', async () => {
    const { time, tasks, runs, recording } = setUp();
    tasks.add('a', recording('a', 100));
    tasks.add('b', recording('b', null));
    tasks.start();
    await time.advance(210);
    expect(runs).toEqual(['a 0', 'b 10', 'a 100', 'a 200']);
    await tasks.stop();
    expect(time.pending).toBe(0);
  });

  test('that are always due run in a round robin', async () => {
    const { time, tasks, runs, recording } = setUp();
    for (const name of ['a', 'b', 'c']) tasks.add(name, recording(name, 0));
    tasks.start();
    await time.advance(50);
    expect(runs).toEqual(['a 0', 'b 10', 'c 20', 'a 30', 'b 40', 'c 50']);
    await tasks.stop();
  });

  test('can be made due, also during their run, and can be removed', async () => {
    const { time, tasks, runs, recording } = setUp();
    tasks.add('a', async () => {
      if (runs.length === 0) tasks.runSoon('a');
      return recording('a', 1_000)();
    });
    tasks.start();
    await time.advance(500);
    expect(runs).toEqual(['a 0', 'a 10']);
    tasks.runSoon('a');
    await time.advance(10);
    expect(runs).toEqual(['a 0', 'a 10', 'a 500']);
    tasks.remove('a');
    tasks.runSoon('a');
    await time.advance(5_000);
    expect(runs).toHaveLength(3);
    await tasks.stop();
  });

  test('that fail are tried again with longer and longer waits, and do not delay the others', async () => {
    const { time, log, tasks, runs, recording } = setUp();
    const attempts: number[] = [];
    tasks.add('broken', async () => {
      attempts.push(time.elapsed());
      throw new Error('no');
    });
    tasks.add('well', recording('well', 1_000));
    tasks.start();
    await time.advance(8_000);
    tasks.runSoon('broken');
    await time.advance(52_000);
    expect(attempts).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500, 30_500, 45_500]);
    expect(runs.length).toBeGreaterThan(55);
    expect(log.lines).toHaveLength(1);
    await tasks.stop();
  });
});

import { describe, expect, test } from 'vitest';
import { START } from '#src/store/contract/builders.ts';
import { KeptLog, VirtualTime } from '#test/engine-harness.ts';
import { Chores } from './chores.ts';

function open() {
  const time = new VirtualTime(START);
  const log = new KeptLog();
  const chores = new Chores(time, log);
  const done: string[] = [];
  /** Notes when it was done. */
  const noting = (name: string, everyMs: number | null) => async () => {
    done.push(`${name} ${time.elapsed()}`);
    return everyMs;
  };
  return { time, log, chores, done, noting };
}

describe('chores', () => {
  test('are done when they want to be, one at a time, with a pause after each', async () => {
    const { time, chores, done, noting } = open();
    chores.add('a', noting('a', 100));
    chores.add('b', noting('b', null));
    const running = chores.run();
    await time.advance(210);
    expect(done).toEqual(['a 0', 'b 10', 'a 100', 'a 200']);
    chores.stop();
    await running;
    expect(time.pending).toBe(0);
  });

  test('that always want to be done take turns', async () => {
    const { time, chores, done, noting } = open();
    for (const name of ['a', 'b', 'c']) chores.add(name, noting(name, 0));
    const running = chores.run();
    await time.advance(50);
    expect(done).toEqual(['a 0', 'b 10', 'c 20', 'a 30', 'b 40', 'c 50']);
    chores.stop();
    await running;
  });

  test('are hurried, also while they are being done; and removed', async () => {
    const { time, chores, done, noting } = open();
    chores.add('a', async () => {
      if (done.length === 0) chores.hurry('a');
      return noting('a', 1_000)();
    });
    const running = chores.run();
    await time.advance(500);
    expect(done).toEqual(['a 0', 'a 10']);
    chores.hurry('a');
    await time.advance(10);
    expect(done).toEqual(['a 0', 'a 10', 'a 500']);
    chores.remove('a');
    chores.hurry('a');
    await time.advance(5_000);
    expect(done).toHaveLength(3);
    chores.stop();
    await running;
  });

  test('that fail are done again later and later, and keep no other from its turn', async () => {
    const { time, log, chores, done, noting } = open();
    const attempts: number[] = [];
    chores.add('broken', async () => {
      attempts.push(time.elapsed());
      throw new Error('no');
    });
    chores.add('well', noting('well', 1_000));
    const running = chores.run();
    await time.advance(8_000);
    chores.hurry('broken');
    await time.advance(52_000);
    expect(attempts).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500, 30_500, 45_500]);
    expect(done.length).toBeGreaterThan(55);
    expect(log.lines).toHaveLength(1);
    chores.stop();
    await running;
  });
});

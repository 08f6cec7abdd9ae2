import { describe, expect, test } from 'vitest';
import { Turns } from './turns.ts';

/** An act that says when it begins and ends, and ends when it is let go. */
function slow(name: string, log: string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const act = async () => {
    log.push(`${name} begins`);
    const result = await promise;
    log.push(`${name} ends`);
    return result;
  };
  return { act, finish: () => resolve(name), fail: () => reject(new RangeError(name)) };
}

/** Lets everything that can go on, go on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('changes', () => {
  test('to one object take turns, in the order they were asked for', async () => {
    const turns = new Turns();
    const log: string[] = [];
    const [first, second, third] = [slow('first', log), slow('second', log), slow('third', log)];
    const answers = [first, second, third].map(({ act }) => turns.take('object', act));
    third.finish();
    second.finish();
    await settled();
    expect(log).toEqual(['first begins']);
    first.finish();
    expect(await Promise.all(answers)).toEqual(['first', 'second', 'third']);
    expect(log).toEqual(['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  test('to different objects do not wait for each other', async () => {
    const turns = new Turns();
    const log: string[] = [];
    const [one, other] = [slow('one', log), slow('other', log)];
    const answers = [turns.take('1/a', one.act), turns.take('2/a', other.act)];
    await settled();
    expect(log).toEqual(['one begins', 'other begins']);
    one.finish();
    other.finish();
    await Promise.all(answers);
  });

  test('that fail, or throw at once, let the next one have its turn', async () => {
    const turns = new Turns();
    const failing = slow('failing', []);
    const first = turns.take('object', failing.act);
    const second = turns.take('object', () => {
      throw new TypeError('at once');
    });
    const third = turns.take('object', async () => 'done');
    failing.fail();
    await expect(first).rejects.toThrow(RangeError);
    await expect(second).rejects.toThrow(TypeError);
    expect(await third).toBe('done');
  });

  test('asked for while others wait come after them, though the queue had been empty', async () => {
    const turns = new Turns();
    const log: string[] = [];
    await turns.take('object', async () => log.push('before'));
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => turns.take('object', async () => log.push(String(i)))),
    );
    expect(log).toEqual(['before', ...Array.from({ length: 100 }, (_, i) => String(i))]);
  });
});

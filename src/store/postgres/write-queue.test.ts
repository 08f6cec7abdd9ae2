import { describe, expect, test } from 'vitest';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Answer, Executor } from './executor.ts';
import type { Verb } from './stages.ts';
import { WriteQueue } from './write-queue.ts';

/** A database that answers when the test says so, and the number of verbs of each batch it was sent. */
function slow() {
  const batches: { readonly size: number; readonly answer: () => void }[] = [];
  const run = (verbs: readonly Verb[]) =>
    new Promise<readonly Answer[]>((resolve) => {
      batches.push({ size: verbs.length, answer: () => resolve(verbs.map(() => 'done' as const)) });
    });
  return { batches, queue: new WriteQueue([{ run } as unknown as Executor]) };
}

function sized(characters: number): Verb {
  return [['insertProject', null, 'x'.repeat(characters)]];
}

const MIB = 1_048_576;

describe('while the database is busy', () => {
  test('waiting verbs share the next transaction, as many as fit', async () => {
    const { queue, batches } = slow();
    const all = [queue.run(sized(1))];
    await Promise.resolve();
    for (let i = 0; i < 300; i++) all.push(queue.run(sized(1)));
    for (let i = 0; i < 5; i++) all.push(queue.run(sized(MIB)));
    for (let at = 0; at < 4; at++) {
      await new Promise(setImmediate);
      batches[at]?.answer();
    }
    expect(await Promise.all(all)).toEqual(all.map(() => 'done'));
    expect(batches.map(({ size }) => size)).toEqual([1, 256, 47, 2]);
  });

  test('the verbs of a call stay in one batch, so that one failure is the outcome of all of them', async () => {
    const { queue, batches } = slow();
    const call = (verbs: number) => queue.runAll(Array.from({ length: verbs }, () => sized(1)));
    const all = [call(1)];
    await Promise.resolve();
    all.push(call(200), call(56), call(200), call(57), call(300));
    for (let at = 0; at < 5; at++) {
      await new Promise(setImmediate);
      batches[at]?.answer();
    }
    await Promise.all(all);
    expect(batches.map(({ size }) => size)).toEqual([1, 256, 200, 57, 300]);
  });

  test('at most 64 MiB wait; further verbs are refused until some are written', async () => {
    const { queue, batches } = slow();
    const all = [queue.run(sized(1))];
    await Promise.resolve();
    for (let i = 0; i < 64; i++) all.push(queue.run(sized(MIB)));
    await expect(queue.run(sized(1))).rejects.toThrow(StoreUnavailable);
    batches[0]?.answer();
    await new Promise(setImmediate);
    all.push(queue.run(sized(1)));
    for (let at = 1; at < 40; at++) {
      batches[at]?.answer();
      await new Promise(setImmediate);
    }
    expect(await Promise.all(all)).toHaveLength(66);
  });
});

describe('when verbs of the batch cannot share a transaction', () => {
  /** A database that runs `count` verbs at a time, and fails after `runs` transactions. */
  function splitting(count: number, runs = Infinity) {
    const sizes: number[] = [];
    const run = async (verbs: readonly Verb[]): Promise<readonly Answer[]> => {
      sizes.push(verbs.length);
      if (sizes.length > runs) throw new StoreUnavailable('gone');
      return verbs.slice(0, count).map(() => 'done' as const);
    };
    return { sizes, queue: new WriteQueue([{ run } as unknown as Executor]) };
  }

  test('the rest of them run in the next transactions, in order, and every call gets its own answers', async () => {
    const { queue, sizes } = splitting(2);
    const calls = [queue.run(sized(1)), queue.runAll([sized(1), sized(1), sized(1)]), queue.run(sized(1))];
    expect(await Promise.all(calls)).toEqual(['done', ['done', 'done', 'done'], 'done']);
    expect(sizes).toEqual([5, 3, 1]);
  });

  test('a database that fails in between fails only the calls that have no answer yet', async () => {
    const { queue } = splitting(2, 1);
    const [first, second] = [queue.run(sized(1)), queue.runAll([sized(1), sized(1)])];
    await expect(second).rejects.toThrow(StoreUnavailable);
    expect(await first).toBe('done');
  });

  test('a call with a verb that fails is answered after its last verb', async () => {
    const written: string[] = [];
    const run = async (verbs: readonly Verb[]): Promise<readonly Answer[]> => {
      await new Promise(setImmediate);
      written.push('verb');
      return [verbs.length === 3 ? new StoreUnavailable('locked') : 'done'];
    };
    const queue = new WriteQueue([{ run } as unknown as Executor]);
    await expect(queue.runAll([sized(1), sized(1), sized(1)])).rejects.toThrow('locked');
    expect(written).toHaveLength(3);
  });

  test('a call without verbs is answered at once', async () => {
    expect(await splitting(1).queue.runAll([])).toEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Answer, Executor } from './executor.ts';
import type { Verb } from './stages.ts';
import { WriteQueue } from './write-queue.ts';

type Line = Partition | null;

/** A database that answers when the test says so, and the number of verbs of each batch it was sent. */
function slow() {
  const batches: { readonly size: number; readonly answer: () => void }[] = [];
  const run = (verbs: readonly Verb[]) =>
    new Promise<readonly Answer[]>((resolve) => {
      batches.push({ size: verbs.length, answer: () => resolve(verbs.map(() => 'done' as const)) });
    });
  return { batches, queue: new WriteQueue([{ run, isConnected: true } as unknown as Executor]) };
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
    return { sizes, queue: new WriteQueue([{ run, isConnected: true } as unknown as Executor]) };
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
    const queue = new WriteQueue([{ run, isConnected: true } as unknown as Executor]);
    await expect(queue.runAll([sized(1), sized(1), sized(1)])).rejects.toThrow('locked');
    expect(written).toHaveLength(3);
  });

  test('a call without verbs is answered at once', async () => {
    expect(await splitting(1).queue.runAll([])).toEqual([]);
  });
});

describe('where each partition has a line of its own', () => {
  /** Two connections, and what each transaction was about. They are answered in any order. */
  function lines() {
    const sent: {
      readonly connection: number;
      readonly line: Line;
      readonly size: number;
      readonly answer: (...answers: Answer[]) => void;
    }[] = [];
    const runOn = (connection: number) => (verbs: readonly Verb[], line: Line) =>
      new Promise<readonly Answer[]>((resolve) => {
        const answer = (...answers: Answer[]) =>
          resolve(answers.length > 0 ? answers : verbs.map(() => 'done' as const));
        sent.push({ connection, line, size: verbs.length, answer });
      });
    const connections = [0, 1].map((connection) => ({ run: runOn(connection), isConnected: true }));
    const executors = connections as unknown as readonly Executor[];
    const queue = new WriteQueue(executors, ([step]) => (step?.[2] ?? null) as Line);
    return { sent, queue, connections, about: () => sent.map(({ line, size }) => `${line}: ${size}`) };
  }

  const of = (partition: number): Verb => [['removeGate', null, partition, 'x', 'y']];

  test('a line has one transaction at a time, even if a connection is idle', async () => {
    const { queue, sent, about } = lines();
    const first = queue.run(of(1));
    await new Promise(setImmediate);
    const second = queue.run(of(1));
    await new Promise(setImmediate);
    expect(about()).toEqual(['1: 1']);
    sent[0]?.answer();
    await new Promise(setImmediate);
    expect(about()).toEqual(['1: 1', '1: 1']);
    sent[1]?.answer();
    expect(await Promise.all([first, second])).toEqual(['done', 'done']);
  });

  test('lines take turns', async () => {
    const { queue, sent, about } = lines();
    const all = [queue.run(of(1)), queue.run(of(2)), queue.run(of(3))];
    await Promise.resolve();
    all.push(queue.run(of(1)), queue.run(of(1)), queue.run(of(2)));
    await new Promise(setImmediate);
    expect(about()).toEqual(['1: 1', '2: 1']);
    sent[0]?.answer();
    await new Promise(setImmediate);
    expect(about().slice(2)).toEqual(['3: 1']);
    sent[2]?.answer();
    await new Promise(setImmediate);
    expect(about().slice(3)).toEqual(['1: 2']);
    sent[1]?.answer();
    await new Promise(setImmediate);
    expect(about().slice(4)).toEqual(['2: 1']);
    for (const { answer } of sent) answer();
    expect(await Promise.all(all)).toEqual(all.map(() => 'done'));
  });

  test('a line keeps its connection while that is idle', async () => {
    const { queue, sent } = lines();
    const all: Promise<unknown>[] = [];
    for (const [at, partition] of [2, 4, 4, 2, 6].entries()) {
      all.push(queue.run(of(partition)));
      await new Promise(setImmediate);
      sent[at]?.answer();
      await new Promise(setImmediate);
    }
    expect(sent.map(({ connection }) => connection)).toEqual([0, 1, 1, 0, 0]);
    all.push(queue.run(of(2)), queue.run(of(6)));
    await new Promise(setImmediate);
    expect(sent.slice(5).map(({ line, connection }) => [line, connection])).toEqual([
      [2, 0],
      [6, 1],
    ]);
    for (const { answer } of sent.slice(5)) answer();
    await Promise.all(all);
  });

  test('no line gets a lost connection while there is another, even if that is busy', async () => {
    const { queue, sent, connections, about } = lines();
    const [first, second] = connections;
    if (first === undefined || second === undefined) throw new Error('missing');
    first.isConnected = false;
    const all = [queue.run(of(1)), queue.run(of(2)), queue.run(of(3))];
    await new Promise(setImmediate);
    expect(about()).toEqual(['1: 1']);
    sent[0]?.answer();
    await new Promise(setImmediate);
    expect(sent.map(({ connection }) => connection)).toEqual([1, 1]);
    second.isConnected = false;
    sent[1]?.answer();
    await new Promise(setImmediate);
    expect(about()).toHaveLength(3);
    sent[2]?.answer();
    expect(await Promise.all(all)).toEqual(all.map(() => 'done'));
  });

  test('a call about several partitions is answered after the last of them, also if one fails', async () => {
    const { queue, sent, about } = lines();
    let isAnswered = false;
    const call = queue.runAll([of(1), of(2), of(1)]).finally(() => {
      isAnswered = true;
    });
    await new Promise(setImmediate);
    expect(about()).toEqual(['1: 2', '2: 1']);
    sent[0]?.answer(new StoreUnavailable('gone'), 'done');
    await new Promise(setImmediate);
    expect(isAnswered).toBe(false);
    sent[1]?.answer();
    await expect(call).rejects.toThrow('gone');
  });

  test('a queue is closed after the last transaction of every line', async () => {
    const { queue, sent } = lines();
    const all = [queue.run(of(1)), queue.run(of(2)), queue.run(of(3))];
    await new Promise(setImmediate);
    let isClosed = false;
    const closing = queue.close().finally(() => {
      isClosed = true;
    });
    sent[0]?.answer();
    await new Promise(setImmediate);
    sent[1]?.answer();
    await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    sent[2]?.answer();
    await closing;
    expect(await Promise.all(all)).toHaveLength(3);
  });
});

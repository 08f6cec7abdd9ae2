import { expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import { SweepQueue } from './sweep-queue.ts';

const [A, B] = [1 as Partition, 2 as Partition];

/** Batches that end when the test says so, and the names of those that have begun. */
function scripted() {
  const queue = new SweepQueue();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (partition: Partition, name: string) =>
    queue.run(partition, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => void ends.set(name, resolve));
      return name;
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { queue, begun, run, end };
}

test('one batch runs at a time, and customers are served round robin', async () => {
  const { begun, run, end } = scripted();
  const all = ['a1', 'a2', 'a3'].map((name) => run(A, name));
  all.push(run(B, 'b1'));
  expect(begun).toEqual(['a1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'a2']);
  all.push(run(B, 'b2'));
  for (const name of ['a2', 'b1', 'a3']) await end(name);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
  await end('b2');
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
});

test('a batch that fails rejects its caller, and the next one runs', async () => {
  const { queue, run, end } = scripted();
  const failing = queue.run(A, () => Promise.reject(new Error('The disk is full.')));
  const next = run(A, 'next');
  await expect(failing).rejects.toThrow('The disk is full.');
  await end('next');
  expect(await next).toBe('next');
});

import { expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import { SweepQueue } from './sweep-queue.ts';

const [A, B] = [1 as Partition, 2 as Partition];

/** Pieces that end when they are told to; which have begun, in their order. */
function scripted() {
  const turns = new SweepQueue();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (partition: Partition, name: string) =>
    turns.run(partition, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => void ends.set(name, resolve));
      return name;
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { turns, begun, run, end };
}

test('one piece is under way at a time, and customers take turns', async () => {
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

test('a piece that fails is told so, and the next has its turn', async () => {
  const { turns, run, end } = scripted();
  const failing = turns.run(A, () => Promise.reject(new Error('The disk is full.')));
  const next = run(A, 'next');
  await expect(failing).rejects.toThrow('The disk is full.');
  await end('next');
  expect(await next).toBe('next');
});

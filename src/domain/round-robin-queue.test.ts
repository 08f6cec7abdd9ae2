import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Partition } from './project.ts';
import { RoundRobinQueue } from './round-robin-queue.ts';

const [A, B] = [1 as Partition, 2 as Partition];

function all(queue: RoundRobinQueue<string>): string {
  let taken = '';
  for (let item = queue.next(); item !== undefined; item = queue.next()) taken += item;
  return taken;
}

test('customers are served round robin, and each customer first in first out', () => {
  const queue = new RoundRobinQueue<string>();
  for (const item of 'abcde') queue.add(A, item);
  for (const item of 'xy') queue.add(B, item);
  expect(queue.size).toBe(7);
  expect(all(queue)).toBe('axbycde');
  expect([queue.size, queue.isEmpty, queue.next()]).toEqual([0, true, undefined]);
});

test('a customer may be served out of turn, and is then the last in turn', () => {
  const queue = new RoundRobinQueue<string>();
  for (const item of 'abc') queue.add(A, item);
  for (const item of 'xy') queue.add(B, item);
  expect([queue.nextOf(A), queue.nextOf(A), queue.size]).toEqual(['a', 'b', 3]);
  expect(all(queue)).toBe('xcy');
  expect(queue.nextOf(A)).toBeUndefined();
});

test('a long queue loses no item and serves no item twice', () => {
  const queue = new RoundRobinQueue<number>();
  const served: (number | undefined)[] = [];
  for (let n = 0; n < 10_000; n++) {
    queue.add(A, n);
    if (n % 3 === 0) served.push(queue.next());
  }
  for (let item = queue.next(); item !== undefined; item = queue.next()) served.push(item);
  expect(served).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
});

test('a served item can be collected as garbage while others wait behind it', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const queue = new RoundRobinQueue<object>();
  for (let n = 0; n < 10; n++) queue.add(A, { n });
  const served = new WeakRef(queue.next() ?? queue);
  await setImmediate();
  collectGarbage();
  expect([served.deref(), queue.size]).toEqual([undefined, 9]);
});

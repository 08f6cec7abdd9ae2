import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { CustomerTurns } from './customer-turns.ts';
import type { Partition } from './partition.ts';

const [A, B] = [1 as Partition, 2 as Partition];

function all(turns: CustomerTurns<string>): string {
  let taken = '';
  for (let item = turns.next(); item !== undefined; item = turns.next()) taken += item;
  return taken;
}

test('customers are served in turns, each first come first served', () => {
  const turns = new CustomerTurns<string>();
  for (const item of 'abcde') turns.add(A, item);
  for (const item of 'xy') turns.add(B, item);
  expect(turns.size).toBe(7);
  expect(all(turns)).toBe('axbycde');
  expect([turns.size, turns.isEmpty, turns.next()]).toEqual([0, true, undefined]);
});

test('nothing is lost or served twice, however long a line is', () => {
  const turns = new CustomerTurns<number>();
  const served: (number | undefined)[] = [];
  for (let n = 0; n < 10_000; n++) {
    turns.add(A, n);
    if (n % 3 === 0) served.push(turns.next());
  }
  for (let item = turns.next(); item !== undefined; item = turns.next()) served.push(item);
  expect(served).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
});

test('what was served is not held on to, though others wait behind it', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const turns = new CustomerTurns<object>();
  for (let n = 0; n < 10; n++) turns.add(A, { n });
  const served = new WeakRef(turns.next() ?? turns);
  await setImmediate();
  collectGarbage();
  expect([served.deref(), turns.size]).toEqual([undefined, 9]);
});

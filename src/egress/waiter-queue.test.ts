import { expect, test } from 'vitest';
import { WaiterQueue } from './waiter-queue.ts';

interface Named {
  readonly name: string;
  readonly isOverdue: boolean;
}

function named(kind: 'fresh' | 'overdue', count: number): readonly Named[] {
  return Array.from({ length: count }, (_, n) => ({ name: `${kind} ${n}`, isOverdue: kind === 'overdue' }));
}

function queueOf(...waiters: readonly Named[]): WaiterQueue<Named> {
  const queue = new WaiterQueue<Named>();
  for (const waiter of waiters) queue.add(waiter);
  return queue;
}

function taken(queue: WaiterQueue<Named>): readonly string[] {
  const names: string[] = [];
  for (let next = queue.take(); next !== null; next = queue.take()) names.push(next.name);
  return names;
}

test('a request in time does not wait behind overdue ones', () => {
  const queue = queueOf(...named('overdue', 1_000), ...named('fresh', 1));
  expect([queue.take()?.name, queue.take()?.name]).toEqual(['fresh 0', 'overdue 0']);
});

test('of four requests one is overdue, each kind in its order', () => {
  expect(taken(queueOf(...named('overdue', 3), ...named('fresh', 7)))).toEqual([
    'fresh 0',
    'fresh 1',
    'fresh 2',
    'overdue 0',
    'fresh 3',
    'fresh 4',
    'fresh 5',
    'overdue 1',
    'fresh 6',
    'overdue 2',
  ]);
});

test('a request that is deleted is not taken, and an empty queue has none', () => {
  const [first, second] = named('overdue', 2);
  const [fresh] = named('fresh', 1);
  if (first === undefined || second === undefined || fresh === undefined) throw new Error('missing');
  const queue = queueOf(first, second, fresh);
  expect([queue.delete(first), queue.delete(first), queue.delete(fresh), queue.size]).toEqual([
    true,
    false,
    true,
    1,
  ]);
  expect(taken(queue)).toEqual(['overdue 1']);
  expect([queue.take(), queue.size]).toEqual([null, 0]);
});

test('a request in time may go before an overdue one, but not before another in time', () => {
  const [overdue] = named('overdue', 1);
  const [late] = named('fresh', 1);
  if (overdue === undefined || late === undefined) throw new Error('missing');
  const queue = queueOf(...named('fresh', 9));
  const before = Array.from({ length: 5 }, () => queue.takeBefore(overdue)?.name ?? null);
  expect(before).toEqual(['fresh 0', 'fresh 1', 'fresh 2', null, 'fresh 3']);
  expect(queue.takeBefore(late)).toBeNull();
});

test('the turn of an overdue request is kept while connections serve those in time', () => {
  const [overdue] = named('overdue', 1);
  const [served] = named('fresh', 1);
  if (overdue === undefined || served === undefined) throw new Error('missing');
  const queue = queueOf(...named('fresh', 9));
  const before = Array.from({ length: 4 }, () => {
    queue.takeBefore(served);
    return queue.takeBefore(overdue)?.name ?? null;
  });
  expect(before).toEqual(['fresh 0', 'fresh 1', 'fresh 2', null]);
});

test('all can be taken at once', () => {
  const queue = queueOf(...named('overdue', 2), ...named('fresh', 1));
  expect(queue.takeAll().map(({ name }) => name)).toEqual(['fresh 0', 'overdue 0', 'overdue 1']);
  expect(queue.size).toBe(0);
});

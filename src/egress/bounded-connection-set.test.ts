import { expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import { BoundedConnectionSet } from './bounded-connection-set.ts';

const LARGE = 1 as Partition;
const SMALL = 2 as Partition;

interface TestConnection {
  readonly customer: Partition;
  readonly number: number;
}

function connectionsOf(customer: Partition, count: number): readonly TestConnection[] {
  return Array.from({ length: count }, (_, number) => ({ customer, number }));
}

/** Adds the connections, deletes those that are evicted, and returns these. */
function addAll(
  set: BoundedConnectionSet<TestConnection>,
  connections: readonly TestConnection[],
): readonly TestConnection[] {
  return connections.flatMap((connection) => {
    const evicted = set.add(connection);
    if (evicted !== undefined) set.delete(evicted);
    return evicted ?? [];
  });
}

test('a customer that has used up its share loses its oldest connection', () => {
  const set = new BoundedConnectionSet<TestConnection>(30);
  const evicted = addAll(set, connectionsOf(LARGE, 100));
  expect(set.countOf(LARGE)).toBe(20);
  expect(evicted.map(({ number }) => number)).toEqual(Array.from({ length: 80 }, (_, number) => number));
});

test('a customer with many connections does not evict those of another', () => {
  const set = new BoundedConnectionSet<TestConnection>(30);
  addAll(set, connectionsOf(LARGE, 100));
  const own = connectionsOf(SMALL, 5);
  expect(addAll(set, own)).toEqual([]);
  addAll(set, connectionsOf(LARGE, 100));
  expect(own.every((connection) => set.has(connection))).toBe(true);
});

test('a deleted connection frees its share, and one that is added twice counts once', () => {
  const set = new BoundedConnectionSet<TestConnection>(3);
  const [first, second] = connectionsOf(LARGE, 2) as [TestConnection, TestConnection];
  set.add(first);
  set.add(first);
  expect(set.countOf(LARGE)).toBe(1);
  expect([set.delete(first), set.delete(first), set.has(first)]).toEqual([true, false, false]);
  expect([set.add(first), set.add(second), set.countOf(LARGE)]).toEqual([undefined, undefined, 2]);
});

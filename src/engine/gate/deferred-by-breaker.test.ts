import { expect, test } from 'vitest';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { Partition } from '#src/domain/project.ts';
import { dueAt } from '#test/engine-harness.ts';
import { DeferredByBreaker } from './deferred-by-breaker.ts';

function due(endpoint: string, name = endpoint): DueDelivery {
  return dueAt(0, { name, endpoint: endpoint as EndpointKey });
}

function setUp() {
  let pins = 0;
  const deferred = new DeferredByBreaker({ pin: () => void pins++, unpin: () => void pins-- });
  return { deferred, pins: () => pins };
}

test('deliveries are taken together, once, and only those of the endpoint', () => {
  const { deferred } = setUp();
  for (const each of [due('a', '1'), due('b', '2'), due('a', '3')]) deferred.add(each);
  expect(deferred.takeAll(due('a'))).toEqual([due('a', '1'), due('a', '3')]);
  expect(deferred.takeAll(due('a'))).toEqual([]);
  expect(deferred.takeAll(due('b'))).toEqual([due('b', '2')]);
});

test('a gate is pinned once, as long as a delivery of it is remembered', () => {
  const { deferred, pins } = setUp();
  deferred.add(due('a', '1'));
  deferred.add(due('a', '2'));
  expect(pins()).toBe(1);
  deferred.remove(due('a', '1'));
  deferred.remove(due('a', '1'));
  deferred.remove(due('a', 'never added'));
  expect(pins()).toBe(1);
  deferred.remove(due('a', '2'));
  expect(pins()).toBe(0);
  deferred.add(due('a', '3'));
  deferred.takeAll(due('a'));
  expect(pins()).toBe(0);
});

test('at most 1,000 are remembered for an endpoint, and 16,000 for one customer of 20,000 in all', () => {
  const { deferred } = setUp();
  for (let endpoint = 0; endpoint < 21; endpoint++) {
    for (let each = 0; each < 1_001; each++) deferred.add(due(`e-${endpoint}`, `${endpoint}-${each}`));
  }
  const other = { ...due('e-0'), partition: 2 as Partition };
  deferred.add(other);
  expect(deferred.takeAll(other)).toEqual([other]);
  expect(deferred.takeAll(due('e-0'))).toHaveLength(1_000);
  expect(deferred.takeAll(due('e-20'))).toEqual([]);
  deferred.add(due('e-1', 'beyond the limit of its endpoint'));
  deferred.add(due('e-20'));
  expect(deferred.takeAll(due('e-1'))).toHaveLength(1_000);
  expect(deferred.takeAll(due('e-20'))).toHaveLength(1);
});

test('a delivery counts once, however often it is deferred, and its last instant counts', () => {
  const { deferred } = setUp();
  for (let times = 0; times < 1_000; times++) deferred.add(due('a', 'often'));
  const later = dueAt(5_000, { name: 'often', endpoint: 'a' as EndpointKey });
  deferred.add(later);
  deferred.add(due('a', 'other'));
  expect(deferred.takeAll(due('a'))).toEqual([later, due('a', 'other')]);
});

test('a delivery that is removed makes space for another', () => {
  const { deferred } = setUp();
  for (let each = 0; each < 1_000; each++) deferred.add(due('a', `${each}`));
  deferred.remove(due('a', '7'));
  deferred.add(due('a', 'next'));
  const ids = deferred.takeAll(due('a')).map(({ id }) => id);
  expect(ids).toHaveLength(1_000);
  expect(ids).toContain('dlv_next');
  expect(ids).not.toContain('dlv_7');
});

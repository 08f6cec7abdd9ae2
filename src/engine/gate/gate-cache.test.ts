import { describe, expect, test } from 'vitest';
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { type Gate, NEW_GATE } from '#src/domain/gate.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { slotOfEndpoint } from '#src/engine/cluster/slot-ownership.ts';
import { GateCache } from './gate-cache.ts';

const GATES_MAX = 20_000;
const NOW = instant(1_000_000);

function ref(endpoint: string): EndpointRef {
  return { partition: 1 as Partition, endpoint: endpoint as EndpointKey };
}

/** A gate that must not be dropped, because it has failures. */
function failed(failures: number): Gate {
  return { ...NEW_GATE, breaker: { ...NEW_GATE.breaker, failures } };
}

/** Reads as many other gates as evict every gate that is not in use. */
function fill(cache: GateCache): void {
  for (let each = 0; each < GATES_MAX; each++) cache.addSaved(ref(`other-${each}`), failed(1));
}

describe('a gate that is not in use', () => {
  test('is evicted when there are too many, the one used longest ago first', () => {
    const cache = new GateCache();
    cache.addSaved(ref('old'), failed(1));
    cache.addSaved(ref('used'), failed(1));
    for (let each = 2; each < GATES_MAX; each++) cache.addSaved(ref(`other-${each}`), failed(1));
    cache.get(ref('used'));
    cache.addSaved(ref('new'), failed(1));
    expect(cache.get(ref('old'))).toBeUndefined();
    expect(cache.get(ref('used'))?.gate).toEqual(failed(1));
  });

  test('is evicted after a save when it decides as a new gate would', () => {
    const cache = new GateCache();
    cache.addSaved(ref('forgettable'), { ...NEW_GATE });
    cache.addSaved(ref('kept'), failed(1));
    cache.pin(ref('pinned'));
    cache.addSaved(ref('pinned'), { ...NEW_GATE });
    cache.evictForgettable(NOW);
    expect([...cache.values()].map(({ endpoint }) => endpoint)).toEqual(['pinned', 'kept']);
  });
});

describe('a gate that is in use', () => {
  test('stays while it is not saved', () => {
    const cache = new GateCache();
    const [first, second] = [failed(1), failed(2)];
    cache.change(ref('a'), first);
    cache.change(ref('a'), second);
    fill(cache);
    cache.markSaved(ref('a'), first);
    fill(cache);
    expect(cache.unsaved()).toMatchObject([{ endpoint: 'a', gate: second }]);
    cache.markSaved(ref('a'), second);
    expect(cache.unsaved()).toEqual([]);
    fill(cache);
    expect(cache.get(ref('a'))).toBeUndefined();
  });

  test('stays while it is pinned, also when it was pinned before it was read', () => {
    const cache = new GateCache();
    cache.pin(ref('early'));
    cache.addSaved(ref('early'), failed(1));
    cache.addSaved(ref('twice'), failed(1));
    cache.pin(ref('twice'));
    cache.pin(ref('twice'));
    cache.unpin(ref('twice'));
    fill(cache);
    expect([cache.get(ref('early'))?.gate, cache.get(ref('twice'))?.gate]).toEqual([failed(1), failed(1)]);
    cache.unpin(ref('early'));
    cache.unpin(ref('twice'));
    fill(cache);
    expect([cache.get(ref('early')), cache.get(ref('twice'))]).toEqual([undefined, undefined]);
  });
});

test('gates are saved in the order of their changes', () => {
  const cache = new GateCache();
  for (const endpoint of ['a', 'b', 'c', 'a']) cache.change(ref(endpoint), failed(1));
  expect(cache.unsaved().map(({ endpoint }) => endpoint)).toEqual(['b', 'c', 'a']);
});

test('the gates of slots are removed, whatever their state', () => {
  const cache = new GateCache();
  const removed = ['a', 'b', 'c'];
  const slots = new Set(removed.map((endpoint) => slotOfEndpoint(ref(endpoint))));
  const kept = Array.from({ length: 100 }, (_, each) => `e-${each}`).find(
    (endpoint) => !slots.has(slotOfEndpoint(ref(endpoint))),
  );
  cache.addSaved(ref('a'), failed(1));
  cache.change(ref('b'), failed(1));
  cache.pin(ref('c'));
  cache.addSaved(ref('c'), failed(1));
  cache.addSaved(ref(kept ?? ''), failed(1));
  expect(
    cache
      .removeSlots(slots)
      .map(({ endpoint }) => endpoint)
      .toSorted(),
  ).toEqual(removed);
  expect([...cache.values()].map(({ endpoint }) => endpoint)).toEqual([kept]);
});

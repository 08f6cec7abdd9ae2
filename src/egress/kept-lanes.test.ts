import { expect, test } from 'vitest';
import type { Partition } from '#src/domain/partition.ts';
import { KeptLanes } from './kept-lanes.ts';

const LARGE = 1 as Partition;
const SMALL = 2 as Partition;

interface TestLane {
  readonly customer: Partition;
  readonly number: number;
}

function lanesOf(customer: Partition, count: number): readonly TestLane[] {
  return Array.from({ length: count }, (_, number) => ({ customer, number }));
}

/** Adds them, and deletes what has to go. Answers that. */
function addAll(kept: KeptLanes<TestLane>, lanes: readonly TestLane[]): readonly TestLane[] {
  return lanes.flatMap((lane) => {
    const gone = kept.add(lane);
    if (gone !== undefined) kept.delete(gone);
    return gone ?? [];
  });
}

test('the oldest lane of a customer goes where it has no room for another', () => {
  const kept = new KeptLanes<TestLane>(30);
  const gone = addAll(kept, lanesOf(LARGE, 100));
  expect(kept.countOf(LARGE)).toBe(20);
  expect(gone.map(({ number }) => number)).toEqual(Array.from({ length: 80 }, (_, number) => number));
});

test('a customer with many lanes costs another none', () => {
  const kept = new KeptLanes<TestLane>(30);
  addAll(kept, lanesOf(LARGE, 100));
  const own = lanesOf(SMALL, 5);
  expect(addAll(kept, own)).toEqual([]);
  addAll(kept, lanesOf(LARGE, 100));
  expect(own.every((lane) => kept.has(lane))).toBe(true);
});

test('a lane that was taken out makes room, and one that is kept is not counted twice', () => {
  const kept = new KeptLanes<TestLane>(3);
  const [first, second] = lanesOf(LARGE, 2) as [TestLane, TestLane];
  kept.add(first);
  kept.add(first);
  expect(kept.countOf(LARGE)).toBe(1);
  expect([kept.delete(first), kept.delete(first), kept.has(first)]).toEqual([true, false, false]);
  expect([kept.add(first), kept.add(second), kept.countOf(LARGE)]).toEqual([undefined, undefined, 2]);
});

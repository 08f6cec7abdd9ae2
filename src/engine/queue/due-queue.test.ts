import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { dueAt } from '#test/engine-harness.ts';
import { DUE_QUEUE_MAX, DueQueue } from './due-queue.ts';

const LATER = instant(1_000_000);
const ALL = Number.POSITIVE_INFINITY;

function namesOf(dues: readonly { readonly id: string }[]): readonly string[] {
  return dues.map(({ id }) => id.replace('dlv_', ''));
}

/** Adds as many as one customer may have. Returns the number. */
function fill(near: DueQueue): number {
  let added = 0;
  while (near.add(dueAt(added, { name: `${added}` }))) added++;
  return added;
}

describe('the due queue', () => {
  test('gives deliveries when they are due, the earliest first', () => {
    const near = new DueQueue();
    for (const [name, at] of Object.entries({ c: 30, a: 10, d: 40, b: 20 })) near.add(dueAt(at, { name }));
    expect(near.nextAt()).toBe(10);
    expect(near.take(instant(9), ALL)).toEqual([]);
    expect(namesOf(near.take(instant(30), ALL))).toEqual(['a', 'b', 'c']);
    expect(near.nextAt()).toBe(40);
    expect(namesOf(near.take(instant(40), ALL))).toEqual(['d']);
    expect([near.nextAt(), near.take(LATER, ALL)]).toEqual([null, []]);
  });

  test('holds a delivery once, however often it is added', () => {
    const near = new DueQueue();
    for (let times = 0; times < 3; times++) expect(near.add(dueAt(10))).toBe(true);
    expect(near.take(LATER, ALL)).toHaveLength(1);
  });

  test('takes a delivery again after it was taken out', () => {
    const near = new DueQueue();
    near.add(dueAt(10));
    near.take(LATER, ALL);
    near.add(dueAt(10));
    expect(near.take(LATER, ALL)).toHaveLength(1);
  });

  test.for([
    ['later', 10, 20],
    ['earlier', 20, 10],
  ] as const)('move %s when they are moved, and leave nothing behind', ([, from, to]) => {
    const near = new DueQueue();
    near.add(dueAt(from));
    near.add(dueAt(to));
    expect(near.nextAt()).toBe(to);
    expect(near.take(instant(to - 1), ALL)).toEqual([]);
    expect(near.take(instant(to), ALL)).toEqual([dueAt(to)]);
    expect(near.take(LATER, ALL)).toEqual([]);
  });

  test('holds a delivery once that was moved away and back again', () => {
    const near = new DueQueue();
    for (const at of [10, 20, 10]) near.add(dueAt(at));
    expect(near.take(LATER, ALL)).toEqual([dueAt(10)]);
    expect(near.nextAt()).toBeNull();
  });

  test('is bounded, and refuses deliveries until there is room', () => {
    const near = new DueQueue();
    const added = fill(near);
    expect(added).toBeGreaterThan(DUE_QUEUE_MAX / 2);
    expect(near.add(dueAt(5, { name: 'one more' }))).toBe(false);
    // A delivery that is queued already is accepted.
    expect(near.add(dueAt(7, { name: '7' }))).toBe(true);
    near.take(instant(1), ALL);
    expect(near.add(dueAt(5, { name: 'one more' }))).toBe(true);
    expect(near.take(LATER, ALL)).toHaveLength(added - 1);
  });

  test('leaves room for other customers, however many deliveries one of them has', () => {
    const near = new DueQueue();
    fill(near);
    for (let count = 0; count < 1_000; count++) {
      const other = dueAt(5, { name: `other ${count}`, partition: 2 as Partition });
      expect(near.add(other)).toBe(true);
    }
  });

  test('gives a few at a time, round robin by customer', () => {
    const near = new DueQueue();
    for (let count = 0; count < 5; count++) near.add(dueAt(count, { name: `a${count}` }));
    near.add(dueAt(6, { name: 'b0', partition: 2 as Partition }));
    near.add(dueAt(5, { name: 'c0', partition: 3 as Partition }));
    near.add(dueAt(9, { name: 'd0', partition: 4 as Partition }));
    expect(namesOf(near.take(instant(6), 4))).toEqual(['a0', 'b0', 'c0', 'a1']);
    expect(near.nextAt()).toBe(2);
    expect(namesOf(near.take(instant(6), ALL))).toEqual(['a2', 'a3', 'a4']);
    expect(near.nextAt()).toBe(9);
  });

  test('counts outdated entries, and drops them when their instant comes', () => {
    const near = new DueQueue();
    let moves = 0;
    while (near.add(dueAt(1_000 + moves))) moves++;
    expect(moves).toBeLessThan(DUE_QUEUE_MAX);
    expect(near.nextAt()).toBe(1_000 + moves - 1);
    expect(near.add(dueAt(5, { name: 'another' }))).toBe(true);
    near.take(instant(5), ALL);
    expect(near.take(LATER, ALL)).toEqual([dueAt(1_000 + moves - 1)]);
  });

  test('knows each delivery as it was added last', () => {
    const steps = fc.array(
      fc.record({
        name: fc.constantFrom('a', 'b', 'c', 'd'),
        at: fc.integer({ min: 0, max: 12 }),
        take: fc.boolean(),
      }),
      { maxLength: 60, size: 'max' },
    );
    fc.assert(
      fc.property(steps, (given) => {
        const near = new DueQueue();
        const model = new Map<string, number>();
        for (const { name, at, take } of given) {
          if (take) {
            const due = [...model].filter(([, dueAtMs]) => dueAtMs <= at);
            expect(namesOf(near.take(at as Instant, ALL)).toSorted()).toEqual(
              due.map(([own]) => own).toSorted(),
            );
            for (const [own] of due) model.delete(own);
          } else {
            near.add(dueAt(at, { name }));
            model.set(name, at);
          }
          expect(near.nextAt()).toBe(model.size === 0 ? null : Math.min(...model.values()));
        }
      }),
    );
  });
});

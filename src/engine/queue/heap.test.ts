import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Heap } from './heap.ts';

function ascending(a: number, b: number): number {
  return a - b;
}

function drained<T>(heap: Heap<T>): readonly T[] {
  const items: T[] = [];
  for (let item = heap.pop(); item !== undefined; item = heap.pop()) items.push(item);
  return items;
}

describe('a heap', () => {
  test('that is empty returns undefined', () => {
    const heap = new Heap(ascending);
    expect([heap.size, heap.peek(), heap.pop(), heap.size]).toEqual([0, undefined, undefined, 0]);
  });

  test('returns its items sorted', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -20, max: 20 }), { maxLength: 200, size: 'max' }), (items) => {
        const heap = new Heap(ascending);
        for (const item of items) heap.push(item);
        expect(drained(heap)).toEqual(items.toSorted(ascending));
      }),
    );
  });

  test('has the least item on top after any sequence of pushes and pops', () => {
    const steps = fc.array(fc.option(fc.integer({ min: 0, max: 50 }), { freq: 3 }), {
      maxLength: 200,
      size: 'max',
    });
    fc.assert(
      fc.property(steps, (given) => {
        const heap = new Heap(ascending);
        const model: number[] = [];
        for (const item of given) {
          if (item === null) expect(heap.pop()).toBe(model.shift());
          else {
            heap.push(item);
            model.push(item);
            model.sort(ascending);
          }
          expect([heap.size, heap.peek()]).toEqual([model.length, model[0]]);
        }
      }),
    );
  });

  test('returns equal items in the order in which they were added', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 200, size: 'max' }), (ranks) => {
        const items = ranks.map((rank, place) => ({ rank, place }));
        const heap = new Heap<{ readonly rank: number }>((a, b) => a.rank - b.rank);
        for (const item of items) heap.push(item);
        expect(drained(heap)).toEqual(items.toSorted((a, b) => a.rank - b.rank));
      }),
    );
  });
});

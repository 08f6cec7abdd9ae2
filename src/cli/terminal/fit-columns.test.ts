import { describe, expect, test } from 'vitest';
import { fitWidths } from './fit-columns.ts';

const GAP = 2;
const URL_CUT = { min: 10, wanted: 20 };

describe('columns', () => {
  const fits = [{ rank: 1 }, { rank: 3 }, { rank: 2, cut: URL_CUT }];

  test('all have their natural width if they fit', () => {
    expect(fitWidths([5, 5, 50], fits, 64, GAP)).toEqual([5, 5, 50]);
  });

  test('a column is cut before a less important one is left out, but not below its wanted width', () => {
    expect(fitWidths([5, 5, 50], fits, 63, GAP)).toEqual([5, 5, 49]);
    expect(fitWidths([5, 5, 50], fits, 34, GAP)).toEqual([5, 5, 20]);
    expect(fitWidths([5, 5, 50], fits, 33, GAP)).toEqual([5, 0, 26]);
  });

  test('a column that does not fit leaves its place to a less important one that does', () => {
    expect(fitWidths([5, 5, 50], fits, 16, GAP)).toEqual([5, 5, 0]);
    expect(fitWidths([5, 5, 50], fits, 17, GAP)).toEqual([5, 0, 10]);
  });

  test('the most important one is always shown', () => {
    expect(fitWidths([30, 5], [{}, {}], 20, GAP)).toEqual([30, 0]);
  });

  test('space that is left goes to the more important columns', () => {
    const both = [
      { rank: 2, cut: URL_CUT },
      { rank: 1, cut: URL_CUT },
    ];
    expect(fitWidths([40, 40], both, 52, GAP)).toEqual([20, 30]);
  });
});

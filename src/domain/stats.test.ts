import { describe, expect, test } from 'vitest';
import {
  addStats,
  LATENESS_BOUNDS_MS,
  LATENESS_CLASSES,
  latenessClass,
  latenessQuantile,
  NO_STATS,
  type Stats,
} from './stats.ts';

function late(...counts: readonly (readonly [ms: number, attempts: number])[]): Stats {
  const lateness = [...NO_STATS.lateness];
  for (const [ms, attempts] of counts) lateness[latenessClass(ms)] = attempts;
  return { ...NO_STATS, lateness };
}

describe('the class of a lateness', () => {
  test.for([
    [-3, 0],
    [0, 0],
    [1, 0],
    [1.01, 1],
    [2, 1],
    [100, LATENESS_BOUNDS_MS.indexOf(100)],
    [100.5, LATENESS_BOUNDS_MS.indexOf(150)],
    [300, LATENESS_BOUNDS_MS.indexOf(300)],
    [60_000, LATENESS_CLASSES - 2],
    [60_001, LATENESS_CLASSES - 1],
    [Number.MAX_SAFE_INTEGER, LATENESS_CLASSES - 1],
  ] as const)('of %d ms', ([ms, expected]) => {
    expect(latenessClass(ms)).toBe(expected);
  });

  test('has increasing bounds, which include the lines of the charts', () => {
    expect(LATENESS_BOUNDS_MS.toSorted((one, other) => one - other)).toEqual([...LATENESS_BOUNDS_MS]);
    expect(LATENESS_BOUNDS_MS).toEqual(expect.arrayContaining([100, 300]));
    expect(NO_STATS.lateness).toHaveLength(LATENESS_CLASSES);
  });
});

describe('the lateness that a share of attempts did not exceed', () => {
  test('is unknown without attempts', () => {
    expect(latenessQuantile(NO_STATS, 0.5)).toBeNull();
  });

  test('is between the bounds of its class', () => {
    expect(latenessQuantile(late([1, 10]), 0.5)).toBe(0.5);
    expect(latenessQuantile(late([1, 10]), 1)).toBe(1);
    expect(latenessQuantile(late([100, 4]), 0.5)).toBe(85);
    expect(latenessQuantile(late([1, 50], [10, 50]), 0.5)).toBe(1);
    expect(latenessQuantile(late([1, 50], [10, 50]), 0.99)).toBeCloseTo(9.94);
    expect(latenessQuantile(late([1, 98], [300, 2]), 0.99)).toBe(250);
  });

  test('is the lower bound of the last class, for attempts in it', () => {
    expect(latenessQuantile(late([90_000, 3]), 0.5)).toBe(60_000);
    expect(latenessQuantile(late([1, 1], [90_000, 99]), 0.99)).toBe(60_000);
  });

  test('is found with any rounding of the shares', () => {
    const stats = late([1, 1], [2, 1], [3, 1]);
    for (const share of [0, 1 / 3, 0.1 + 0.2, 2 / 3, 0.999_999, 1]) {
      expect(latenessQuantile(stats, share)).toBeLessThanOrEqual(3);
    }
  });
});

test('stats are added count by count, in any order', () => {
  const one: Stats = { ...late([1, 2], [300, 1]), fired: 3, succeeded: 2, retried: 1 };
  const other: Stats = { ...late([300, 4]), fired: 4, deadLettered: 3, expired: 1 };
  const sum = { ...late([1, 2], [300, 5]), fired: 7, succeeded: 2, deadLettered: 3, expired: 1, retried: 1 };
  expect(addStats(one, other)).toEqual(sum);
  expect(addStats(other, one)).toEqual(sum);
  expect(addStats(one, NO_STATS)).toEqual(one);
});

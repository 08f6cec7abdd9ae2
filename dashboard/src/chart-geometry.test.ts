import { expect, test } from 'vitest';
import {
  highestStack,
  labelStride,
  linearTicks,
  linePath,
  logTicks,
  stackedBars,
  stepAt,
  yOf,
} from './chart-geometry.ts';

const FRAME = { width: 140, height: 130, left: 40, top: 10, bottom: 20 };

test.each([
  [0, [0, 1]],
  [3, [0, 1, 2, 3]],
  [84, [0, 50, 100]],
  [205, [0, 100, 200, 300]],
])('ticks up to %d have round steps', (highest, ticks) => {
  expect(linearTicks(highest)).toEqual(ticks);
});

test('ticks of a logarithmic scale are 0 and powers of ten', () => {
  expect(logTicks(300)).toEqual([0, 1, 10, 100, 1_000]);
  expect(logTicks(0)).toEqual([0, 1, 10]);
});

test('a value lies between bottom and top', () => {
  expect(yOf(0, 100, 'linear', FRAME)).toBe(110);
  expect(yOf(100, 100, 'linear', FRAME)).toBe(10);
  expect(yOf(-5, 100, 'linear', FRAME)).toBe(110);
  expect(yOf(1e9, 100, 'log', FRAME)).toBe(10);
});

test('a logarithmic scale begins at 0 and shows values below 1 apart from each other', () => {
  const heights = [0, 0.2, 0.5, 1, 10, 100].map((value) => 110 - yOf(value, 100, 'log', FRAME));
  expect(heights[0]).toBe(0);
  expect(heights.at(-1)).toBe(100);
  for (const [index, height] of heights.slice(1).entries())
    expect(height - (heights[index] ?? 0)).toBeGreaterThan(5);
});

test('bars are stacked, and a small value is still visible', () => {
  const [low, high] = stackedBars(
    [
      [50, 0],
      [50, 0.001],
    ],
    100,
    FRAME,
  );
  expect(low).toBe('M40.5 60h49v50h-49z');
  expect(high).toBe('M40.5 10h49v50h-49zM90.5 109h49v1h-49z');
  expect(
    highestStack([
      [50, 0],
      [50, 2],
    ]),
  ).toBe(100);
});

test('a line is interrupted where a value is missing, and a single value is a dot', () => {
  expect(linePath([100, 0, null, 100], 100, 'linear', FRAME)).toBe('M52.5 10L77.5 110M127.5 10h1');
});

test('a position belongs to the step under it, or to the nearest step', () => {
  expect(stepAt(41, 4, FRAME)).toBe(0);
  expect(stepAt(139, 4, FRAME)).toBe(3);
  expect(stepAt(0, 4, FRAME)).toBe(0);
  expect(stepAt(500, 4, FRAME)).toBe(3);
  expect(labelStride(10, FRAME, 25)).toBe(3);
});

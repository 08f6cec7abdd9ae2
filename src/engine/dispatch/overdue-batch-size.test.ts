import { expect, test } from 'vitest';
import { BATCH_SIZE_MAX, BATCH_SIZE_MIN, OverdueBatchSize } from './overdue-batch-size.ts';

function lengthAfter(stride: OverdueBatchSize, ms: number, times: number): number {
  for (let n = 0; n < times; n++) stride.took(ms);
  return stride.size;
}

test('a stride begins small and grows while steps are quick, up to a bound', () => {
  const stride = new OverdueBatchSize();
  expect(stride.size).toBe(BATCH_SIZE_MIN);
  expect(lengthAfter(stride, 5, 1)).toBe(6);
  expect(lengthAfter(stride, 5, 100)).toBe(BATCH_SIZE_MAX);
});

test('it stays as it is where they are neither quick nor slow, and falls back by half where they are slow', () => {
  const stride = new OverdueBatchSize();
  lengthAfter(stride, 5, 100);
  expect(lengthAfter(stride, 30, 10)).toBe(BATCH_SIZE_MAX);
  expect(lengthAfter(stride, 100, 1)).toBe(BATCH_SIZE_MAX / 2);
  expect(lengthAfter(stride, 100, 100)).toBe(BATCH_SIZE_MIN);
});

test('where every step takes long, whatever its length, they grow: smaller ones would make nothing quicker', () => {
  expect(lengthAfter(new OverdueBatchSize(), 60, 100)).toBe(BATCH_SIZE_MAX);
});

test('what was quick once does not count for ever', () => {
  const stride = new OverdueBatchSize();
  lengthAfter(stride, 5, 100);
  expect(lengthAfter(stride, 100, 20)).toBe(BATCH_SIZE_MIN);
  expect(lengthAfter(stride, 100, 300)).toBe(BATCH_SIZE_MAX);
});

import { expect, test } from 'vitest';
import { BATCH_SIZE_MAX, BATCH_SIZE_MIN, OverdueBatchSize } from './overdue-batch-size.ts';

function sizeAfter(batchSize: OverdueBatchSize, ms: number, times: number): number {
  for (let n = 0; n < times; n++) batchSize.took(ms);
  return batchSize.size;
}

test('the size begins small and grows while batches are quick, up to a bound', () => {
  const batchSize = new OverdueBatchSize();
  expect(batchSize.size).toBe(BATCH_SIZE_MIN);
  expect(sizeAfter(batchSize, 5, 1)).toBe(10);
  expect(sizeAfter(batchSize, 5, 100)).toBe(BATCH_SIZE_MAX);
});

test('the size stays while batches are neither quick nor slow, and halves while they are slow', () => {
  const batchSize = new OverdueBatchSize();
  sizeAfter(batchSize, 5, 100);
  expect(sizeAfter(batchSize, 30, 10)).toBe(BATCH_SIZE_MAX);
  expect(sizeAfter(batchSize, 100, 1)).toBe(BATCH_SIZE_MAX / 2);
  expect(sizeAfter(batchSize, 100, 100)).toBe(BATCH_SIZE_MIN);
});

test('the size grows when batches of every size are slow, because smaller ones would not be quicker', () => {
  expect(sizeAfter(new OverdueBatchSize(), 60, 100)).toBe(BATCH_SIZE_MAX);
});

test('a quick batch does not count forever', () => {
  const batchSize = new OverdueBatchSize();
  sizeAfter(batchSize, 5, 100);
  expect(sizeAfter(batchSize, 100, 20)).toBe(BATCH_SIZE_MIN);
  expect(sizeAfter(batchSize, 100, 300)).toBe(BATCH_SIZE_MAX);
});

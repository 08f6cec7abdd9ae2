import { expect, test } from 'vitest';
import { waitBeforeStoringMs } from '../../bench/workloads.ts';

test.each([
  [7_000, 52_999, 0],
  [7_000, 53_000, 7_000],
  [7_000, 120_000, 0],
  [7_000, 119_999, 1],
])('what takes %i ms to store is stored within one minute: %i', (leadMs, now, waitMs) => {
  expect(waitBeforeStoringMs(leadMs, now)).toBe(waitMs);
});

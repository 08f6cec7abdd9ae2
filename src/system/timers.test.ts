import { expect, test } from 'vitest';
import { systemTimers } from './timers.ts';

test('what was called off does not happen, after no time or some', async () => {
  const happened: number[] = [];
  for (const ms of [0, 1]) systemTimers.after(ms, () => happened.push(ms))();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(happened).toEqual([]);
});

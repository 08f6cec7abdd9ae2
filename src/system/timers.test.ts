import { expect, test } from 'vitest';
import { systemTimers } from './timers.ts';

test('a cancelled timer does not fire, with or without a delay', async () => {
  const fired: number[] = [];
  for (const ms of [0, 1]) systemTimers.after(ms, () => fired.push(ms))();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(fired).toEqual([]);
});

import { expect, test } from 'vitest';
import { systemTimers } from './timers.ts';

const STEPS = 50;
const STEP_MS = 2;
const WORKERS = 3;

function work(): void {
  const beganAt = systemTimers.elapsed();
  while (systemTimers.elapsed() - beganAt < STEP_MS);
}

test('work that pauses for no time lets the event loop turn after each step, however many work so', async () => {
  let stepsInTurn = 0;
  let stepsInTurnMax = 0;
  let isOver = false;
  const turn = () => {
    stepsInTurnMax = Math.max(stepsInTurnMax, stepsInTurn);
    stepsInTurn = 0;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const chain = () =>
    new Promise<void>((resolve) => {
      const step = (left: number) => {
        // The next step is set before the work: it is due when that ends.
        if (left > 0) systemTimers.after(0, () => step(left - 1));
        else resolve();
        work();
        stepsInTurn++;
      };
      step(STEPS);
    });
  await Promise.all(Array.from({ length: WORKERS }, chain));
  isOver = true;
  expect(Math.max(stepsInTurnMax, stepsInTurn)).toBeLessThanOrEqual(WORKERS);
});

test('what was called off does not happen', async () => {
  const happened: number[] = [];
  for (const ms of [0, 1]) systemTimers.after(ms, () => happened.push(ms))();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(happened).toEqual([]);
});

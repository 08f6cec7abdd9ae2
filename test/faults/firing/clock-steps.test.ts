import { expect, test } from 'vitest';
import { runClockSteps } from './clock-steps.ts';

test('a clock set an hour ahead and back loses nothing, doubles nothing, and fires nothing early', async () => {
  const { faults, figures, caughtUpMs, afterStepMs, occurrences } = await runClockSteps(10);
  console.log(
    `${JSON.stringify(figures)}, caught up in ${caughtUpMs.map(Math.round).join()} ms, ` +
      `due in a second after a step: ${JSON.stringify(afterStepMs)}, occurrences ${occurrences.join()}`,
  );
  expect(faults).toEqual([]);
  expect(figures).toMatchObject({ lost: 0, interrupted: 0, doubles: 0, timeouts: 0 });
});

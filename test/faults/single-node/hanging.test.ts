import { expect, test } from 'vitest';
import { runHanging } from './hanging.ts';
import { formatSpread } from './numbers.ts';

const HANGING = 100;
const HEALTHY = 100;

test('a hundred hanging endpoints do not delay a hundred healthy ones', async () => {
  const report = await runHanging({
    hanging: HANGING,
    dueEach: 4,
    healthy: HEALTHY,
    healthyEach: 2,
    spreadMs: 1_000,
    inThread: true,
  });
  console.log(`healthy ones late by ${formatSpread(report.lateness)}, ${report.stillHanging} hanging`);
  expect(report).toMatchObject({ healthyArrived: 2 * HEALTHY, hangingEnded: 0 });
  expect(report.stillHanging).toBeGreaterThanOrEqual(HANGING);
});

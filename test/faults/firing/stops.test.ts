import { expect, test } from 'vitest';
import { runHangingStop, runStops } from './stops.ts';

const STOPS = 3;
const SEED = 815;

test(`what is under way is finished, nothing is interrupted or doubled, in ${STOPS} stops`, async () => {
  const { faults, figures, exitMs } = await runStops({ stops: STOPS, seed: SEED, clients: 6 });
  console.log(`seed ${SEED}: ${JSON.stringify(figures)}, exits after ${exitMs.map(Math.round).join()} ms`);
  expect(faults).toEqual([]);
  expect(figures.succeeded).toBeGreaterThan(50);
  expect(figures).toMatchObject({ lost: 0, interrupted: 0, doubles: 0 });
});

test('what hangs beyond the grace is closed as interrupted before the exit, and tried again', async () => {
  const { faults, figures, exitMs, hanging } = await runHangingStop(5);
  expect(faults).toEqual([]);
  expect(figures).toMatchObject({
    succeeded: hanging,
    interrupted: hanging,
    attempts: 2 * hanging,
    doubles: 0,
  });
  expect(exitMs).toBeGreaterThan(900);
  expect(exitMs).toBeLessThan(3_000);
});

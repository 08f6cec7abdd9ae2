import { expect, test } from 'vitest';
import { runKills } from './kills.ts';

const KILLS = 3;
const SEED = 20_261_120;

test(`nothing is lost, and only interrupted attempts are sent twice, in ${KILLS} kills under load`, async () => {
  const { faults, figures, claimedAtKills } = await runKills({ kills: KILLS, seed: SEED, clients: 3 });
  console.log(`seed ${SEED}: ${JSON.stringify(figures)}, claimed at kills ${claimedAtKills.join()}`);
  expect(faults).toEqual([]);
  expect(figures.succeeded).toBeGreaterThan(100);
  expect(figures.deadLetter).toBeGreaterThan(0);
  expect(figures.interrupted).toBeGreaterThan(0);
  expect(figures.duplicates).toBeLessThanOrEqual(figures.interrupted);
});

/**
 * Three real nodes on a real PostgreSQL, and the death of one of them: at length, with nodes that stand still, restarts
 * and failovers of the database and answers that get lost, it is `npm run faults:cluster`. How late things are is
 * measured there; here the machine has other things to do.
 */
import { expect, test } from 'vitest';
import { shown } from '../firing/numbers.ts';
import { runKills } from './kills.ts';

const SEED = 20_261_115;
const LIGHT = { seed: SEED, perSecond: 40, durable: false };

test('kill -9 of a node: nothing is lost, and only what was in flight there is sent again', async () => {
  const { figures, faults, inFlight } = await runKills({ ...LIGHT, rounds: 1 });
  const { lateness, ...counted } = figures;
  console.log(`kill, seed ${SEED}: ${JSON.stringify(counted)}, late by ${shown(lateness)}`);
  expect(faults).toEqual([]);
  expect(figures.lost).toBe(0);
  expect(figures.succeeded).toBeGreaterThan(100);
  expect(figures.interrupted).toBe(inFlight[0]);
});

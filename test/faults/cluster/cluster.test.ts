/**
 * Three real nodes on a real PostgreSQL, and the worst that can happen to them, once each: at length, with nodes that
 * stand still, restarts and failovers of the database, it is `npm run faults:cluster`. How late things are is
 * measured there; here the machine has other things to do.
 */
import { expect, test } from 'vitest';
import { shown } from '../firing/numbers.ts';
import { runKills } from './kills.ts';
import { runLostCommits } from './lost-commits.ts';
import type { Report } from './scene.ts';

const SEED = 20_261_115;
const LIGHT = { seed: SEED, perSecond: 40, durable: false };

function tell(name: string, { figures, faults }: Report): void {
  const { lateness, ...counted } = figures;
  console.log(`${name}, seed ${SEED}: ${JSON.stringify(counted)}, late by ${shown(lateness)}`);
  expect(faults).toEqual([]);
  expect(figures.lost).toBe(0);
  expect(figures.succeeded).toBeGreaterThan(100);
}

test('kill -9 of a node: nothing is lost, and only what was in flight there is sent again', async () => {
  const report = await runKills({ ...LIGHT, rounds: 1 });
  tell('kill', report);
  expect(report.figures.interrupted).toBe(report.inFlight[0]);
});

test('answers to COMMIT get lost: nothing is done twice', async () => {
  const report = await runLostCommits({ ...LIGHT, rounds: 1 });
  tell('lost commits', report);
  expect(report.lostCommits).toBeGreaterThan(0);
});

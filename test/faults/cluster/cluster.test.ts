/**
 * Kills one of three nodes on a real PostgreSQL. It is a process. The nodes that survive run in the thread of
 * the tests. `npm run faults:cluster` tests more: frozen nodes, database restarts, failovers and lost answers. It
 * also measures lateness, which this test does not, because the machine is busy with other tests.
 */
import { expect, test } from 'vitest';
import { formatSpread } from '#test/faults/single-node/numbers.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { runKillsOn } from './kills.ts';

const SEED = 20_261_115;
const LIGHT = { seed: SEED, perSecond: 24, slowPercent: 40, durable: false, inThread: true };

test('after a SIGKILL of a node nothing is lost, and only its attempts in flight are sent again', async () => {
  await using database = await createDatabase(await sharedPostgres());
  const { figures, faults, inFlight } = await runKillsOn(database.url, { ...LIGHT, rounds: 1 });
  const { lateness, ...counted } = figures;
  console.log(`kill, seed ${SEED}: ${JSON.stringify(counted)}, late by ${formatSpread(lateness)}`);
  expect(faults).toEqual([]);
  expect(figures.lost).toBe(0);
  expect(figures.succeeded).toBeGreaterThan(100);
  expect(figures.interrupted).toBe(inFlight[0]);
});

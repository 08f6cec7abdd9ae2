/**
 * Kills one of three nodes on a real PostgreSQL. It is a process. The nodes that survive run in the thread of
 * the tests. `npm run faults:cluster` tests more: frozen nodes, database restarts, failovers and lost answers. It
 * also measures lateness, which this test does not, because the machine is busy with other tests.
 */
import { expect, test } from 'vitest';
import { formatSpread } from '#test/faults/single-node/numbers.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { type KillReport, runKillsOn } from './kills.ts';

const SEED = 20_261_115;
const LIGHT = { seed: SEED, perSecond: 24, slowPercent: 40, durable: false, inThread: true };

/** The log message of a node that stood still for longer than its lease. */
const STOOD_STILL = 'slots were lost to another node';
const RUNS_MAX = 3;

/** On a busy machine other nodes may stand still too. That run shows more than a kill, so it is repeated. */
async function runUndisturbed(): Promise<KillReport> {
  for (let runs = 1; ; runs++) {
    await using database = await createDatabase(await sharedPostgres());
    const report = await runKillsOn(database.url, { ...LIGHT, rounds: 1 });
    const isDisturbed = report.outputs.some((output) => output.includes(STOOD_STILL));
    if (!isDisturbed || runs === RUNS_MAX) return report;
  }
}

test('after a SIGKILL of a node nothing is lost, and only its attempts in flight are sent again', async () => {
  const { figures, faults, inFlight } = await runUndisturbed();
  const { lateness, ...counted } = figures;
  console.log(`kill, seed ${SEED}: ${JSON.stringify(counted)}, late by ${formatSpread(lateness)}`);
  expect(faults).toEqual([]);
  expect(figures.lost).toBe(0);
  expect(figures.succeeded).toBeGreaterThan(100);
  expect(inFlight[0]).toBeGreaterThan(0);
  expect(figures.interrupted).toBe(inFlight[0]);
});

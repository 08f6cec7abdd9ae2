/**
 * All nodes are restarted one after the other, as an operator does for an upgrade. Nothing is lost or sent
 * twice, no attempt is interrupted, no call fails, and nothing is more than a second late.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '#test/postgres/server.ts';
import { LoadedCluster, type Report, type Run } from './loaded-cluster.ts';

export interface RollingReport extends Report {
  readonly exitMs: readonly number[];
  readonly startMs: readonly number[];
}

const LATE_MS_MAX = 1_000;
/** An operator, or a tool, checks each node before the next. */
const BETWEEN_MS = 500;

export async function runRolling(run: Run): Promise<RollingReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url } = await server.createDatabase();
  await using cluster = await LoadedCluster.open({ url: () => url }, run);
  const { nodes } = cluster;
  const faults: string[] = [];
  const exitMs: number[] = [];
  const startMs: number[] = [];
  for (let round = 0; round < run.rounds; round++) {
    for (const number of nodes.numbers) {
      const stopAt = performance.now();
      const { code, signal } = await nodes.stop(number);
      if (code !== 0) faults.push(`round ${round + 1}: node ${number} ended with ${code}, ${signal}`);
      const startAt = performance.now();
      exitMs.push(startAt - stopAt);
      await nodes.start(number);
      startMs.push(performance.now() - startAt);
      await sleep(BETWEEN_MS);
    }
  }
  const report = await cluster.close();
  const { duplicates, interrupted, lateness } = report.figures;
  return {
    ...report,
    faults: [
      ...faults,
      ...report.faults,
      ...(duplicates === 0 ? [] : [`${duplicates} were sent twice`]),
      ...(interrupted === 0 ? [] : [`${interrupted} attempts were broken off`]),
      ...(report.resent === 0 ? [] : [`${report.resent} calls had to be made again`]),
      ...(lateness.max <= LATE_MS_MAX ? [] : [`a delivery was ${lateness.max} ms late`]),
    ],
    exitMs,
    startMs,
  };
}

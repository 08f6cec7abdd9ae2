/**
 * All nodes are stopped and started again, one after the other, as an operator does for an upgrade: nothing is
 * lost or doubled, no attempt is broken off, no call fails, and nothing is more than a second late.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '#test/postgres/server.ts';
import { type Report, type Run, Scene } from './scene.ts';

export interface RollingReport extends Report {
  readonly exitMs: readonly number[];
  readonly startMs: readonly number[];
}

const LATE_MS_MAX = 1_000;
/** An operator, or what works for one, looks at each before the next. */
const BETWEEN_MS = 500;

export async function runRolling(run: Run): Promise<RollingReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url } = await server.createDatabase();
  await using scene = await Scene.open({ url: () => url }, run);
  const { nodes } = scene;
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
  const report = await scene.close();
  const { doubled, interrupted, lateness } = report.figures;
  return {
    ...report,
    faults: [
      ...faults,
      ...report.faults,
      ...(doubled === 0 ? [] : [`${doubled} were doubled`]),
      ...(interrupted === 0 ? [] : [`${interrupted} attempts were broken off`]),
      ...(report.resent === 0 ? [] : [`${report.resent} calls had to be made again`]),
      ...(lateness.max <= LATE_MS_MAX ? [] : [`a delivery was ${lateness.max} ms late`]),
    ],
    exitMs,
    startMs,
  };
}

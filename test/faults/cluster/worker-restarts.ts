/**
 * The workers of a Citus cluster are restarted under load, one after another. The coordinator goes on, so a part of
 * the customers' data is away for a while. Afterwards everything continues by itself, and nothing that was
 * acknowledged is lost.
 *
 * This needs a cluster that may be disturbed: SCHED_TEST_CITUS_URL names its coordinator, and
 * SCHED_TEST_CITUS_RESTART is a shell command that restarts the worker at the port `$1`.
 */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import { workerUrls } from '#test/postgres/citus.ts';
import { createDistributedDatabase } from '#test/postgres/distributed-database.ts';
import { LoadedCluster, type Report, type Run } from './loaded-cluster.ts';
import { waitUntilReady } from './nodes.ts';

interface WorkerRestart {
  readonly downMs: number;
  /** From its end until every node was ready. */
  readonly readyMs: number;
}

export interface WorkerRestartReport extends Report {
  readonly restarts: readonly WorkerRestart[];
}

const PAUSE_MS = [3_000, 5_000] as const;

export async function runWorkerRestarts(run: Run): Promise<WorkerRestartReport> {
  const command = process.env.SCHED_TEST_CITUS_RESTART;
  if (command === undefined) throw new Error('SCHED_TEST_CITUS_RESTART is not set.');
  await using database = await createDistributedDatabase();
  const { url } = database;
  const workers = await workerUrls(url);
  await using cluster = await LoadedCluster.open({ url: () => url, cannotTrigger: true }, run);
  const prng = new Prng(run.seed);
  const restarts: WorkerRestart[] = [];
  for (let round = 0; round < run.rounds; round++) {
    const worker = new URL(workers[round % workers.length] ?? '');
    const goneAt = Date.now();
    execFileSync('sh', ['-c', command, 'restart', worker.port], { stdio: 'ignore' });
    const downMs = Date.now() - goneAt;
    const readyMs = await Promise.all(cluster.nodes.running.map(({ process }) => waitUntilReady(process)));
    restarts.push({ downMs, readyMs: Math.max(...readyMs) });
    await sleep(prng.between(...PAUSE_MS));
  }
  return { ...(await cluster.close()), restarts };
}

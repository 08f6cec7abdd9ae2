/**
 * A connection to PostgreSQL loses answers to COMMIT, and now and then a COMMIT itself. The writer cannot
 * know whether its transaction counts, and has to find out. Nothing is done twice, and nothing is considered
 * done that is not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import { type PostgresProxy, startProxy } from '#test/postgres/proxy.ts';
import { startPostgres } from '#test/postgres/server.ts';
import { LoadedCluster, type Report, type Run } from './loaded-cluster.ts';

export interface LostCommitReport extends Report {
  /** Commits that were lost, or whose answer was lost. */
  readonly lostCommits: number;
}

/**
 * A transaction whose conditions hold is one batch with its commit. It is recognised by its write to
 * `writers`.
 */
const COMMITS = /^COMMIT|INTO writers/;
const ANSWER_LOST = 0.05;
const COMMIT_LOST = 0.02;
const FAULT_MS = 4_000;
const PAUSE_MS = 2_000;

export async function runLostCommits(run: Run): Promise<LostCommitReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url } = await server.createDatabase();
  await using proxy = await startProxy(server.port);
  await using cluster = await LoadedCluster.open({ url: () => url, databaseUrl: proxy.through(url) }, run);
  const prng = new Prng(run.seed);
  for (let round = 0; round < run.rounds; round++) {
    loseCommits(proxy, prng);
    await sleep(FAULT_MS);
    proxy.interfere(() => 'pass');
    await sleep(PAUSE_MS);
  }
  return { ...(await cluster.close()), lostCommits: proxy.lost };
}

function loseCommits(proxy: PostgresProxy, prng: Prng): void {
  proxy.interfere((sql) => {
    if (!COMMITS.test(sql)) return 'pass';
    if (prng.chance(ANSWER_LOST)) return 'lose the answer';
    return prng.chance(COMMIT_LOST) ? 'lose it' : 'pass';
  });
}

/**
 * A way to PostgreSQL on which answers to COMMIT get lost, and now and then a COMMIT itself. Who wrote cannot
 * know whether it counts, and finds out: nothing is done twice, nothing is taken for done that is not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import { type PostgresProxy, startProxy } from '#test/postgres/proxy.ts';
import { startPostgres } from '#test/postgres/server.ts';
import { type Report, type Run, Scene } from './scene.ts';

export interface LostCommitReport extends Report {
  /** Commits that were lost, or whose answer was. */
  readonly lostCommits: number;
}

/** A transaction in which all holds is one batch, and is committed with it: it is known by its mark. */
const COMMITS = /^COMMIT|INTO writers/;
const ANSWER_LOST = 0.05;
const COMMIT_LOST = 0.02;
const TROUBLE_MS = 4_000;
const CALM_MS = 2_000;

export async function runLostCommits(run: Run): Promise<LostCommitReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url } = await server.createDatabase();
  await using proxy = await startProxy(server.port);
  await using scene = await Scene.open({ url: () => url, databaseUrl: proxy.through(url) }, run);
  const prng = new Prng(run.seed);
  for (let round = 0; round < run.rounds; round++) {
    loseCommits(proxy, prng);
    await sleep(TROUBLE_MS);
    proxy.interfere(() => 'pass');
    await sleep(CALM_MS);
  }
  return { ...(await scene.close()), lostCommits: proxy.lost };
}

function loseCommits(proxy: PostgresProxy, prng: Prng): void {
  proxy.interfere((sql) => {
    if (!COMMITS.test(sql)) return 'pass';
    if (prng.chance(ANSWER_LOST)) return 'lose the answer';
    return prng.chance(COMMIT_LOST) ? 'lose it' : 'pass';
  });
}

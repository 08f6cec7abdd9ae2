/**
 * PostgreSQL goes away under load and comes back: stopped with a checkpoint, stopped at once, killed. Meanwhile
 * the API answers 503 `unavailable` and no node says that it is ready; afterwards everything goes on by itself,
 * and nothing that was acknowledged is lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import { type PostgresServer, startPostgres } from '#test/postgres/server.ts';
import { Client, Unanswered } from '../client.ts';
import { TEST_KEY } from '../firing/service.ts';
import { type Node, ready } from './nodes.ts';
import { type Report, type Run, Scene } from './scene.ts';

const WAYS = ['fast', 'immediate', 'kill'] as const;
type Way = (typeof WAYS)[number];

interface Outage {
  readonly way: Way;
  /** From when it was told to end until it took connections again. */
  readonly awayMs: number;
  /** From when the server took connections again until every node was ready. */
  readonly readyMs: number;
  /** The same, until the first delivery arrived. */
  readonly firedMs: number;
}

export interface RestartReport extends Report {
  readonly outages: readonly Outage[];
}

/** Between its end and its start, which take their time too: shorter and longer than a lease. */
const REST_MS = [300, 6_000] as const;
/** By then every node has noticed. */
const NOTICED_MS = 1_500;
const CALM_MS = [3_000, 5_000] as const;
const ANSWER_MS_MAX = 12_000;
const RECOVERED_MS_MAX = 15_000;

export async function runDatabaseRestarts(run: Run): Promise<RestartReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url } = await server.createDatabase();
  await using scene = await Scene.open({ url: () => url }, run);
  const { nodes, ledger } = scene;
  const prng = new Prng(run.seed);
  const outages: Outage[] = [];
  const faults: string[] = [];
  for (let round = 0; round < run.rounds; round++) {
    const way = WAYS[round % WAYS.length] ?? 'fast';
    const restMs = prng.between(...REST_MS);
    const goneAt = Date.now();
    await end(server, way);
    await sleep(Math.min(restMs, NOTICED_MS));
    if (restMs > NOTICED_MS) {
      const probed = await Promise.all(nodes.living.map(probe));
      faults.push(...probed.flat().map((fault) => `round ${round + 1} (${way}): ${fault}`));
      await sleep(restMs - NOTICED_MS);
    }
    await server.start();
    const backAt = Date.now();
    const seen = ledger.received.length;
    const readyMs = await Promise.all(nodes.living.map(({ process }) => ready(process)));
    while (ledger.received.length === seen) await sleep(10);
    const firedMs = (ledger.received[seen]?.arrivedAt ?? Number.NaN) - backAt;
    outages.push({ way, awayMs: backAt - goneAt, readyMs: Math.max(...readyMs), firedMs });
    await sleep(prng.between(...CALM_MS));
  }
  const report = await scene.close();
  const slow = outages.filter((each) => Math.max(each.readyMs, each.firedMs) > RECOVERED_MS_MAX);
  return {
    ...report,
    faults: [...faults, ...slow.map((each) => `slow to recover: ${JSON.stringify(each)}`), ...report.faults],
    outages,
  };
}

function end(server: PostgresServer, way: Way): Promise<void> {
  return way === 'kill' ? server.kill() : server.stop(way);
}

/** What a node says while the database is away. */
async function probe({ number, process }: Node): Promise<readonly string[]> {
  const client = new Client(process.url, TEST_KEY, 2);
  const start = performance.now();
  const said = async (method: string, path: string, body?: string) => {
    const answer = await client.send(method, path, body === undefined ? {} : { key: 'probe', body });
    return answer.status === 503 && answer.text.includes('"unavailable"')
      ? []
      : [`node ${number} answered ${method} ${path} with ${answer.status}: ${answer.text}`];
  };
  try {
    const faults = await Promise.all([
      said('GET', '/readyz'),
      said('POST', '/v1/schedules', JSON.stringify({ endpoint: 'https://127.0.0.1/x', delay: '1h' })),
    ]);
    const tookMs = performance.now() - start;
    return [
      ...faults.flat(),
      ...(tookMs > ANSWER_MS_MAX ? [`node ${number} took ${Math.round(tookMs)} ms to say so`] : []),
    ];
  } catch (error) {
    if (error instanceof Unanswered) return [`node ${number}: ${error.message}`];
    throw error;
  } finally {
    client.close();
  }
}

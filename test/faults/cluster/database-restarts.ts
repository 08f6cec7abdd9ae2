/**
 * PostgreSQL stops under load and comes back: after a checkpoint, immediately, or killed. Meanwhile the API
 * answers 503 `unavailable` and no node is ready. Afterwards everything continues by itself, and nothing that
 * was acknowledged is lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TEST_KEY } from '#test/faults/single-node/service.ts';
import { Prng } from '#test/fuzz/prng.ts';
import { type PostgresServer, startPostgres } from '#test/postgres/server.ts';
import { Client, Unanswered } from '../client.ts';
import { LoadedCluster, type Report, type Run } from './loaded-cluster.ts';
import { type Node, waitUntilReady } from './nodes.ts';

const STOP_MODES = ['fast', 'immediate', 'kill'] as const;
type StopMode = (typeof STOP_MODES)[number];

interface Outage {
  readonly mode: StopMode;
  /** From the order to stop until it accepted connections again. */
  readonly downMs: number;
  /** From the first accepted connection until every node was ready. */
  readonly readyMs: number;
  /** From the first accepted connection until the first delivery arrived. */
  readonly sentMs: number;
}

export interface RestartReport extends Report {
  readonly outages: readonly Outage[];
}

/** The time between stop and start: shorter and longer than a lease. */
const REST_MS = [300, 6_000] as const;
/** By this time every node has noticed the outage. */
const NOTICED_MS = 1_500;
const PAUSE_MS = [3_000, 5_000] as const;
const ANSWER_MS_MAX = 12_000;
const RECOVERED_MS_MAX = 15_000;

export async function runDatabaseRestarts(run: Run): Promise<RestartReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url } = await server.createDatabase();
  await using cluster = await LoadedCluster.open({ url: () => url }, run);
  const { nodes, ledger } = cluster;
  const prng = new Prng(run.seed);
  const outages: Outage[] = [];
  const faults: string[] = [];
  for (let round = 0; round < run.rounds; round++) {
    const mode = STOP_MODES[round % STOP_MODES.length] ?? 'fast';
    const restMs = prng.between(...REST_MS);
    const goneAt = Date.now();
    await end(server, mode);
    await sleep(Math.min(restMs, NOTICED_MS));
    if (restMs > NOTICED_MS) {
      const probed = await Promise.all(nodes.running.map(probe));
      faults.push(...probed.flat().map((fault) => `round ${round + 1} (${mode}): ${fault}`));
      await sleep(restMs - NOTICED_MS);
    }
    await server.start();
    const backAt = Date.now();
    const seen = ledger.received.length;
    const readyMs = await Promise.all(nodes.running.map(({ process }) => waitUntilReady(process)));
    while (ledger.received.length === seen) await sleep(10);
    const sentMs = (ledger.received[seen]?.arrivedAt ?? Number.NaN) - backAt;
    outages.push({ mode: mode, downMs: backAt - goneAt, readyMs: Math.max(...readyMs), sentMs });
    await sleep(prng.between(...PAUSE_MS));
  }
  const report = await cluster.close();
  const slow = outages.filter((each) => Math.max(each.readyMs, each.sentMs) > RECOVERED_MS_MAX);
  return {
    ...report,
    faults: [...faults, ...slow.map((each) => `slow to recover: ${JSON.stringify(each)}`), ...report.faults],
    outages,
  };
}

function end(server: PostgresServer, mode: StopMode): Promise<void> {
  return mode === 'kill' ? server.kill() : server.stop(mode);
}

/** Checks a node's answers while the database is down. */
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

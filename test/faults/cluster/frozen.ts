/**
 * One of three nodes is frozen for longer than its lease, and continues (SIGSTOP, SIGCONT). The others take
 * its slots and close its attempts. When it wakes, it believes for a moment that nothing has changed. None of
 * its writes may count then. The triggers in the database would record a claim without a slot, an attempt
 * closed twice, or a delivery changed after its end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import { startPostgres } from '#test/postgres/server.ts';
import { type Resumed, resumedAfter, type Takeover, takeoverFaults } from './kills.ts';
import { LoadedCluster, type Report, type Run } from './loaded-cluster.ts';
import { waitUntilReady } from './nodes.ts';
import { claimedBy, slotsOf } from './stored.ts';

export interface FrozenReport extends Report {
  readonly inFlight: readonly number[];
  readonly resumed: readonly Resumed[];
  /** From SIGCONT until the node was ready again. */
  readonly readyMs: readonly number[];
}

/** Data that was written to a socket before is still processed. */
const SETTLE_MS = 150;
const PAUSE_MS = [2_000, 4_000] as const;

export async function runFrozen(run: Run, frozenMs: number): Promise<FrozenReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url } = await server.createDatabase();
  await using cluster = await LoadedCluster.open({ url: () => url }, run);
  const { nodes } = cluster;
  const prng = new Prng(run.seed);
  const stops: Takeover[] = [];
  const readyMs: number[] = [];
  for (let round = 0; round < run.rounds; round++) {
    const { name, process } = nodes.at(prng.pick(nodes.numbers));
    process.signal('SIGSTOP');
    const at = Date.now();
    // Its unanswered calls are repeated at other nodes. It finds them when it wakes.
    nodes.balancer.disconnect(process.url);
    await sleep(SETTLE_MS);
    stops.push({ at, slots: await slotsOf(url, name), inFlight: await claimedBy(url, name) });
    await sleep(frozenMs - SETTLE_MS);
    process.signal('SIGCONT');
    readyMs.push(await waitUntilReady(process));
    nodes.balancer.open(process.url);
    await sleep(prng.between(...PAUSE_MS));
  }
  let resumed: readonly Resumed[] = [];
  const report = await cluster.close((stored) => {
    resumed = stops.map((stop) => resumedAfter(stop, stored, cluster.ledger.received));
    return takeoverFaults(stops, stored, cluster.ledger.received);
  });
  return { ...report, inFlight: stops.map(({ inFlight }) => inFlight.size), resumed, readyMs };
}

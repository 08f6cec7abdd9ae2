/**
 * One node of three stands still for longer than its lease, and goes on (SIGSTOP, SIGCONT). The others take its
 * slots and close what it had under way; when it wakes it believes for a moment that all is as it was. Nothing
 * of what it writes then may count: the witness in the database would have seen a claim without a slot, an
 * attempt closed twice, a delivery changed after its end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import { startPostgres } from '#test/postgres/server.ts';
import { type Resumed, resumedAfter, type Takeover, takeoverFaults } from './kills.ts';
import { ready } from './nodes.ts';
import { type Report, type Run, Scene } from './scene.ts';
import { claimedBy, slotsOf } from './stored.ts';

export interface FrozenReport extends Report {
  readonly inFlight: readonly number[];
  readonly resumed: readonly Resumed[];
  /** From SIGCONT until it was ready again. */
  readonly readyMs: readonly number[];
}

/** What had been written to a socket is still carried out. */
const SETTLE_MS = 150;
const CALM_MS = [2_000, 4_000] as const;

export async function runFrozen(run: Run, frozenMs: number): Promise<FrozenReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url } = await server.createDatabase();
  await using scene = await Scene.open({ url: () => url }, run);
  const { nodes } = scene;
  const prng = new Prng(run.seed);
  const stops: Takeover[] = [];
  const readyMs: number[] = [];
  for (let round = 0; round < run.rounds; round++) {
    const { name, process } = nodes.at(prng.pick(nodes.numbers));
    process.signal('SIGSTOP');
    const at = Date.now();
    // Calls that it has not answered are made again elsewhere; it finds them when it wakes.
    nodes.front.cut(process.url);
    await sleep(SETTLE_MS);
    stops.push({ at, slots: await slotsOf(url, name), inFlight: await claimedBy(url, name) });
    await sleep(frozenMs - SETTLE_MS);
    process.signal('SIGCONT');
    readyMs.push(await ready(process));
    nodes.front.open(process.url);
    await sleep(prng.between(...CALM_MS));
  }
  let resumed: readonly Resumed[] = [];
  const report = await scene.close((stored) => {
    resumed = stops.map((stop) => resumedAfter(stop, stored, scene.ledger.received));
    return takeoverFaults(stops, stored, scene.ledger.received);
  });
  return { ...report, inFlight: stops.map(({ inFlight }) => inFlight.size), resumed, readyMs };
}

/**
 * Kills one of three nodes under load with SIGKILL. The others close exactly its claims of that moment as
 * interrupted, and nothing else is sent twice. Its slots go to the others, which send what came due there
 * meanwhile. Then the node is started again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Received } from '#test/faults/single-node/ledger.ts';
import { Prng } from '#test/fuzz/prng.ts';
import { startPostgres } from '#test/postgres/server.ts';
import { duplicateIds } from './audit.ts';
import { LoadedCluster, type Report, type Run } from './loaded-cluster.ts';
import { claimedBy, type Stored, slotsOf } from './stored.ts';

export interface Takeover {
  readonly at: number;
  readonly slots: ReadonlySet<number>;
  /** Deliveries that the killed node had claimed. */
  readonly inFlight: ReadonlySet<string>;
}

/** Milliseconds after the kill. */
export interface Resumed {
  /** When the first delivery of its slots was sent that came due after the kill. */
  readonly first: number;
  /** When the last delivery was sent that came due until then. */
  readonly last: number;
}

export interface KillReport extends Report {
  readonly inFlight: readonly number[];
  readonly resumed: readonly Resumed[];
}

/** Data that a process wrote to its socket before it died is still processed. */
const SETTLE_MS = 150;
const DEAD_MS = 6_000;
const NUMBERS = [1, 2, 3];
const PAUSE_MS = [1_000, 3_000] as const;
const RESUMED_MS_MAX = 10_000;
/** With two attempts in flight, at least one is still in flight at the kill. */
const IN_FLIGHT_MIN = 2;
const CLAIMS_EVERY_MS = 20;
const SENDING_MS_MAX = 10_000;

export async function runKills(run: Run): Promise<KillReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url } = await server.createDatabase();
  return await runKillsOn(url, run);
}

/** Uses a database of a server that others may use too. */
export async function runKillsOn(url: string, run: Run): Promise<KillReport> {
  const prng = new Prng(run.seed);
  const toKill = Array.from({ length: run.rounds }, () => prng.pick(NUMBERS));
  const isInThread = (number: number) => run.inThread === true && !toKill.includes(number);
  await using cluster = await LoadedCluster.open({ url: () => url }, run, { isInThread });
  const kills: Takeover[] = [];
  for (let number = toKill.shift(); number !== undefined; number = toKill.shift()) {
    await waitUntilSending(url, cluster.nodes.at(number).name);
    const { name } = await cluster.nodes.kill(number);
    const at = Date.now();
    await sleep(SETTLE_MS);
    kills.push({ at, slots: await slotsOf(url, name), inFlight: await claimedBy(url, name) });
    await sleep(DEAD_MS);
    await cluster.nodes.start(number);
    await sleep(prng.between(...PAUSE_MS));
  }
  let resumed: readonly Resumed[] = [];
  const report = await cluster.close((stored) => {
    resumed = kills.map((kill) => resumedAfter(kill, stored, cluster.ledger.received));
    return [
      ...takeoverFaults(kills, stored, cluster.ledger.received),
      ...resumed.flatMap(({ last }, i) =>
        last <= RESUMED_MS_MAX ? [] : [`kill ${i + 1}: its slots sent again after ${last} ms`],
      ),
    ];
  });
  return { ...report, inFlight: kills.map(({ inFlight }) => inFlight.size), resumed };
}

/** A kill of a node that sends nothing would show nothing. */
async function waitUntilSending(url: string, name: string): Promise<void> {
  const end = performance.now() + SENDING_MS_MAX;
  let before: ReadonlySet<string> = new Set();
  while (performance.now() < end) {
    const claimed = await claimedBy(url, name);
    // A quick attempt would end before the kill.
    if ([...claimed].filter((id) => before.has(id)).length >= IN_FLIGHT_MIN) return;
    before = claimed;
    await sleep(CLAIMS_EVERY_MS);
  }
}

export function resumedAfter(
  { at, slots }: Takeover,
  stored: Stored,
  received: readonly Received[],
): Resumed {
  const arrivals = Map.groupBy(received, ({ deliveryId }) => deliveryId);
  const after = stored.deliveries
    .filter(({ slot, scheduled_for }) => slots.has(slot) && scheduled_for > at)
    .flatMap(({ id, scheduled_for }) => {
      const arrivedAt = arrivals.get(id)?.at(0)?.arrivedAt;
      return arrivedAt === undefined ? [] : [{ dueAt: scheduled_for, arrivedAt }];
    });
  const first = Math.min(...after.map(({ arrivedAt }) => arrivedAt));
  const waited = after.filter(({ dueAt }) => dueAt <= first);
  return { first: first - at, last: Math.max(...waited.map(({ arrivedAt }) => arrivedAt)) - at };
}

/** Exactly the deliveries in flight were interrupted, and only they may have been sent twice. */
export function takeoverFaults(
  takeovers: readonly Takeover[],
  stored: Stored,
  received: readonly Received[],
): readonly string[] {
  const inFlight = new Set(takeovers.flatMap((one) => [...one.inFlight]));
  const interrupted = stored.attempts.filter(({ error }) => error === 'interrupted');
  const closed = new Set(interrupted.map(({ delivery_id }) => delivery_id));
  return [
    ...[...closed].filter((id) => !inFlight.has(id)).map((id) => `${id} was interrupted by no death`),
    ...[...inFlight].filter((id) => !closed.has(id)).map((id) => `${id} was in flight, and not closed`),
    ...duplicateIds(received)
      .filter((id) => !inFlight.has(id))
      .map((id) => `${id} was sent twice, and was not in flight`),
  ];
}

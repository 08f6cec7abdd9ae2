/**
 * kill -9 of one node of three under load. Its claims are closed by the others as interrupted, exactly those
 * that it had at that moment, and nothing else is sent twice; its slots go to the others, and what came due
 * there meanwhile is sent. Then it is started again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import { startPostgres } from '#test/postgres/server.ts';
import type { Received } from '../firing/ledger.ts';
import { doubledIds } from './audit.ts';
import { type Report, type Run, Scene } from './scene.ts';
import { claimedBy, type Stored, slotsOf } from './stored.ts';

export interface Takeover {
  readonly at: number;
  readonly slots: ReadonlySet<number>;
  /** Deliveries that were claimed there. */
  readonly inFlight: ReadonlySet<string>;
}

/** In ms after the death. */
export interface Resumed {
  /** The first delivery of its slots that came due after it was sent. */
  readonly first: number;
  /** The last of those that came due until then. */
  readonly last: number;
}

export interface KillReport extends Report {
  readonly inFlight: readonly number[];
  readonly resumed: readonly Resumed[];
}

/** What a process had written to its socket before it died is still carried out. */
const SETTLE_MS = 150;
const DEAD_MS = 6_000;
const CALM_MS = [1_000, 3_000] as const;
const RESUMED_MS_MAX = 10_000;

export async function runKills(run: Run): Promise<KillReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url } = await server.createDatabase();
  await using scene = await Scene.open({ url: () => url }, run);
  const prng = new Prng(run.seed);
  const kills: Takeover[] = [];
  for (let round = 0; round < run.rounds; round++) {
    const number = prng.pick(scene.nodes.numbers);
    const { name } = await scene.nodes.kill(number);
    const at = Date.now();
    await sleep(SETTLE_MS);
    kills.push({ at, slots: await slotsOf(url, name), inFlight: await claimedBy(url, name) });
    await sleep(DEAD_MS);
    await scene.nodes.start(number);
    await sleep(prng.between(...CALM_MS));
  }
  let resumed: readonly Resumed[] = [];
  const report = await scene.close((stored) => {
    resumed = kills.map((kill) => resumedAfter(kill, stored, scene.ledger.received));
    return [
      ...takeoverFaults(kills, stored, scene.ledger.received),
      ...resumed.flatMap(({ last }, i) =>
        last <= RESUMED_MS_MAX ? [] : [`kill ${i + 1}: its work went on after ${last} ms`],
      ),
    ];
  });
  return { ...report, inFlight: kills.map(({ inFlight }) => inFlight.size), resumed };
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

/** Interrupted were exactly those that were in flight, and only they may have been sent twice. */
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
    ...doubledIds(received)
      .filter((id) => !inFlight.has(id))
      .map((id) => `${id} was sent twice, and was not in flight`),
  ];
}

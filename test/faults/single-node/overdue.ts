/**
 * After a downtime thousands of deliveries are overdue. They are sent in the order of their deadlines.
 * Deliveries that are created meanwhile are still on time. A recurring schedule sends only its pending
 * occurrence, not the missed ones.
 *
 * A shifted clock simulates the downtime: the first process runs two hours in the past.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { ServiceClock, ThreadClock } from '#test/process/service-clock.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit } from './audit.ts';
import { type Footprint, footprintOf } from './footprint.ts';
import { ANSWER_AT_ONCE, Ledger } from './ledger.ts';
import { type Spread, spreadOf } from './numbers.ts';
import { type Group, OneShots } from './one-shots.ts';
import { RetryingClient } from './retrying-client.ts';
import { startService, startServiceInThread } from './service.ts';
import { UNFINISHED, waitUntilNone } from './stored.ts';

export interface OverdueOptions {
  readonly overdue: number;
  readonly endpoints: number;
  readonly seed: number;
  /** Whether the services run in this thread, which costs less. Nothing can be measured then. */
  readonly inThread?: boolean;
}

export interface OverdueReport extends Audit {
  readonly expiredUnsent: number;
  readonly drainedMs: number;
  readonly perSecond: number;
  /** Lateness of deliveries created after the start, to their own endpoints and to the busy ones. */
  readonly fresh: Lateness;
  readonly freshBusy: Lateness;
  /** The mean distance from the order by deadline, as a part of the queue. A random order has one third. */
  readonly disorder: number;
  /** The most occurrences that a recurring schedule sent. */
  readonly occurrencesMax: number;
  readonly footprint: Footprint | null;
}

/** Lateness at the claim, and at the arrival. The receiver is as busy as the service. */
interface Lateness {
  readonly claimed: Spread;
  readonly arrived: Spread;
}

const AGO_MS = 2 * 3_600_000;
const DUE_S = [60, 1_800] as const;
const TTL_S = [10_800, 21_600] as const;
/** A ttl that is over long before the start. */
const TTL_PASSED = '10m';
const PASSED_SHARE = 0.05;
const RECURRING = 20;
const FRESH_AT_ONCE = 5;
const FRESH_EVERY_MS = 250;
const DRAIN_MS_MAX = 180_000;

export async function runOverdue(options: OverdueOptions): Promise<OverdueReport> {
  const { overdue, inThread = false } = options;
  const dataDir = temporaryDirectory();
  await using receiver = await startReceiver();
  const ledger = new Ledger();
  const client = new RetryingClient();
  const oneShots = new OneShots({ client, receiver, ledger });
  const { recurring, old, expiring } = await runTwoHoursAgo(dataDir, client, oneShots, options);

  const startedAt = Date.now();
  await using sched = await (inThread ? startServiceInThread(dataDir) : startService(dataDir));
  client.open(sched.url);
  const fresh: string[] = [];
  const freshBusy: string[] = [];
  for (let round = 0; old.arrived() < overdue - expiring; round++) {
    if (Date.now() > startedAt + DRAIN_MS_MAX) throw new Error(`Only ${old.arrived()} have arrived.`);
    fresh.push(...(await createFresh(oneShots, `fresh-${round}`, [])));
    freshBusy.push(...(await createFresh(oneShots, `busy-${round}`, old.urls)));
    await sleep(FRESH_EVERY_MS);
  }
  const drainedMs = Date.now() - startedAt;
  const footprint = 'pid' in sched ? footprintOf(sched.pid) : null;
  await waitUntilNone(dataDir, UNFINISHED, DRAIN_MS_MAX);
  client.close();
  const { code } = await sched.stop();

  const result = audit({
    dataDir,
    acknowledged: oneShots.acknowledged,
    received: ledger.received,
    isClockSteady: false,
  });
  const { deliveries } = result.stored;
  const arrivals = new Map(ledger.received.map(({ deliveryId, arrivedAt }) => [deliveryId, arrivedAt]));
  const claims = new Map(result.stored.attempts.map(({ delivery_id, fired_at }) => [delivery_id, fired_at]));
  const latenessOf = (ids: readonly string[]): Lateness => {
    const wanted = new Set(ids);
    const own = deliveries.filter(({ schedule_id }) => wanted.has(schedule_id));
    const from = (instants: ReadonlyMap<string, number>) =>
      spreadOf(own.map(({ id, scheduled_for }) => (instants.get(id) ?? Number.NaN) - scheduled_for));
    return { claimed: from(claims), arrived: from(arrivals) };
  };
  const isOld = new Set(old.ids);
  const oldOnes = deliveries.filter(({ schedule_id }) => isOld.has(schedule_id));
  const expiredUnsent = oldOnes.filter(
    (each) => each.status === 'expired' && each.attempt_count === 0,
  ).length;
  return {
    ...result,
    faults: [
      ...result.faults,
      ...(code === 0 ? [] : [`exit code ${code}`]),
      ...(expiredUnsent === expiring ? [] : [`${expiredUnsent} of ${expiring} expired`]),
    ],
    expiredUnsent,
    drainedMs,
    perSecond: (overdue / drainedMs) * 1_000,
    fresh: latenessOf(fresh),
    freshBusy: latenessOf(freshBusy),
    disorder: disorderOf(oldOnes, claims),
    occurrencesMax: Math.max(
      ...recurring.map(
        (id) => deliveries.filter((each) => each.schedule_id === id && each.status === 'succeeded').length,
      ),
    ),
    footprint,
  };
}

/** Creates deliveries that are due in a second, to their own endpoints unless others are given. */
async function createFresh(
  oneShots: OneShots,
  name: string,
  urls: readonly string[],
): Promise<readonly string[]> {
  const { ids } = await oneShots.group({
    name,
    count: FRESH_AT_ONCE,
    body: (i) => ({ delay: '1s', ...(urls.length === 0 ? {} : { endpoint: urls[i % urls.length] }) }),
    plan: () => ANSWER_AT_ONCE,
  });
  return ids;
}

async function runTwoHoursAgo(
  dataDir: string,
  client: RetryingClient,
  oneShots: OneShots,
  { overdue, endpoints, seed, inThread = false }: OverdueOptions,
): Promise<{ readonly recurring: readonly string[]; readonly old: Group; readonly expiring: number }> {
  const prng = new Prng(seed);
  const isExpiring = Array.from({ length: overdue }, () => prng.chance(PASSED_SHARE));
  await using sched = await (inThread
    ? startServiceInThread(dataDir, {}, new ThreadClock(-AGO_MS).time)
    : startService(dataDir, { env: new ServiceClock(-AGO_MS).env }));
  client.open(sched.url);
  const old = await oneShots.group({
    name: 'overdue',
    count: overdue,
    endpoints,
    body: (i) => ({
      delay: `${prng.between(...DUE_S)}s`,
      ttl: isExpiring[i] ? TTL_PASSED : `${prng.between(...TTL_S)}s`,
      retry_policy: { max_attempts: 3 },
    }),
    plan: () => ANSWER_AT_ONCE,
  });
  const recurring = await oneShots.group({
    name: 'recurring',
    count: RECURRING,
    body: () => ({ cron: '* * * * *' }),
    plan: () => ANSWER_AT_ONCE,
  });
  client.close();
  await sched.stop();
  return { recurring: recurring.ids, old, expiring: isExpiring.filter(Boolean).length };
}

function disorderOf(
  deliveries: readonly { readonly id: string; readonly url: string; readonly deadline: number | null }[],
  claims: ReadonlyMap<string, number>,
): number {
  const queues = Map.groupBy(
    deliveries.filter(({ id }) => claims.has(id)),
    ({ url }) => url,
  );
  const distances = [...queues.values()].flatMap((queue) => {
    const byClaim = [...queue].sort((a, b) => (claims.get(a.id) ?? 0) - (claims.get(b.id) ?? 0));
    const byDeadline = [...queue].sort((a, b) => (a.deadline ?? 0) - (b.deadline ?? 0));
    const rank = new Map(byDeadline.map(({ id }, i) => [id, i]));
    return byClaim.map(({ id }, i) => Math.abs((rank.get(id) ?? 0) - i) / queue.length);
  });
  return distances.reduce((sum, each) => sum + each, 0) / distances.length;
}

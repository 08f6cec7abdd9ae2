/**
 * After a downtime: thousands are overdue. They are worked off, by their deadline; what is created meanwhile
 * is still on time; of the occurrences that a recurring schedule missed only the pending one fires.
 *
 * The downtime is made with a clock: the first life of the service is two hours ago.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { ServiceClock } from '#test/process/service-clock.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit } from './audit.ts';
import { type Footprint, footprintOf } from './footprint.ts';
import { Gateway } from './gateway.ts';
import { AT_ONCE, Ledger } from './ledger.ts';
import { type Spread, spreadOf } from './numbers.ts';
import { startFiring } from './service.ts';
import { type Group, Shots } from './shots.ts';
import { noneLeft, UNFINISHED } from './stored.ts';

export interface OverdueOptions {
  readonly overdue: number;
  readonly endpoints: number;
  readonly seed: number;
}

export interface OverdueReport extends Audit {
  readonly expiredUnsent: number;
  readonly drainedMs: number;
  readonly perSecond: number;
  /** Of what was created after the start, towards endpoints of its own and towards the busy ones. */
  readonly fresh: Lateness;
  readonly freshBusy: Lateness;
  /** Mean distance from the order by deadline, as a part of the lane; one third would be chance. */
  readonly disorder: number;
  /** Occurrences that each recurring schedule fired. */
  readonly occurrencesMax: number;
  readonly footprint: Footprint | null;
}

/** Late by the time of the claim, and by the arrival at a receiver that is as busy as the service. */
interface Lateness {
  readonly claimed: Spread;
  readonly arrived: Spread;
}

const AGO_MS = 2 * 3_600_000;
const DUE_S = [60, 1_800] as const;
const TTL_S = [10_800, 21_600] as const;
/** Over long before the start. */
const TTL_PASSED = '10m';
const PASSED_SHARE = 0.05;
const RECURRING = 20;
const FRESH_AT_ONCE = 5;
const FRESH_EVERY_MS = 250;
const DRAIN_MS_MAX = 180_000;

export async function runOverdue({ overdue, endpoints, seed }: OverdueOptions): Promise<OverdueReport> {
  const dataDir = temporaryDirectory();
  await using receiver = await startReceiver();
  const ledger = new Ledger();
  const gateway = new Gateway();
  const shots = new Shots({ gateway, receiver, ledger });
  const { recurring, old, expiring } = await liveTwoHoursAgo(dataDir, gateway, shots, {
    overdue,
    endpoints,
    seed,
  });

  const startedAt = Date.now();
  await using sched = await startFiring(dataDir);
  gateway.open(sched.url);
  const fresh: string[] = [];
  const freshBusy: string[] = [];
  for (let round = 0; old.arrived() < overdue - expiring; round++) {
    if (Date.now() > startedAt + DRAIN_MS_MAX) throw new Error(`Only ${old.arrived()} have arrived.`);
    fresh.push(...(await freshOnes(shots, `fresh-${round}`, [])));
    freshBusy.push(...(await freshOnes(shots, `busy-${round}`, old.urls)));
    await sleep(FRESH_EVERY_MS);
  }
  const drainedMs = Date.now() - startedAt;
  const footprint = footprintOf(sched.pid);
  await noneLeft(dataDir, UNFINISHED, DRAIN_MS_MAX);
  gateway.close();
  const { code } = await sched.stop();

  const result = audit({
    dataDir,
    acknowledged: shots.acknowledged,
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

/** Due in a second, towards endpoints of their own unless others are given. */
async function freshOnes(shots: Shots, name: string, urls: readonly string[]): Promise<readonly string[]> {
  const { ids } = await shots.group({
    name,
    count: FRESH_AT_ONCE,
    body: (i) => ({ delay: '1s', ...(urls.length === 0 ? {} : { endpoint: urls[i % urls.length] }) }),
    plan: () => AT_ONCE,
  });
  return ids;
}

async function liveTwoHoursAgo(
  dataDir: string,
  gateway: Gateway,
  shots: Shots,
  { overdue, endpoints, seed }: OverdueOptions,
): Promise<{ readonly recurring: readonly string[]; readonly old: Group; readonly expiring: number }> {
  const prng = new Prng(seed);
  const isExpiring = Array.from({ length: overdue }, () => prng.chance(PASSED_SHARE));
  await using sched = await startFiring(dataDir, { env: new ServiceClock(-AGO_MS).env });
  gateway.open(sched.url);
  const old = await shots.group({
    name: 'overdue',
    count: overdue,
    endpoints,
    body: (i) => ({
      delay: `${prng.between(...DUE_S)}s`,
      ttl: isExpiring[i] ? TTL_PASSED : `${prng.between(...TTL_S)}s`,
      retry_policy: { max_attempts: 3 },
    }),
    plan: () => AT_ONCE,
  });
  const recurring = await shots.group({
    name: 'recurring',
    count: RECURRING,
    body: () => ({ cron: '* * * * *' }),
    plan: () => AT_ONCE,
  });
  gateway.close();
  await sched.stop();
  return { recurring: recurring.ids, old, expiring: isExpiring.filter(Boolean).length };
}

function disorderOf(
  deliveries: readonly { readonly id: string; readonly url: string; readonly deadline: number | null }[],
  claims: ReadonlyMap<string, number>,
): number {
  const lanes = Map.groupBy(
    deliveries.filter(({ id }) => claims.has(id)),
    ({ url }) => url,
  );
  const distances = [...lanes.values()].flatMap((lane) => {
    const byClaim = [...lane].sort((a, b) => (claims.get(a.id) ?? 0) - (claims.get(b.id) ?? 0));
    const byDeadline = [...lane].sort((a, b) => (a.deadline ?? 0) - (b.deadline ?? 0));
    const rank = new Map(byDeadline.map(({ id }, i) => [id, i]));
    return byClaim.map(({ id }, i) => Math.abs((rank.get(id) ?? 0) - i) / lane.length);
  });
  return distances.reduce((sum, each) => sum + each, 0) / distances.length;
}

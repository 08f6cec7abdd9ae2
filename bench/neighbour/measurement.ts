/**
 * One measurement of the work `neighbour`: the service is started on a copy of a prepared store, the healthy customer
 * stores what is due while it is measured, and the hostile ones begin a second after the first of it is due.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../contender.ts';
import type { Receiver } from '../receiver.ts';
import type { NeighbourRound, SchedStoreKind } from '../results.ts';
import type { RunningSched } from '../sched/service.ts';
import { startReady } from '../stored/ready.ts';
import { type BenchContext, roundOf, startCpuTimer } from '../workloads.ts';
import { among, CALLING, type Calling, FIRING, type Hostile, RECEIVING } from './customers.ts';
import type { HostileReceiver } from './hostile-receiver.ts';
import { Loads } from './loads.ts';
import { type NodeFigures, nodeFigures } from './node-figures.ts';
import { accountOf, type PreparedStores } from './prepared-stores.ts';
import { interruptedIn, partitionOf, shiftDueInstants, waitingIn } from './sql.ts';

export interface Measurement {
  readonly kind: SchedStoreKind;
  /** The checkout whose service is measured. */
  readonly root: string;
  readonly stores: PreparedStores;
  readonly hostileReceiver: HostileReceiver;
  readonly customers: readonly Hostile[];
  /** It grows where it was too short, and is kept for the next round. */
  readonly lead: { ms: number };
}

const NODES: Readonly<Record<SchedStoreKind, number>> = { sqlite: 1, postgres: 2 };
const PATH = '/neighbour/';
/** The project of the healthy customer. */
const HEALTHY = 'default';
const ENDPOINTS = 8;
const MS_PER_SECOND = 1_000;
/** Awakening, starting, warming up and storing have this time until the first delivery that counts is due. */
export const LEAD_MS = 12_000;
const LEAD_FACTOR = 2;
const ATTEMPTS_MAX = 4;
const WARM_UP_JOBS = 200;
const WARM_UP_RATE = 200;
const WARM_UP_LEAD_MS = 3_000;
/** Storing ends so long before the first delivery is due, so that it is not measured too. */
const QUIET_MS = 500;
/** The service takes nothing that is due within a second. */
const SOONEST_MS = 1_100;
/** The hostile customers begin so long after the first delivery is due. */
const ONSET_MS = 1_000;
const ARRIVE_MS_MAX = 60_000;
/** Deliveries that are sent again by mistake arrive within this time after the last arrival. */
const SETTLE_MS = 3_000;
/** Requests that hang are not waited for when the service is stopped. */
const SHUTDOWN_GRACE = '1s';
const CLIENTS: Readonly<Record<Exclude<Calling, 'creates'>, number>> = { filters: 8, cancel: 1, lists: 4 };

class TooLate extends Error {}

/** All begins anew with more time where it runs out before the first delivery is due. */
export async function measureOnce(context: BenchContext, measurement: Measurement): Promise<NeighbourRound> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await measureWith(context, measurement);
    } catch (error) {
      if (!(error instanceof TooLate) || attempt === ATTEMPTS_MAX) throw error;
      measurement.lead.ms *= LEAD_FACTOR;
    }
  }
}

async function measureWith(
  { receiver, scale, resources }: BenchContext,
  { kind, root, stores, hostileReceiver, customers, lead }: Measurement,
): Promise<NeighbourRound> {
  const { rate, seconds } = scale.neighbour;
  await using prepared = await stores.copy(kind, customers);
  await using loads = await Loads.start(among(CALLING, customers));
  const start = Date.now() + lead.ms;
  const onset = start + ONSET_MS;
  const end = start + seconds * MS_PER_SECOND;
  for (const customer of among(FIRING, customers)) {
    const { partition } = accountOf(prepared.accounts, customer);
    await shiftDueInstants(prepared.store, partition, onset - prepared.farAt);
  }
  await using running = await startReady({
    store: prepared.store,
    nodes: NODES[kind],
    root,
    profileDir: resources.profileDir,
    env: { SCHED_SHUTDOWN_GRACE: SHUTDOWN_GRACE },
  });
  await warmUp(running, receiver, start);
  const jobs = healthyJobs(receiver.url + PATH, { start, rate, count: rate * seconds });
  receiver.expect({ path: PATH, count: jobs.length });
  await storeInTime(running, jobs, start);

  const receivedBefore = await hostileReceiver.counts();
  const calls = among(CALLING, customers).map(async (customer) => {
    const { apiKey } = accountOf(prepared.accounts, customer);
    const clients = customer === 'creates' ? scale.neighbour.sizes.creates : CLIENTS[customer];
    const command = { customer, urls: running.urls, apiKey, clients, from: onset, until: end };
    return [customer, await loads.run(command)] as const;
  });
  const answered = Promise.all(calls);
  // It is awaited below: a failure until then must not end the process.
  answered.catch(() => undefined);
  await sleep(Math.max(start - QUIET_MS - Date.now(), 0));
  // The longest delay of the event loop counts from here on.
  await Promise.all(running.urls.map(nodeFigures));
  const cpu = startCpuTimer(running);
  await receiver.complete(PATH, end - Date.now() + ARRIVE_MS_MAX);
  const cpuMs = cpu();
  const requests = new Map<Hostile, number>(await answered);
  await sleep(SETTLE_MS);

  const received = await hostileReceiver.counts();
  for (const customer of among(RECEIVING, customers)) {
    const arrived = (received.get(customer) ?? 0) - (receivedBefore.get(customer) ?? 0);
    requests.set(customer, (requests.get(customer) ?? 0) + arrived);
  }
  requireAll(customers, requests);
  // The arrivals come first: what arrives in between is missing and does not wait, never the other way round.
  const arrivals = await receiver.arrivalsAt(PATH);
  return {
    healthy: roundOf(jobs.length, arrivals, cpuMs),
    waiting: await waitingIn(prepared.store, await partitionOf(prepared.store, HEALTHY)),
    ...combined(await Promise.all(running.urls.map(nodeFigures))),
    peakMemoryMb: running.peakMemoryMb(),
    interrupted: await interruptedIn(prepared.store),
    hostileRequests: Object.fromEntries(requests),
  };
}

/** It opens the connections to the endpoints of the healthy customer. */
async function warmUp(running: RunningSched, receiver: Receiver, start: number): Promise<void> {
  const from = Date.now() + WARM_UP_LEAD_MS;
  const jobs = healthyJobs(receiver.url + PATH, {
    start: from,
    rate: WARM_UP_RATE,
    count: WARM_UP_JOBS,
  });
  receiver.expect({ path: PATH, count: jobs.length });
  await storeInTime(running, jobs, from);
  if (await receiver.complete(PATH, Math.max(start - Date.now(), 0))) return;
  throw new TooLate('Warming up took too long.');
}

/** The jobs are evenly spaced, for a handful of endpoints in turn. */
function healthyJobs(
  url: string,
  { start, rate, count }: { readonly start: number; readonly rate: number; readonly count: number },
): readonly Job[] {
  return Array.from({ length: count }, (_, number) => ({
    number,
    due: Math.round(start + (number * MS_PER_SECOND) / rate),
    url: `${url}${number % ENDPOINTS}`,
  }));
}

async function storeInTime(running: RunningSched, jobs: readonly Job[], start: number): Promise<void> {
  try {
    await running.store(jobs);
  } catch (error) {
    if (Date.now() < start - SOONEST_MS) throw error;
    throw new TooLate('What is due soon was refused.', { cause: error });
  }
  if (Date.now() > start - QUIET_MS) throw new TooLate('Storing took too long.');
}

/** A hostile customer that does nothing would show nothing. */
function requireAll(customers: readonly Hostile[], requests: ReadonlyMap<Hostile, number>): void {
  const idle = customers.filter((customer) => (requests.get(customer) ?? 0) === 0);
  if (idle.length > 0) throw new Error(`Nothing came of ${idle.join(', ')}.`);
}

function combined(nodes: readonly NodeFigures[]): NodeFigures {
  const sum = (values: readonly (number | null)[]) =>
    values.reduce((total, value) => (total === null || value === null ? null : total + value), 0);
  const delays = nodes.map(({ eventLoopDelayMaxMs }) => eventLoopDelayMaxMs);
  const known = delays.filter((delay) => delay !== null);
  return {
    slotsLost: sum(nodes.map(({ slotsLost }) => slotsLost)),
    eventLoopDelayMaxMs: known.length < delays.length ? null : Math.max(...known),
  };
}

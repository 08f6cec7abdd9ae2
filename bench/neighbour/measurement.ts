/**
 * One measurement of the workload `neighbour`. The service starts on a copy of a prepared store. The healthy customer
 * stores its jobs. The hostile customers begin a second after the first of these jobs is due.
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
  /** The lead grows if it was too short, and is kept for the next round. */
  readonly lead: { ms: number };
}

const NODES: Readonly<Record<SchedStoreKind, number>> = { sqlite: 1, postgres: 2 };
const PATH = '/neighbour/';
/** The project of the healthy customer. */
const HEALTHY = 'default';
const ENDPOINTS = 8;
const MS_PER_SECOND = 1_000;
/** The time for preparing the store, starting, warming up and storing, until the first measured job is due. */
export const LEAD_MS = 12_000;
const LEAD_FACTOR = 2;
const ATTEMPTS_MAX = 4;
const WARM_UP_JOBS = 200;
const WARM_UP_RATE = 200;
const WARM_UP_LEAD_MS = 3_000;
/** Storing must end this long before the first job is due. Otherwise storing would be measured too. */
const QUIET_MS = 500;
/** The service accepts no job that is due within a second. */
const SOONEST_MS = 1_100;
/** The hostile customers begin this long after the first job is due. */
const ONSET_MS = 1_000;
const ARRIVE_MS_MAX = 60_000;
/** Deliveries that are wrongly sent again arrive within this time after the last arrival. */
const SETTLE_MS = 3_000;
/** A stopping service does not wait for requests that hang. */
const SHUTDOWN_GRACE = '1s';
const CLIENTS: Readonly<Record<Exclude<Calling, 'creates'>, number>> = { filters: 8, cancel: 1, lists: 4 };

class TooLate extends Error {}

/** If the lead was too short, the measurement starts again with more time. */
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
  // This promise is awaited below. A failure before that must not end the process.
  answered.catch(() => undefined);
  await sleep(Math.max(start - QUIET_MS - Date.now(), 0));
  // Reading the figures resets the longest delay of the event loop.
  await Promise.all(running.urls.map(nodeFigures));
  const cpu = startCpuTimer(running);
  await receiver.complete(PATH, end - Date.now() + ARRIVE_MS_MAX);
  const cpuTime = cpu();
  const requests = new Map<Hostile, number>(await answered);
  await sleep(SETTLE_MS);

  const received = await hostileReceiver.counts();
  for (const customer of among(RECEIVING, customers)) {
    const arrived = (received.get(customer) ?? 0) - (receivedBefore.get(customer) ?? 0);
    requests.set(customer, (requests.get(customer) ?? 0) + arrived);
  }
  requireAll(customers, requests);
  // The arrivals are read first. A job that arrives in between counts as missing, and never as both.
  const arrivals = await receiver.arrivalsAt(PATH);
  return {
    healthy: roundOf(jobs.length, arrivals, cpuTime),
    waiting: await waitingIn(prepared.store, await partitionOf(prepared.store, HEALTHY)),
    ...combined(await Promise.all(running.urls.map(nodeFigures))),
    peakMemoryMb: running.peakMemoryMb(),
    interrupted: await interruptedIn(prepared.store),
    hostileRequests: Object.fromEntries(requests),
  };
}

/** Opens the connections to the endpoints of the healthy customer. */
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

/** The jobs are due evenly spaced, at a few endpoints in round robin. */
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
    throw new TooLate('Jobs were refused because they were due too soon.', { cause: error });
  }
  if (Date.now() > start - QUIET_MS) throw new TooLate('Storing took too long.');
}

/** A hostile customer without any request would make the measurement worthless. */
function requireAll(customers: readonly Hostile[], requests: ReadonlyMap<Hostile, number>): void {
  const idle = customers.filter((customer) => (requests.get(customer) ?? 0) === 0);
  if (idle.length > 0) throw new Error(`These hostile customers made no request: ${idle.join(', ')}.`);
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

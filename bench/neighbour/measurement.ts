/**
 * One measurement of the work `neighbour`: the service is started on a copy of a prepared store, the healthy customer
 * stores what is due while it is measured, and the hostile ones begin a second after the first of it is due.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Arrivals } from '../arrivals.ts';
import type { Bench } from '../bench.ts';
import type { Order } from '../contender.ts';
import type { NeighbourRound, SchedStoreKind } from '../results.ts';
import type { RunningSched } from '../sched/service.ts';
import { startReady } from '../stored/ready.ts';
import { cpuWatch, roundOf } from '../turn.ts';
import { awaken } from './awaken.ts';
import { ASKING, type Asking, among, FIRING, type Hostile, RECEIVING } from './customers.ts';
import type { HostileReceiver } from './hostile-receiver.ts';
import { Loads } from './loads.ts';
import { type NodeFigures, nodeFigures } from './node-figures.ts';
import { accountOf, type PreparedStores } from './prepared-stores.ts';
import { interruptedIn, partitionOf, waitingIn } from './sql.ts';

export interface Measurement {
  readonly kind: SchedStoreKind;
  /** The checkout whose service is measured. */
  readonly root: string;
  readonly stores: PreparedStores;
  readonly receiver: HostileReceiver;
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
const WARM_UP_ORDERS = 200;
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
const CLIENTS: Readonly<Record<Exclude<Asking, 'creates'>, number>> = { filters: 8, cancel: 1, lists: 4 };

class TooLate extends Error {}

/** All begins anew with more time where it runs out before the first delivery is due. */
export async function measureOnce(bench: Bench, measurement: Measurement): Promise<NeighbourRound> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await measureWith(bench, measurement);
    } catch (error) {
      if (!(error instanceof TooLate) || attempt === ATTEMPTS_MAX) throw error;
      measurement.lead.ms *= LEAD_FACTOR;
    }
  }
}

async function measureWith(
  { arrivals, scale, ground }: Bench,
  { kind, root, stores, receiver, customers, lead }: Measurement,
): Promise<NeighbourRound> {
  const { rate, seconds } = scale.neighbour;
  await using prepared = await stores.copy(kind, customers);
  await using loads = await Loads.start(among(ASKING, customers));
  const start = Date.now() + lead.ms;
  const onset = start + ONSET_MS;
  const end = start + seconds * MS_PER_SECOND;
  for (const customer of among(FIRING, customers)) {
    const { partition } = accountOf(prepared.accounts, customer);
    await awaken(prepared.store, partition, onset - prepared.farAt);
  }
  await using running = await startReady({
    store: prepared.store,
    nodes: NODES[kind],
    root,
    profileDir: ground.profileDir,
    env: { SCHED_SHUTDOWN_GRACE: SHUTDOWN_GRACE },
  });
  await warmUp(running, arrivals, start);
  const orders = healthyOrders(arrivals.url + PATH, { start, rate, count: rate * seconds });
  arrivals.expect({ path: PATH, count: orders.length });
  await storeInTime(running, orders, start);

  const receivedBefore = await receiver.counts();
  const asking = among(ASKING, customers).map(async (customer) => {
    const { apiKey } = accountOf(prepared.accounts, customer);
    const clients = customer === 'creates' ? scale.neighbour.sizes.creates : CLIENTS[customer];
    const order = { customer, urls: running.urls, apiKey, clients, from: onset, until: end };
    return [customer, await loads.run(order)] as const;
  });
  const asked = Promise.all(asking);
  // It is awaited below: a failure until then must not end the process.
  asked.catch(() => undefined);
  await sleep(Math.max(start - QUIET_MS - Date.now(), 0));
  // The longest delay of the event loop counts from here on.
  await Promise.all(running.urls.map(nodeFigures));
  const cpu = cpuWatch(running);
  await arrivals.complete(PATH, end - Date.now() + ARRIVE_MS_MAX);
  const cpuMs = cpu();
  const requests = new Map<Hostile, number>(await asked);
  await sleep(SETTLE_MS);

  const received = await receiver.counts();
  for (const customer of among(RECEIVING, customers)) {
    const arrived = (received.get(customer) ?? 0) - (receivedBefore.get(customer) ?? 0);
    requests.set(customer, (requests.get(customer) ?? 0) + arrived);
  }
  requireAll(customers, requests);
  // The notes come first: what arrives in between is missing and does not wait, never the other way round.
  const notes = await arrivals.notes(PATH);
  return {
    healthy: roundOf(orders.length, notes, cpuMs),
    waiting: await waitingIn(prepared.store, await partitionOf(prepared.store, HEALTHY)),
    ...together(await Promise.all(running.urls.map(nodeFigures))),
    peakMemoryMb: running.peakMemoryMb(),
    interrupted: await interruptedIn(prepared.store),
    hostileRequests: Object.fromEntries(requests),
  };
}

/** It opens the connections to the endpoints of the healthy customer. */
async function warmUp(running: RunningSched, arrivals: Arrivals, start: number): Promise<void> {
  const from = Date.now() + WARM_UP_LEAD_MS;
  const orders = healthyOrders(arrivals.url + PATH, {
    start: from,
    rate: WARM_UP_RATE,
    count: WARM_UP_ORDERS,
  });
  arrivals.expect({ path: PATH, count: orders.length });
  await storeInTime(running, orders, from);
  if (await arrivals.complete(PATH, Math.max(start - Date.now(), 0))) return;
  throw new TooLate('Warming up took too long.');
}

/** The orders are evenly spaced, for a handful of endpoints in turn. */
function healthyOrders(
  url: string,
  { start, rate, count }: { readonly start: number; readonly rate: number; readonly count: number },
): readonly Order[] {
  return Array.from({ length: count }, (_, number) => ({
    number,
    due: Math.round(start + (number * MS_PER_SECOND) / rate),
    url: `${url}${number % ENDPOINTS}`,
  }));
}

async function storeInTime(running: RunningSched, orders: readonly Order[], start: number): Promise<void> {
  try {
    await running.store(orders);
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

function together(nodes: readonly NodeFigures[]): NodeFigures {
  const sum = (values: readonly (number | null)[]) =>
    values.reduce((total, value) => (total === null || value === null ? null : total + value), 0);
  const delays = nodes.map(({ eventLoopDelayMaxMs }) => eventLoopDelayMaxMs);
  const known = delays.filter((delay) => delay !== null);
  return {
    slotsLost: sum(nodes.map(({ slotsLost }) => slotsLost)),
    eventLoopDelayMaxMs: known.length < delays.length ? null : Math.max(...known),
  };
}

/**
 * Measures what each piece of work costs, on one node and each store. Schedules are created, paced and in a burst, with
 * small and large bodies. Then they are delivered in the same way. An idle node uses something too, and this is
 * subtracted. On PostgreSQL everything is done a second time through a proxy that counts round trips. A burst would be
 * slower through the proxy, so all other figures are those without it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { removeFolder, temporaryFolder } from '../../test/postgres/cleanup.ts';
import { startPostgres } from '../../test/postgres/server.ts';
import { runStatement } from '../neighbour/sql.ts';
import type { Progress } from '../progress.ts';
import type { Receiver } from '../receiver.ts';
import { type SchedStore, startSched } from '../sched/service.ts';
import { warmUp } from '../workloads.ts';
import {
  COSTS_FORMAT,
  type CostPoint,
  type Costs,
  combine,
  type StoreCosts,
  scaled,
  type Usage,
  type Work,
} from './costs.ts';
import { countersOf } from './counters.ts';
import { type CountingProxy, startCountingProxy } from './counting-proxy.ts';
import { createAndDeliver, type DeliveryPlan, type MeasuredNode, netOf } from './create-and-deliver.ts';

interface CostsContext {
  readonly receiver: Receiver;
  readonly progress: Progress;
  readonly scale: CostsScale;
}

interface CostsScale {
  /** How many are created and delivered in a burst. */
  readonly burst: number;
  /** How many are delivered over new connections. A host gets few hundred new connections in a second. */
  readonly connections: number;
  readonly paced: { readonly rate: number; readonly seconds: number };
  readonly idleSeconds: number;
  readonly removalSeconds: number;
}

const COSTS_FULL: CostsScale = {
  burst: 3_000,
  connections: 1_000,
  paced: { rate: 100, seconds: 5 },
  idleSeconds: 5,
  removalSeconds: 6,
};

const COSTS_QUICK: CostsScale = {
  burst: 600,
  connections: 200,
  paced: { rate: 100, seconds: 1 },
  idleSeconds: 2,
  removalSeconds: 3,
};

const SMALL_BODY = 100;
const LARGE_BODY = 8_192;
const MS_PER_SECOND = 1_000;
const CREATE_MS_EACH_COLD = 1;
const REMOVAL_CHECK_MS = 250;
/** The steps of `costsOf` with and without a proxy, and of `removalOf`. */
const STEPS = { counted: 6, costs: 7, removal: 1 };

/** The context of the benchmark, as far as it is used. */
export interface CostsRun {
  readonly receiver: Receiver;
  readonly progress: Progress;
  readonly scale: { readonly quick: boolean };
}

export async function measureCosts(
  { receiver, progress, scale }: CostsRun,
  { command, machine }: Pick<Costs, 'command' | 'machine'>,
): Promise<Costs> {
  const context = { receiver, progress, scale: scale.quick ? COSTS_QUICK : COSTS_FULL };
  return {
    format: COSTS_FORMAT,
    command,
    measuredAt: new Date().toISOString(),
    machine,
    stores: {
      sqlite: await costsOnSqlite(context),
      postgres: await costsOnPostgres(context),
      citus: null,
    },
  };
}

export function costsSteps(): number {
  return STEPS.counted + 2 * (STEPS.costs + STEPS.removal);
}

async function costsOnSqlite(context: CostsContext): Promise<StoreCosts> {
  const directory = temporaryFolder();
  try {
    const store: SchedStore = { kind: 'sqlite', directory };
    const costs = await costsOf(context, 'SQLite', store, null);
    return { ...costs, points: [...costs.points, await removalOf(context, 'SQLite', store, costs.idle)] };
  } finally {
    removeFolder(directory);
  }
}

/** The server does no maintenance by itself, because its cost would fall on the work that happens to run. */
async function costsOnPostgres(context: CostsContext): Promise<StoreCosts> {
  await using server = await startPostgres({
    durable: true,
    settings: { autovacuum: false, checkpoint_timeout: '1h', max_wal_size: '8GB' },
  });
  await using database = await server.createDatabase();
  const store: SchedStore = { kind: 'postgres', url: database.url };
  const costs = await costsOf(context, 'PostgreSQL', store, null);
  const removal = await removalOf(context, 'PostgreSQL', store, costs.idle);
  await using second = await server.createDatabase();
  await using proxy = await startCountingProxy(second.url);
  const counted = await costsOf(
    context,
    'PostgreSQL, round trips',
    { kind: 'postgres', url: second.url },
    proxy,
  );
  return withTraffic({ ...costs, points: [...costs.points, removal] }, counted);
}

async function costsOf(
  context: CostsContext,
  name: string,
  store: SchedStore,
  proxy: CountingProxy | null,
): Promise<StoreCosts> {
  const { receiver, progress, scale } = context;
  const used = proxy === null ? store : { kind: 'postgres' as const, url: proxy.url };
  await using running = await startSched({ store: used });
  await using counters = await countersOf({ store, pids: running.pids, proxy });
  await warmUp(running, receiver);
  progress.step(`${name}: an idle node`);
  const idle = await idleUsage(counters, scale.idleSeconds);
  const node: MeasuredNode = { running, counters, receiver, idle, createMsEach: CREATE_MS_EACH_COLD };
  const { rate, seconds } = scale.paced;
  const small = { bodyBytes: SMALL_BODY, count: scale.burst, pace: null };
  const points: CostPoint[] = [];
  // The first thousands are slower, until everything is compiled.
  await createAndDeliver(node, small);
  for (const bodyBytes of [SMALL_BODY, LARGE_BODY]) {
    progress.step(`${name}: ${bodyBytes} bytes, a burst`);
    points.push(...(await createAndDeliver(node, { ...small, bodyBytes })));
    progress.step(`${name}: ${bodyBytes} bytes, ${rate} a second`);
    points.push(...(await createAndDeliver(node, { bodyBytes, count: rate * seconds, pace: rate })));
  }
  const usual = points[1];
  if (usual === undefined) throw new Error('No burst was measured.');
  const add = async (work: Work, plan: Partial<DeliveryPlan>) => {
    progress.step(`${name}: each with a ${work}`);
    const [, delivery] = await createAndDeliver(node, { ...small, ...plan });
    const each = combine(delivery.each, usual.each, (a, b) => Math.max(0, a - b));
    points.push({ ...delivery, work, each });
  };
  await add('retry', { answers: 'first with 500' });
  // New connections make no difference to the database.
  if (proxy === null) await add('connection', { answers: 'and close', count: scale.connections });
  return { idle, points };
}

async function idleUsage(counters: MeasuredNode['counters'], seconds: number): Promise<Usage> {
  const before = await counters.read();
  await sleep(seconds * MS_PER_SECOND);
  const difference = combine(await counters.read(), before, (after, start) => after - start);
  return scaled(difference, 1 / seconds);
}

/**
 * The service starts again with a retention that is over for everything, and removes for some seconds. Half of the
 * rows that it removes are deliveries, and half are schedules.
 */
async function removalOf(
  { progress, scale }: CostsContext,
  name: string,
  store: SchedStore,
  idle: Usage,
): Promise<CostPoint> {
  progress.step(`${name}: removal of old history`);
  const stored = await rowsIn(store);
  await using running = await startSched({ store, env: { SCHED_RETENTION: '1s' } });
  await using counters = await countersOf({ store, pids: running.pids, proxy: null });
  while ((await rowsIn(store)) === stored) await sleep(REMOVAL_CHECK_MS);
  const [before, rowsBefore, start] = [await counters.read(), await rowsIn(store), performance.now()];
  let rows = rowsBefore;
  while (rows > 0 && performance.now() - start < scale.removalSeconds * MS_PER_SECOND) {
    await sleep(REMOVAL_CHECK_MS);
    rows = await rowsIn(store);
  }
  const seconds = (performance.now() - start) / MS_PER_SECOND;
  const count = Math.max(1, (rowsBefore - rows) / 2);
  const each = netOf({ before, after: await counters.read(), idle, seconds, count });
  return { work: 'removal', bodyBytes: SMALL_BODY, perSecond: count / seconds, count, each };
}

async function rowsIn(store: SchedStore): Promise<number> {
  const [row] = (await runStatement(
    store,
    'SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM schedules) AS found',
  )) as readonly { readonly found: string | number }[];
  return Number(row?.found);
}

/** The points of `counted` are in the same order. A removal was not counted. */
function withTraffic(costs: StoreCosts, counted: StoreCosts): StoreCosts {
  const add = (usage: Usage, from: Usage | undefined): Usage =>
    from === undefined
      ? usage
      : {
          ...usage,
          statements: from.statements,
          roundTrips: from.roundTrips,
          networkBytes: from.networkBytes,
        };
  return {
    idle: add(costs.idle, counted.idle),
    points: costs.points.map((point, n) => ({ ...point, each: add(point.each, counted.points[n]?.each) })),
  };
}

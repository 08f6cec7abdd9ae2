/**
 * Measures what each piece of work costs, on one node and each store. Schedules are created, paced and in a burst, with
 * small and large bodies. Then they are delivered in the same way. An idle node uses something too, and this is
 * subtracted. On PostgreSQL everything is done a second time through a proxy that counts round trips. A burst would be
 * slower through the proxy, so all other figures are those without it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { removeFolder, temporaryFolder } from '../../test/postgres/cleanup.ts';
import { type PostgresServer, startPostgres } from '../../test/postgres/server.ts';
import { createCitusStore } from '../citus/cluster.ts';
import type { Progress } from '../progress.ts';
import type { Receiver } from '../receiver.ts';
import { createProjects } from '../sched/command.ts';
import { ROOT } from '../sched/process.ts';
import { API_KEY, type SchedStore, startSched } from '../sched/service.ts';
import { messageOf } from '../stored/stored.ts';
import { warmUp } from '../workloads.ts';
import { measureCheck } from './check.ts';
import {
  type Check,
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
import { createAndDeliver, type DeliveryPlan, type MeasuredNode } from './create-and-deliver.ts';
import { removalOf, vacuumOf } from './maintenance.ts';

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
  readonly check: { readonly rate: number; readonly seconds: number };
}

const COSTS_FULL: CostsScale = {
  burst: 3_000,
  connections: 1_000,
  paced: { rate: 100, seconds: 5 },
  idleSeconds: 5,
  removalSeconds: 6,
  check: { rate: 300, seconds: 5 },
};

const COSTS_QUICK: CostsScale = {
  burst: 600,
  connections: 200,
  paced: { rate: 100, seconds: 1 },
  idleSeconds: 2,
  removalSeconds: 3,
  check: { rate: 100, seconds: 1 },
};

const SMALL_BODY = 100;
const LARGE_BODY = 8_192;
const MS_PER_SECOND = 1_000;
const CREATE_MS_EACH_COLD = 1;
const CHECKED_NODES = 3;
const CITUS_PROJECTS = 16;
/** A burst on Citus is smaller by this factor. */
const CITUS_BURST_PART = 3;
/** The steps of each part. The first three are `costsOf` with and without a proxy, and what follows it. */
const STEPS = { counted: 6, costs: 7, upkeep: 1, checks: 2 };

/** The context of the benchmark, as far as it is used. */
export interface CostsRun {
  readonly receiver: Receiver;
  readonly progress: Progress;
  readonly scale: { readonly quick: boolean };
  readonly resources: { readonly citusUrl: string | null };
}

export function costsSteps(citusUrl: string | null): number {
  const stores = citusUrl === null ? 2 : 3;
  return STEPS.counted + stores * (STEPS.costs + STEPS.upkeep) + STEPS.checks;
}

export async function measureCosts(
  { receiver, progress, scale, resources }: CostsRun,
  { command, machine }: Pick<Costs, 'command' | 'machine'>,
): Promise<Costs> {
  const context = { receiver, progress, scale: scale.quick ? COSTS_QUICK : COSTS_FULL };
  const sqlite = await costsOnSqlite(context);
  // The server does no maintenance by itself, because its cost would fall on the work that happens to run.
  await using server = await startPostgres({
    durable: true,
    settings: { autovacuum: false, checkpoint_timeout: '1h', max_wal_size: '8GB' },
  });
  const postgres = await costsOnPostgres(context, server);
  const checks = await checksOnPostgres(context, server);
  const { citusUrl } = resources;
  const citus = citusUrl === null ? null : await costsOnCitus(context, citusUrl);
  return {
    format: COSTS_FORMAT,
    command,
    measuredAt: new Date().toISOString(),
    machine,
    stores: { sqlite, postgres, citus },
    checks,
  };
}

async function costsOnSqlite(context: CostsContext): Promise<StoreCosts> {
  const directory = temporaryFolder();
  try {
    const store: SchedStore = { kind: 'sqlite', directory };
    const costs = await costsOf(context, {
      name: 'SQLite',
      store,
      burst: context.scale.burst,
      withConnections: true,
    });
    context.progress.step('SQLite: removal of old history');
    const removal = await removalOf(store, costs.idle, context.scale.removalSeconds);
    return { ...costs, points: [...costs.points, removal] };
  } finally {
    removeFolder(directory);
  }
}

async function costsOnPostgres(context: CostsContext, server: PostgresServer): Promise<StoreCosts> {
  const { progress, scale } = context;
  const { burst } = scale;
  await using database = await server.createDatabase();
  const store = { kind: 'postgres', url: database.url } as const;
  const costs = await costsOf(context, { name: 'PostgreSQL', store, burst, withConnections: true });
  progress.step('PostgreSQL: vacuum, and removal of old history');
  const vacuum = await vacuumOf(store, costs.idle);
  const removal = await removalOf(store, costs.idle, scale.removalSeconds);
  await using second = await server.createDatabase();
  await using proxy = await startCountingProxy(second.url);
  const counted = await costsOf(context, {
    name: 'PostgreSQL, round trips',
    store: { kind: 'postgres', url: second.url },
    proxy,
    burst,
    withConnections: false,
  });
  return withTraffic({ ...costs, points: [...costs.points, vacuum, removal] }, counted);
}

/** Citus is measured once, through the proxy. The work is spread over projects, because each lives on one worker. */
async function costsOnCitus(context: CostsContext, citusUrl: string): Promise<StoreCosts | null> {
  const { progress, scale } = context;
  try {
    await using cluster = await createCitusStore(citusUrl, ROOT);
    const { store } = cluster;
    if (store.kind !== 'postgres') return null;
    const names = Array.from({ length: CITUS_PROJECTS }, (_, n) => `project-${n}`);
    const apiKeys = await createProjects(ROOT, store, names);
    await using proxy = await startCountingProxy(store.url);
    const burst = Math.ceil(scale.burst / CITUS_BURST_PART);
    const subject = { name: 'Citus', store, proxy, apiKeys, burst, withConnections: true };
    const costs = await costsOf(context, subject);
    progress.step('Citus: removal of old history');
    const removal = await removalOf(store, costs.idle, scale.removalSeconds);
    return { ...costs, points: [...costs.points, removal] };
  } catch (error) {
    progress.note(`Citus was left out: ${messageOf(error)}`);
    return null;
  }
}

async function checksOnPostgres(
  { receiver, progress, scale }: CostsContext,
  server: PostgresServer,
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const nodes of [1, CHECKED_NODES]) {
    await using database = await server.createDatabase();
    progress.step(`PostgreSQL: creates and deliveries at once, nodes: ${nodes}`);
    const store = { kind: 'postgres', url: database.url } as const;
    try {
      checks.push(await measureCheck(receiver, { name: 'postgres', store, nodes, ...scale.check }));
    } catch (error) {
      progress.note(`A check was left out: ${messageOf(error)}`);
    }
  }
  return checks;
}

/** A store that is measured. */
interface Subject {
  readonly name: string;
  readonly store: SchedStore;
  /** Counts round trips. Null measures without it. */
  readonly proxy?: CountingProxy;
  /** The keys of the projects. The default is one project. */
  readonly apiKeys?: readonly string[];
  readonly burst: number;
  /** New connections to receivers make no difference to the database, so they are measured once. */
  readonly withConnections: boolean;
}

async function costsOf({ receiver, progress, scale }: CostsContext, subject: Subject): Promise<StoreCosts> {
  const { name, store, proxy = null, apiKeys = [API_KEY] } = subject;
  const used = proxy === null ? store : { kind: 'postgres' as const, url: proxy.url };
  await using running = await startSched({ store: used });
  await using counters = await countersOf({ store, pids: running.pids, proxy });
  await warmUp(running, receiver);
  progress.step(`${name}: an idle node`);
  const idle = await idleUsage(counters, scale.idleSeconds);
  const target = { urls: running.urls, apiKeys };
  const node: MeasuredNode = { target, counters, receiver, idle, createMsEach: CREATE_MS_EACH_COLD };
  const { rate, seconds } = scale.paced;
  const small = { bodyBytes: SMALL_BODY, count: subject.burst, pace: null };
  const points: CostPoint[] = [];
  // The first thousands are slower, until everything is compiled.
  await createAndDeliver(node, small);
  const receiverMs = receiver.cpuMs();
  let receiverMicros: number | null = null;
  for (const bodyBytes of [SMALL_BODY, LARGE_BODY]) {
    progress.step(`${name}: ${bodyBytes} bytes, a burst`);
    points.push(...(await createAndDeliver(node, { ...small, bodyBytes })));
    receiverMicros ??= microsEach(receiverMs, receiver.cpuMs(), small.count);
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
  if (subject.withConnections) await add('connection', { answers: 'and close', count: scale.connections });
  return { idle, points, receiverMicros };
}

function microsEach(beforeMs: number | null, afterMs: number | null, count: number): number | null {
  return beforeMs === null || afterMs === null ? null : ((afterMs - beforeMs) * MS_PER_SECOND) / count;
}

async function idleUsage(counters: MeasuredNode['counters'], seconds: number): Promise<Usage> {
  const before = await counters.read();
  await sleep(seconds * MS_PER_SECOND);
  const difference = combine(await counters.read(), before, (after, start) => after - start);
  return scaled(difference, 1 / seconds);
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
    ...costs,
    idle: add(costs.idle, counted.idle),
    points: costs.points.map((point, n) => ({ ...point, each: add(point.each, counted.points[n]?.each) })),
  };
}

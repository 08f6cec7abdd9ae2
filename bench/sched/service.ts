/** Starts the real service, as one process or as several nodes on one database. Creates go round robin. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { SLOTS } from '../../src/domain/slot.ts';
import { profilingFlags } from '../child.ts';
import type { Job, RunningContender } from '../contender.ts';
import { BODY, CA_FILE, headersOf } from '../post.ts';
import { sumOf } from '../process-figures.ts';
import { createOverHttp } from './load.ts';
import { type ServerProcess, startServer } from './process.ts';

export type SchedStore =
  | { readonly kind: 'sqlite'; readonly directory: string }
  | {
      readonly kind: 'postgres';
      readonly url: string;
      /** The processor time of the server so far. It is unknown if this is missing. */
      readonly cpuMs?: () => number | null;
      /** The part of it that the workers of a Citus cluster took. */
      readonly workersCpuMs?: () => number | null;
    };

export interface SchedOptions {
  readonly store: SchedStore;
  /** The default is 1. */
  readonly nodes?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** The keys of the projects that the jobs are spread over. The default is one project. */
  readonly apiKeys?: readonly string[];
  readonly profileDir?: string | undefined;
  /** The checkout whose service is started. The default is the checkout of this file. */
  readonly root?: string | undefined;
}

export interface RunningSched extends RunningContender {
  readonly urls: readonly string[];
  /** The process of each node. */
  readonly pids: readonly number[];
  /** The time from the start of the first process until it listens. */
  readonly startedInMs: number;
  /** The largest memory use of each node since its start. */
  peakMemoryMb(): readonly (number | null)[];
}

export const API_KEY = 'sk_test_benchbenchbenchbenchbenchbench';
const MASTER_KEY_BYTES = 32;
/** All processes have the same master key, so that a store can be opened again. */
const MASTER_KEY = Buffer.alloc(MASTER_KEY_BYTES, 'bench').toString('base64');
const CREATES_AT_ONCE = 64;
const SHARED_EVERY_MS = 50;
const SHARED_MS_MAX = 30_000;

/** The settings that every process on this store has. */
export function storeEnv(store: SchedStore): Readonly<Record<string, string>> {
  const where =
    store.kind === 'sqlite' ? { SCHED_DATA_DIR: store.directory } : { SCHED_DATABASE_URL: store.url };
  return { SCHED_MASTER_KEY: MASTER_KEY, ...where };
}

/** The stored data stay when the service is stopped. */
export async function startSched(options: SchedOptions): Promise<RunningSched> {
  const { store, nodes: count = 1, apiKeys = [API_KEY], profileDir } = options;
  const env = {
    SCHED_PORT: '0',
    SCHED_BOOTSTRAP_TEST_KEY: API_KEY,
    SCHED_EGRESS_ALLOW: '127.0.0.0/8',
    SCHED_EGRESS_CA_FILE: CA_FILE,
    ...storeEnv(store),
    ...options.env,
  };
  await using started = new AsyncDisposableStack();
  const nodes: ServerProcess[] = [];
  for (let n = 0; n < count; n++) {
    const args = [...profilingFlags(profileDir), 'bin/sched.js', 'serve'];
    nodes.push(started.use(await startServer(args, env, options.root)));
  }
  if (count > 1) await slotsShared(nodes);
  const client = started.adopt(new Agent(), (agent) => agent.close());
  const running = started.move();
  const urls = nodes.map(({ url }) => url);
  const createAll = (jobs: readonly Job[], bodyOf: (job: Job) => string) =>
    forEachConcurrently(jobs, (job) =>
      create(client, {
        origin: inTurn(urls, job),
        apiKey: inTurn(apiKeys, job),
        json: bodyOf(job),
      }),
    );
  return {
    urls,
    pids: nodes.map(({ pid }) => pid),
    startedInMs: nodes[0]?.startedInMs ?? Number.NaN,
    store: (jobs) => createAll(jobs, oneShotOf),
    storeRecurring: (jobs) => createAll(jobs, recurringOf),
    create: (load) => createOverHttp({ ...load, urls, apiKey: API_KEY }),
    cpuMs: () => sumOf(nodes.map((node) => node.cpuMs())),
    databaseCpuMs: () => (store.kind === 'sqlite' ? 0 : (store.cpuMs?.() ?? null)),
    ...(store.kind === 'postgres' && store.workersCpuMs !== undefined
      ? { workersCpuMs: store.workersCpuMs }
      : {}),
    memoryMb: () => sumOf(nodes.map((node) => node.memoryMb())),
    peakMemoryMb: () => nodes.map((node) => node.peakMemoryMb()),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Waits until every node dispatches its share of the slots. */
async function slotsShared(nodes: readonly ServerProcess[]): Promise<void> {
  const until = performance.now() + SHARED_MS_MAX;
  for (;;) {
    const held = await Promise.all(nodes.map(slotsHeld));
    if (sumOf(held) === SLOTS && Math.max(...held) - Math.min(...held) <= 1) return;
    if (performance.now() > until) throw new Error(`The slots are not shared evenly: ${held.join(', ')}.`);
    await sleep(SHARED_EVERY_MS);
  }
}

async function slotsHeld({ url }: ServerProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  // A baseline of an older version exports the metric as sched_slots_held.
  return Number(/^sched_slots_(?:owned|held) (\d+)$/m.exec(text)?.[1] ?? 0);
}

async function forEachConcurrently(jobs: readonly Job[], act: (job: Job) => Promise<void>): Promise<void> {
  const queue = jobs.values();
  const worker = async () => {
    for (const job of queue) await act(job);
  };
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, worker));
}

function oneShotOf(job: Job): string {
  return JSON.stringify({
    endpoint: job.url,
    fire_at: new Date(job.due).toISOString(),
    headers: headersOf(job),
    body: BODY,
    ...job.more,
  });
}

/** The schedule fires daily at the minute of the job. */
function recurringOf(job: Job): string {
  const due = new Date(job.due);
  return JSON.stringify({
    endpoint: job.url,
    cron: `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`,
    headers: headersOf(job),
    body: BODY,
  });
}

function inTurn(all: readonly string[], { number }: Job): string {
  return all[number % all.length] ?? '';
}

interface Create {
  readonly origin: string;
  readonly apiKey: string;
  readonly json: string;
}

async function create(client: Agent, { origin, apiKey, json }: Create): Promise<void> {
  const { statusCode, body } = await client.request({
    origin,
    path: '/v1/schedules',
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: json,
  });
  if (statusCode !== 201) throw new Error(`A create was answered ${statusCode}: ${await body.text()}`);
  await body.dump();
}

/** `node graphile-process.ts PACKAGE DATABASE_URL FETCHING`: a worker that posts, and what adds its jobs. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Order } from './contender.ts';
import type { Fetching } from './graphile.ts';
import { CONNECTIONS_MAX, post } from './post.ts';

/** What we use of it. */
interface GraphileWorker {
  run(options: {
    readonly preset: { readonly worker: WorkerOptions };
    readonly taskList: Readonly<Record<string, (payload: Order) => Promise<void>>>;
    readonly parsedCronItems: readonly [];
    readonly noHandleSignals: boolean;
  }): Promise<{ stop(): Promise<void> }>;
  makeWorkerUtils(options: { readonly connectionString: string }): Promise<{
    addJobs(
      jobs: readonly { readonly identifier: string; readonly payload: Order; readonly runAt: Date }[],
    ): Promise<unknown>;
    release(): Promise<void>;
  }>;
}

interface WorkerOptions {
  readonly connectionString: string;
  readonly concurrentJobs: number;
  readonly maxPoolSize: number;
  /** Milliseconds. */
  readonly pollInterval: number;
  readonly localQueue?: { readonly size: number };
  readonly completeJobBatchDelay?: number;
  readonly failJobBatchDelay?: number;
}

const POLL_EVERY_MS = 100;
const ADDED_TOGETHER = 500;
/** Beside one for each job that runs: so its documentation. */
const SPARE_CONNECTIONS = 2;
/** With these its documentation shows how fast it can be. */
const BATCHES = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

const [folder = '', connectionString = '', fetching] = process.argv.slice(2);
const isBatched = (fetching as Fetching) === 'in batches';
const main = pathToFileURL(join(folder, 'dist/index.js')).href;
const graphileWorker = (await import(main)) as GraphileWorker;

const runner = await graphileWorker.run({
  preset: {
    worker: {
      connectionString,
      concurrentJobs: CONNECTIONS_MAX,
      maxPoolSize: CONNECTIONS_MAX + SPARE_CONNECTIONS,
      pollInterval: POLL_EVERY_MS,
      ...(isBatched ? BATCHES : {}),
    },
  },
  taskList: { post },
  parsedCronItems: [],
  noHandleSignals: true,
});
const utils = await graphileWorker.makeWorkerUtils({ connectionString });

async function add(orders: readonly Order[]): Promise<void> {
  for (let at = 0; at < orders.length; at += ADDED_TOGETHER) {
    const together = orders.slice(at, at + ADDED_TOGETHER);
    await utils.addJobs(
      together.map((order) => ({ identifier: 'post', payload: order, runAt: new Date(order.due) })),
    );
  }
}

async function end(): Promise<void> {
  await utils.release();
  await runner.stop();
}

process.on('message', (orders: readonly Order[]) => {
  void add(orders).then(() => process.send?.('stored'));
});
process.on('disconnect', () => void end().finally(() => process.exit(0)));
process.send?.('ready');

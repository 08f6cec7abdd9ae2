/** `node graphile-process.ts DATABASE_URL FETCHING` */
import { makeWorkerUtils, run } from 'graphile-worker';
import type { Job } from '../contender.ts';
import { CONNECTIONS_MAX, post } from '../post.ts';
import { addInBatches } from './adding.ts';
import type { Fetching } from './postgres-peers.ts';
import { servePeer } from './protocol.ts';

const POLL_EVERY_MS = 100;
const ADDED_TOGETHER = 500;
const ADDING_CONNECTIONS = 20;
/** The documentation of Graphile Worker asks for these in addition to one connection for each running job. */
const SPARE_CONNECTIONS = 2;
/** The documentation of Graphile Worker shows its best throughput with these settings. */
const BATCHES = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
const IDENTIFIER = 'post';

const [connectionString = '', fetching] = process.argv.slice(2);
const isBatched = (fetching as Fetching) === 'in batches';

const runner = await run({
  preset: {
    worker: {
      connectionString,
      concurrentJobs: CONNECTIONS_MAX,
      maxPoolSize: CONNECTIONS_MAX + SPARE_CONNECTIONS,
      pollInterval: POLL_EVERY_MS,
      ...(isBatched ? BATCHES : {}),
    },
  },
  taskList: { [IDENTIFIER]: (payload) => post(payload as Job) },
  parsedCronItems: [],
  noHandleSignals: true,
});
const utils = await makeWorkerUtils({ connectionString, maxPoolSize: ADDING_CONNECTIONS });

servePeer({
  addAll: (jobs) =>
    addInBatches(jobs, ADDED_TOGETHER, (part) =>
      utils.addJobs(
        part.map((payload) => ({ identifier: IDENTIFIER, payload, runAt: new Date(payload.due) })),
      ),
    ),
  addOne: async (job) => void (await utils.addJob(IDENTIFIER, job, { runAt: new Date(job.due) })),
  end: async () => {
    await utils.release();
    await runner.stop();
  },
});

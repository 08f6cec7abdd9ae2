/** `node pg-boss-process.ts DATABASE_URL` */
import { PgBoss } from 'pg-boss';
import type { Job } from '../contender.ts';
import { post } from '../post.ts';
import { addInBatches } from './adding.ts';
import { PG_BOSS_BATCH_SIZE, PG_BOSS_WORKERS } from './postgres-peers.ts';
import { servePeer } from './protocol.ts';

const POLL_EVERY_SECONDS = 0.5;
const ADDED_TOGETHER = 1_000;
const CONNECTIONS = 20;
const QUEUE = 'jobs';

const [connectionString = ''] = process.argv.slice(2);
const boss = new PgBoss({ connectionString, max: CONNECTIONS, schedule: false });
boss.on('error', (error) => console.error(error));
await boss.start();
await boss.createQueue(QUEUE);
await boss.work<Job>(
  QUEUE,
  {
    pollingIntervalSeconds: POLL_EVERY_SECONDS,
    localConcurrency: PG_BOSS_WORKERS,
    batchSize: PG_BOSS_BATCH_SIZE,
    burstWhenBatchFull: true,
  },
  async (jobs) => void (await Promise.all(jobs.map(({ data }) => post(data)))),
);

servePeer({
  addAll: (jobs) =>
    addInBatches(jobs, ADDED_TOGETHER, (part) =>
      boss.insert(
        QUEUE,
        part.map((data) => ({ data, startAfter: new Date(data.due) })),
      ),
    ),
  addOne: async (job) => void (await boss.send(QUEUE, job, { startAfter: new Date(job.due) })),
  end: () => boss.stop({ graceful: false }),
});

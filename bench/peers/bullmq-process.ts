/** `node bullmq-process.ts SOCKET` */
import { Queue, Worker } from 'bullmq';
import type { Job } from '../contender.ts';
import { CONNECTIONS_MAX, post } from '../post.ts';
import { addConcurrently, addInBatches } from './adding.ts';
import { servePeer } from './protocol.ts';

const ADDED_TOGETHER = 1_000;
const QUEUE = 'jobs';

const [path = ''] = process.argv.slice(2);
const defaultJobOptions = { removeOnComplete: true, removeOnFail: true };
const queue = new Queue(QUEUE, { connection: { path }, defaultJobOptions });
// The documentation of BullMQ asks for this setting: a worker waits for Redis without a limit.
const connection = { path, maxRetriesPerRequest: null };
const worker = new Worker(QUEUE, ({ data }) => post(data), { connection, concurrency: CONNECTIONS_MAX });
worker.on('error', (error) => console.error(error));
await worker.waitUntilReady();

const delayOf = ({ due }: Job) => Math.max(due - Date.now(), 0);

async function addRecurring(job: Job): Promise<void> {
  const due = new Date(job.due);
  const pattern = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
  await queue.upsertJobScheduler(`every-${job.number}`, { pattern, tz: 'UTC' }, { name: 'post', data: job });
}

servePeer({
  addAll: (jobs) =>
    addInBatches(jobs, ADDED_TOGETHER, (part) =>
      queue.addBulk(part.map((data) => ({ name: 'post', data, opts: { delay: delayOf(data) } }))),
    ),
  addOne: async (job) => void (await queue.add('post', job, { delay: delayOf(job) })),
  addRecurring: (jobs) => addConcurrently(jobs, addRecurring),
  end: async () => {
    await worker.close(true);
    await queue.close();
  },
});

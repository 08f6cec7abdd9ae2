/** `node bullmq-process.ts SOCKET` */
import { Queue, Worker } from 'bullmq';
import type { Order } from '../contender.ts';
import { CONNECTIONS_MAX, post } from '../post.ts';
import { inHands, inParts } from './adding.ts';
import { servePeer } from './protocol.ts';

const ADDED_TOGETHER = 1_000;
const QUEUE = 'orders';

const [path = ''] = process.argv.slice(2);
const defaultJobOptions = { removeOnComplete: true, removeOnFail: true };
const queue = new Queue(QUEUE, { connection: { path }, defaultJobOptions });
// As its documentation asks for: a worker waits for Redis for as long as it takes.
const connection = { path, maxRetriesPerRequest: null };
const worker = new Worker(QUEUE, ({ data }) => post(data), { connection, concurrency: CONNECTIONS_MAX });
worker.on('error', (error) => console.error(error));
await worker.waitUntilReady();

const delayOf = ({ due }: Order) => Math.max(due - Date.now(), 0);

async function addRecurring(order: Order): Promise<void> {
  const due = new Date(order.due);
  const pattern = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
  await queue.upsertJobScheduler(
    `every-${order.number}`,
    { pattern, tz: 'UTC' },
    { name: 'post', data: order },
  );
}

servePeer({
  addAll: (orders) =>
    inParts(orders, ADDED_TOGETHER, (part) =>
      queue.addBulk(part.map((data) => ({ name: 'post', data, opts: { delay: delayOf(data) } }))),
    ),
  addOne: async (order) => void (await queue.add('post', order, { delay: delayOf(order) })),
  addRecurring: (orders) => inHands(orders, addRecurring),
  end: async () => {
    await worker.close(true);
    await queue.close();
  },
});

/** `node pg-boss-process.ts DATABASE_URL` */
import { PgBoss } from 'pg-boss';
import type { Order } from '../contender.ts';
import { post } from '../post.ts';
import { inParts } from './adding.ts';
import { FETCHED_TOGETHER, WORKERS } from './pg-boss.ts';
import { servePeer } from './protocol.ts';

const POLL_EVERY_SECONDS = 0.5;
const ADDED_TOGETHER = 1_000;
const CONNECTIONS = 20;
const QUEUE = 'orders';

const [connectionString = ''] = process.argv.slice(2);
const boss = new PgBoss({ connectionString, max: CONNECTIONS, schedule: false });
boss.on('error', (error) => console.error(error));
await boss.start();
await boss.createQueue(QUEUE);
await boss.work<Order>(
  QUEUE,
  {
    pollingIntervalSeconds: POLL_EVERY_SECONDS,
    localConcurrency: WORKERS,
    batchSize: FETCHED_TOGETHER,
    burstWhenBatchFull: true,
  },
  async (jobs) => void (await Promise.all(jobs.map(({ data }) => post(data)))),
);

servePeer({
  addAll: (orders) =>
    inParts(orders, ADDED_TOGETHER, (part) =>
      boss.insert(
        QUEUE,
        part.map((data) => ({ data, startAfter: new Date(data.due) })),
      ),
    ),
  addOne: async (order) => void (await boss.send(QUEUE, order, { startAfter: new Date(order.due) })),
  end: () => boss.stop({ graceful: false }),
});

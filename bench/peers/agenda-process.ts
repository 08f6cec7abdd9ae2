/** `node agenda-process.ts DATABASE_URL` */
import { PostgresBackend } from '@agendajs/postgres-backend';
import { Agenda } from 'agenda';
import type { Order } from '../contender.ts';
import { CONNECTIONS_MAX, post } from '../post.ts';
import { inHands } from './adding.ts';
import { LOCK_LIMIT, PROCESS_EVERY_MS } from './agenda.ts';
import { servePeer } from './protocol.ts';

const CONNECTIONS = 20;
const NAME = 'post';

const [connectionString = ''] = process.argv.slice(2);
const agenda = new Agenda({
  backend: new PostgresBackend({ poolConfig: { connectionString, max: CONNECTIONS } }),
  processEvery: PROCESS_EVERY_MS,
  maxConcurrency: CONNECTIONS_MAX,
  defaultConcurrency: CONNECTIONS_MAX,
  defaultLockLimit: LOCK_LIMIT,
  removeOnComplete: true,
});
agenda.on('error', (error) => console.error(error));
agenda.define<Order>(NAME, ({ attrs }) => post(attrs.data));
await agenda.start();

const add = (order: Order) => agenda.schedule(new Date(order.due), NAME, order);

servePeer({
  // It has no call for many.
  addAll: (orders) => inHands(orders, add),
  addOne: async (order) => void (await add(order)),
  end: () => agenda.stop(),
});

/** The limit, a process of its own: a timer for each order and the client, no store. */
import type { Order } from './contender.ts';
import { post } from './post.ts';

process.on('message', (orders: readonly Order[]) => {
  for (const order of orders) setTimeout(() => void post(order), order.due - Date.now());
  process.send?.('stored');
});
process.on('disconnect', () => process.exit(0));

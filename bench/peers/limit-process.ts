import type { Order } from '../contender.ts';
import { post } from '../post.ts';
import { servePeer } from './protocol.ts';

async function addAll(orders: readonly Order[]): Promise<void> {
  for (const order of orders) postInTime(order);
}

/** A timer may fire up to a millisecond early: nothing is to be sent before its instant. */
function postInTime(order: Order): void {
  const leftMs = order.due - Date.now();
  if (leftMs > 0) setTimeout(() => postInTime(order), leftMs);
  else void post(order);
}

servePeer({
  addAll,
  addOne: (order) => addAll([order]),
  addRecurring: addAll,
  end: async () => undefined,
});

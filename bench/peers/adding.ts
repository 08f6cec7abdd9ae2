/** Two ways to add many. */
import type { Order } from '../contender.ts';

const HANDS = 64;

/** One call for so many, one after the other. */
export async function inParts(
  orders: readonly Order[],
  size: number,
  add: (part: readonly Order[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < orders.length; at += size) await add(orders.slice(at, at + size));
}

/** A call for each, many at once. */
export async function inHands(
  orders: readonly Order[],
  add: (order: Order) => Promise<unknown>,
): Promise<void> {
  const queue = orders.values();
  const hand = async () => {
    for (const order of queue) await add(order);
  };
  await Promise.all(Array.from({ length: HANDS }, hand));
}

/**
 * What the benchmark and the process of a peer say to each other. The process says that it is done when it
 * has started, and after each order; it gets the next one only then.
 */
import type { Created, CreateLoad, Order } from '../contender.ts';
import { quantile } from '../statistics.ts';

export type PeerOrder =
  | { readonly kind: 'store'; readonly orders: readonly Order[] }
  | { readonly kind: 'recur'; readonly orders: readonly Order[] }
  | { readonly kind: 'create'; readonly load: CreateLoad };

export type PeerMessage =
  | { readonly kind: 'done'; readonly created: Created | null }
  | { readonly kind: 'failed'; readonly why: string };

/** What a peer can do, in its own process. */
export interface PeerWorker {
  /** The fastest way it has to add many. */
  addAll(orders: readonly Order[]): Promise<void>;
  /** One call of its public interface. */
  addOne(order: Order): Promise<void>;
  addRecurring?(orders: readonly Order[]): Promise<void>;
  end(): Promise<void>;
}

const DAY_MS = 86_400_000;
const MS_PER_SECOND = 1_000;
const NOWHERE = 'https://bench.invalid/hooks/reminder';

/** To be called once it has started. */
export function servePeer(worker: PeerWorker): void {
  process.on('message', (order: PeerOrder) => {
    answer(worker, order).then(
      (created) => say({ kind: 'done', created }),
      (error: unknown) => say({ kind: 'failed', why: String(error) }),
    );
  });
  process.on('disconnect', () => void worker.end().finally(() => process.exit(0)));
  say({ kind: 'done', created: null });
}

function say(message: PeerMessage): void {
  process.send?.(message);
}

async function answer(worker: PeerWorker, order: PeerOrder): Promise<Created | null> {
  switch (order.kind) {
    case 'store':
      await worker.addAll(order.orders);
      return null;
    case 'recur':
      if (worker.addRecurring === undefined) throw new Error('It is not made for so many that recur.');
      await worker.addRecurring(order.orders);
      return null;
    case 'create':
      return createFor(worker, order.load);
  }
}

async function createFor(worker: PeerWorker, { atOnce, seconds }: CreateLoad): Promise<Created> {
  const start = performance.now();
  const end = start + seconds * MS_PER_SECOND;
  const due = Date.now() + DAY_MS;
  const tookMs: number[] = [];
  let number = 0;
  let failed = 0;
  const hand = async () => {
    for (let now = start; now < end; ) {
      await worker.addOne({ number: number++, url: NOWHERE, due }).catch(() => failed++);
      const then = performance.now();
      tookMs.push(then - now);
      now = then;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, hand));
  return {
    created: tookMs.length - failed,
    failed,
    seconds: (performance.now() - start) / MS_PER_SECOND,
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
  };
}

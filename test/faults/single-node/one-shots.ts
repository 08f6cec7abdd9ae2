/** Creates groups of one-shots for a scenario. Each group has its own receiver behaviour, delay and hooks. */

import { inParallel } from '#test/faults/client.ts';
import type { Receiver } from '#test/receiver/receiver.ts';
import type { Ledger, PlannedAnswer } from './ledger.ts';
import type { RetryingClient } from './retrying-client.ts';

const AT_ONCE_MAX = 32;

export interface OneShotDependencies {
  readonly client: RetryingClient;
  readonly receiver: Receiver;
  readonly ledger: Ledger;
}

export interface Group {
  /** Ids of the schedules. */
  readonly ids: readonly string[];
  /** URLs of the hooks. Each is an endpoint. */
  readonly urls: readonly string[];
  /** The number of requests that have arrived at its hooks so far. */
  arrived(): number;
  /** Resolves when `count` requests have arrived. Returns the milliseconds that it took. */
  allArrived(count?: number): Promise<number>;
}

export interface GroupOptions {
  readonly name: string;
  readonly count: number;
  /** The number of endpoints. By default each delivery has its own. */
  readonly endpoints?: number;
  /** The fields of each create besides its endpoint. */
  readonly body: (index: number) => object;
  readonly plan: (deliveryId: string, attemptNo: number) => PlannedAnswer | Promise<PlannedAnswer>;
}

export class OneShots {
  readonly #dependencies: OneShotDependencies;
  readonly acknowledged = new Map<string, 'one_shot' | 'recurring'>();

  constructor(dependencies: OneShotDependencies) {
    this.#dependencies = dependencies;
  }

  async group({ name, count, endpoints = count, body, plan }: GroupOptions): Promise<Group> {
    const { client, receiver, ledger } = this.#dependencies;
    const behaviour = ledger.behaviour(plan);
    const hooks = Array.from({ length: endpoints }, (_, i) => receiver.hookAt(`/${name}/${i}`, behaviour));
    const ids: string[] = [];
    const arrived = () => hooks.reduce((sum, { requests }) => sum + requests.length, 0);
    await inParallel([...Array.from({ length: count }).keys()], AT_ONCE_MAX, async (i) => {
      const endpoint = hooks[i % endpoints]?.url;
      const { id } = await client.create<{ readonly id: string }>('/v1/schedules', `${name} ${i}`, {
        endpoint,
        ...body(i),
      });
      ids.push(id);
      this.acknowledged.set(id, 'cron' in body(i) ? 'recurring' : 'one_shot');
    });
    return {
      ids,
      urls: hooks.map(({ url }) => url),
      arrived,
      async allArrived(wanted = count) {
        const start = performance.now();
        await Promise.all(hooks.map((hook, i) => hook.arrived(share(wanted, endpoints, i))));
        return performance.now() - start;
      },
    };
  }
}

/** How many of `count` belong to position `index` when they are distributed in turn. */
function share(count: number, among: number, index: number): number {
  return Math.floor(count / among) + (index < count % among ? 1 : 0);
}

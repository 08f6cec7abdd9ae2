/** One-shots for a scenario: each group has a receiver's temper, a delay and hooks of its own. */
import type { Receiver } from '#test/receiver/receiver.ts';
import { inParallel } from '../client.ts';
import type { Gateway } from './gateway.ts';
import type { Ledger, Plan } from './ledger.ts';

const AT_ONCE_MAX = 32;

export interface ShotDependencies {
  readonly gateway: Gateway;
  readonly receiver: Receiver;
  readonly ledger: Ledger;
}

export interface Group {
  /** Of schedules. */
  readonly ids: readonly string[];
  /** Of the hooks: an endpoint each. */
  readonly urls: readonly string[];
  /** What has arrived at its hooks so far. */
  arrived(): number;
  /** When so many have arrived; gives the ms it took. */
  allArrived(count?: number): Promise<number>;
}

export interface GroupOptions {
  readonly name: string;
  readonly count: number;
  /** On how many endpoints; left out, each has its own. */
  readonly endpoints?: number;
  /** Of each create, beside its endpoint. */
  readonly body: (index: number) => object;
  readonly plan: (deliveryId: string, attemptNo: number) => Plan | Promise<Plan>;
}

export class Shots {
  readonly #harness: ShotDependencies;
  readonly acknowledged = new Map<string, 'one_shot' | 'recurring'>();

  constructor(harness: ShotDependencies) {
    this.#harness = harness;
  }

  async group({ name, count, endpoints = count, body, plan }: GroupOptions): Promise<Group> {
    const { gateway, receiver, ledger } = this.#harness;
    const behaviour = ledger.behaviour(plan);
    const hooks = Array.from({ length: endpoints }, (_, i) => receiver.hookAt(`/${name}/${i}`, behaviour));
    const ids: string[] = [];
    const arrived = () => hooks.reduce((sum, { requests }) => sum + requests.length, 0);
    await inParallel([...Array.from({ length: count }).keys()], AT_ONCE_MAX, async (i) => {
      const endpoint = hooks[i % endpoints]?.url;
      const { id } = await gateway.create<{ readonly id: string }>('/v1/schedules', `${name} ${i}`, {
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

/** How many of `count` fall to the one at `index` when dealt out in turn. */
function share(count: number, among: number, index: number): number {
  return Math.floor(count / among) + (index < count % among ? 1 : 0);
}

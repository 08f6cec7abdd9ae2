/** Sched, as so many nodes on one database, each a real `sched serve`; creates go to one after the other. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { SLOTS } from '#src/domain/slot.ts';
import { API_KEY, type Server, startService } from '../processes.ts';
import type { Contender, Order } from './contender.ts';
import { BODY, headersOf } from './post.ts';

const CREATES_AT_ONCE = 64;
const SHARED_EVERY_MS = 100;
const SHARED_MS_MAX = 30_000;
const MASTER_KEY_BYTES = 32;

export interface NodesOptions {
  readonly count: number;
  /** Processor profiles of the nodes are written there. */
  readonly profileDir: string | undefined;
}

export function schedNodes({ count, profileDir }: NodesOptions): Contender {
  return {
    name: `Sched, ${count} ${count === 1 ? 'node' : 'nodes'}`,
    start: async (databaseUrl) => {
      const env = {
        SCHED_DATABASE_URL: databaseUrl,
        SCHED_MASTER_KEY: randomBytes(MASTER_KEY_BYTES).toString('base64'),
        SCHED_EGRESS_ALLOW: '127.0.0.0/8',
        SCHED_EGRESS_CA_FILE: 'test/certificates/ca.pem',
      };
      const nodes: Server[] = [];
      for (let n = 0; n < count; n++) nodes.push(await startService({ env, profileDir }));
      await shared(nodes);
      const client = new Agent();
      return {
        store: (orders) => createAll(client, nodes, orders),
        cpuMs: () => sumOf(nodes.map((node) => node.cpuMs())),
        [Symbol.asyncDispose]: async () => {
          await client.close();
          await Promise.all(nodes.map((node) => node.stop()));
        },
      };
    },
  };
}

/** Until every node dispatches its share of the slots. */
async function shared(nodes: readonly Server[]): Promise<void> {
  const until = performance.now() + SHARED_MS_MAX;
  for (;;) {
    const held = await Promise.all(nodes.map(slotsHeld));
    const isAll = sumOf(held) === SLOTS;
    if (isAll && Math.max(...held) - Math.min(...held) <= 1) return;
    if (performance.now() > until) throw new Error(`The slots are not shared evenly: ${held.join(', ')}.`);
    await sleep(SHARED_EVERY_MS);
  }
}

async function slotsHeld({ url }: Server): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^sched_slots_held (\d+)$/m.exec(text)?.[1] ?? 0);
}

async function createAll(client: Agent, nodes: readonly Server[], orders: readonly Order[]): Promise<void> {
  const queue = orders.toReversed();
  const work = async () => {
    for (let order = queue.pop(); order !== undefined; order = queue.pop()) {
      await create(client, nodes[order.number % nodes.length]?.url ?? '', order);
    }
  };
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, work));
}

async function create(client: Agent, origin: string, order: Order): Promise<void> {
  const { statusCode, body } = await client.request({
    origin,
    path: '/v1/schedules',
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      endpoint: order.url,
      fire_at: new Date(order.due).toISOString(),
      headers: headersOf(order),
      body: BODY,
    }),
  });
  if (statusCode !== 201) throw new Error(`A create was answered ${statusCode}: ${await body.text()}`);
  await body.dump();
}

function sumOf(numbers: readonly number[]): number;
function sumOf(numbers: readonly (number | null)[]): number | null;
function sumOf(numbers: readonly (number | null)[]): number | null {
  return numbers.reduce((sum, each) => (sum === null || each === null ? null : sum + each), 0);
}

/**
 * The nodes of a cluster, each a real process on the same database. A node may be ended in any way and
 * started again. It then has a new name. The load balancer sends calls to the nodes that are ready.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startService, startServiceInThread } from '#test/faults/single-node/service.ts';
import { query } from '#test/postgres/databases.ts';
import { type Exit, type SchedProcess, temporaryDirectory } from '#test/process/sched-process.ts';
import { LoadBalancer } from './load-balancer.ts';

export interface Node {
  /** The position among the nodes, from 1 on. A restart does not change it. */
  readonly number: number;
  /** The node's name in the database. */
  readonly name: string;
  readonly process: NodeProcess;
}

/** A node in the thread of the tests can be stopped, but neither killed nor frozen. */
type NodeProcess = Pick<SchedProcess, 'url' | 'output' | 'signal' | 'stop' | 'kill' | keyof AsyncDisposable>;

export interface NodesOptions {
  readonly count: number;
  /** The database URL for the nodes. */
  readonly databaseUrl: string;
  /** The database URL for the tests, as it is at the moment. */
  readonly url: () => string;
  /** Whether the node runs in the thread of the tests, which costs less. The default is a process. */
  readonly isInThread?: (number: number) => boolean;
}

const READY_EVERY_MS = 50;
const READY_MS_MAX = 60_000;
const GRACE = '20s';

export class Nodes implements AsyncDisposable {
  readonly #options: NodesOptions;
  readonly #masterKey = randomBytes(32).toString('base64');
  readonly #names = new Set<string>();
  readonly #living = new Map<number, Node>();
  readonly #outputs: string[] = [];
  readonly balancer = new LoadBalancer();

  constructor(options: NodesOptions) {
    this.#options = options;
  }

  /** The settings of a command that works on the same store. */
  get settings(): Readonly<Record<string, string>> {
    return { SCHED_DATABASE_URL: this.#options.databaseUrl, SCHED_MASTER_KEY: this.#masterKey };
  }

  get numbers(): readonly number[] {
    return Array.from({ length: this.#options.count }, (_, index) => index + 1);
  }

  get running(): readonly Node[] {
    return [...this.#living.values()];
  }

  at(number: number): Node {
    const node = this.#living.get(number);
    if (node === undefined) throw new Error(`Node ${number} does not run.`);
    return node;
  }

  /**
   * Resolves when the node is ready and receives calls. Nodes start one after the other, so that their names
   * are known.
   */
  async start(number: number): Promise<Node> {
    const env = { ...this.settings, SCHED_SHUTDOWN_GRACE: GRACE };
    const startNode = this.#options.isInThread?.(number) ? startInThread : startProcess;
    const process = await startNode(env);
    const node = { number, process, name: '' };
    this.#living.set(number, node);
    await waitUntilReady(process);
    const named = { ...node, name: await this.#newName() };
    this.#living.set(number, named);
    this.balancer.open(process.url);
    return named;
  }

  /** Sends SIGKILL. Calls in flight are repeated at other nodes. */
  async kill(number: number): Promise<Node> {
    const node = this.at(number);
    const exit = node.process.kill();
    this.balancer.disconnect(node.process.url);
    await exit;
    this.#forget(node);
    return node;
  }

  /**
   * Sends SIGTERM, as an operator stops a node: after new calls go elsewhere and those in flight have been
   * answered.
   */
  async stop(number: number): Promise<Exit> {
    const node = this.at(number);
    await this.balancer.drain(node.process.url);
    const exit = await node.process.stop();
    this.#forget(node);
    return exit;
  }

  /** The last output of each node, in the order in which they ended. */
  get outputs(): readonly string[] {
    return [...this.#outputs, ...this.running.map(outputOf)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.balancer.closeAll();
    await Promise.all(this.running.map(({ process }) => process[Symbol.asyncDispose]()));
  }

  #forget(node: Node): void {
    this.#outputs.push(outputOf(node));
    this.#living.delete(node.number);
  }

  async #newName(): Promise<string> {
    const rows = await query(this.#options.url(), `SELECT node FROM nodes WHERE node NOT LIKE '%/%'`);
    const names = (rows as readonly { readonly node: string }[]).map(({ node }) => node);
    const [name, ...others] = names.filter((each) => !this.#names.has(each));
    if (name === undefined || others.length > 0) throw new Error('The name of the new node is not clear.');
    this.#names.add(name);
    return name;
  }
}

function startProcess(env: Readonly<Record<string, string>>): Promise<NodeProcess> {
  return startService(temporaryDirectory(), { env });
}

async function startInThread(env: Readonly<Record<string, string>>): Promise<NodeProcess> {
  const service = await startServiceInThread(temporaryDirectory(), { env });
  const refuse = () => {
    throw new Error('This node is not a process.');
  };
  return {
    url: service.url,
    output: service.output,
    signal: refuse,
    kill: refuse,
    stop: async () => ({ code: (await service.stop()).code, signal: null }),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

function outputOf({ number, name, process }: Node): string {
  return `node ${number} (${name})\n${process.output.stdout}${process.output.stderr}`;
}

/** Returns the milliseconds that it took. */
export async function waitUntilReady({ url, output }: Pick<SchedProcess, 'url' | 'output'>): Promise<number> {
  const start = performance.now();
  for (;;) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.status === 200) return performance.now() - start;
    if (performance.now() - start > READY_MS_MAX) {
      const said = (await answer?.text()) ?? 'nothing';
      throw new Error(`A node was not ready within ${READY_MS_MAX} ms, it said ${said}\n${output.stderr}`);
    }
    await sleep(READY_EVERY_MS);
  }
}

/**
 * The nodes of a cluster, each a real process on the same database. A node may be ended in any way and started
 * again; then it is another node, under another name. The front is the way to those that are ready.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '#test/postgres/databases.ts';
import { type Exit, type SchedProcess, temporaryDirectory } from '#test/process/sched-process.ts';
import { startFiring } from '../firing/service.ts';
import { Front } from './front.ts';

export interface Node {
  /** From 1 on: its place among the nodes, which a restart does not change. */
  readonly number: number;
  /** What it is called in the database. */
  readonly name: string;
  readonly process: SchedProcess;
}

export interface NodesOptions {
  readonly count: number;
  /** For the nodes. */
  readonly databaseUrl: string;
  /** For the tests: the database as it is reached now. */
  readonly url: () => string;
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
  readonly front = new Front();

  constructor(options: NodesOptions) {
    this.#options = options;
  }

  get numbers(): readonly number[] {
    return Array.from({ length: this.#options.count }, (_, index) => index + 1);
  }

  get living(): readonly Node[] {
    return [...this.#living.values()];
  }

  at(number: number): Node {
    const node = this.#living.get(number);
    if (node === undefined) throw new Error(`Node ${number} does not run.`);
    return node;
  }

  /** Until it is ready; from then on it is part of the front. One after the other: so its name is known. */
  async start(number: number): Promise<Node> {
    const process = await startFiring(temporaryDirectory(), {
      env: {
        SCHED_DATABASE_URL: this.#options.databaseUrl,
        SCHED_MASTER_KEY: this.#masterKey,
        SCHED_SHUTDOWN_GRACE: GRACE,
      },
    });
    const node = { number, process, name: '' };
    this.#living.set(number, node);
    await ready(process);
    const named = { ...node, name: await this.#newName() };
    this.#living.set(number, named);
    this.front.open(process.url);
    return named;
  }

  /** SIGKILL. Calls under way are made again elsewhere. */
  async kill(number: number): Promise<Node> {
    const node = this.at(number);
    const exit = node.process.kill();
    this.front.cut(node.process.url);
    await exit;
    this.#forget(node);
    return node;
  }

  /** SIGTERM, as an operator stops a node: no new calls go there, and those under way have been answered. */
  async stop(number: number): Promise<Exit> {
    const node = this.at(number);
    await this.front.leave(node.process.url);
    const exit = await node.process.stop();
    this.#forget(node);
    return exit;
  }

  /** The end of what each has written, in the order in which they ended. */
  get outputs(): readonly string[] {
    return [...this.#outputs, ...this.living.map(outputOf)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.front.closeAll();
    await Promise.all(this.living.map(({ process }) => process[Symbol.asyncDispose]()));
  }

  #forget(node: Node): void {
    this.#outputs.push(outputOf(node));
    this.#living.delete(node.number);
  }

  async #newName(): Promise<string> {
    const rows = await query(this.#options.url(), `SELECT node FROM nodes WHERE node NOT LIKE '%/%'`);
    const names = (rows as readonly { readonly node: string }[]).map(({ node }) => node);
    const [name, ...others] = names.filter((each) => !this.#names.has(each));
    if (name === undefined || others.length > 0) throw new Error('The name of a node cannot be told.');
    this.#names.add(name);
    return name;
  }
}

function outputOf({ number, name, process }: Node): string {
  return `node ${number} (${name})\n${process.output.stdout}${process.output.stderr}`;
}

/** Gives the ms that it took. */
export async function ready({ url, output }: SchedProcess): Promise<number> {
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

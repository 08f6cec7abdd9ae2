/** A cluster under load, from its first node to the audit of the run. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ledger } from '#test/faults/single-node/ledger.ts';
import type { Behaviour } from '#test/receiver/behaviours.ts';
import { type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit } from './audit.ts';
import { Load } from './load.ts';
import { Nodes, type NodesOptions } from './nodes.ts';
import { readStored, type Stored, waitUntilAllEnded, watchTables } from './stored.ts';

export interface Run {
  readonly rounds: number;
  readonly seed: number;
  /** The number of creates, and hence of deliveries, per second. */
  readonly perSecond: number;
  /** Whether commits reach the disk. */
  readonly durable: boolean;
  /** The percentage of deliveries whose receiver is slow. */
  readonly slowPercent?: number;
  /** Whether nodes that no fault ends run in this thread, which costs less. Nothing can be measured then. */
  readonly inThread?: boolean;
}

export interface Database {
  /** The database URL for the nodes, where it is a different one. */
  readonly databaseUrl?: string;
  /** The database URL at the moment. */
  readonly url: () => string;
  /** Whether tables are distributed, and can have no triggers. */
  readonly cannotTrigger?: boolean;
}

/** The counts and measurements that every run has. */
export interface Report extends Audit {
  readonly perSecond: number;
  readonly resent: number;
  readonly refused: number;
  readonly moves: number;
  readonly drainedMs: number;
  /** The longest time that this process was blocked, which is also the receiver. The machine was busy. */
  readonly blockedMs: number;
  /** The output of every node. */
  readonly outputs: readonly string[];
}

type NodeOptions = Partial<Pick<NodesOptions, 'count' | 'isInThread'>>;

const NODES = 3;
const WARM_UP_MS = 3_000;
const DRAIN_MS_MAX = 60_000;
const MS_PER_SECOND = 1_000;
const NS_PER_MS = 1e6;
const DELAY_RESOLUTION_MS = 5;

export class LoadedCluster implements AsyncDisposable {
  readonly nodes: Nodes;
  readonly ledger = new Ledger();
  readonly load: Load;
  readonly replays = new Set<string>();
  readonly #database: Database;
  readonly #receiver: Receiver;
  readonly #delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  #begunAt = 0;

  private constructor(
    database: Database,
    receiver: Receiver,
    { seed, perSecond, slowPercent }: Run,
    options: NodeOptions,
  ) {
    const { url, databaseUrl = url() } = database;
    this.#database = database;
    this.#receiver = receiver;
    this.nodes = new Nodes({ count: NODES, url, databaseUrl, ...options });
    const { balancer } = this.nodes;
    this.load = new Load({ balancer, receiver, ledger: this.ledger, seed, perSecond, slowPercent });
  }

  /** Resolves when the nodes are ready and the load has begun. */
  static async open(database: Database, run: Run, options: NodeOptions = {}): Promise<LoadedCluster> {
    const cluster = new LoadedCluster(database, await startReceiver(), run, options);
    try {
      for (const number of cluster.nodes.numbers) {
        await cluster.nodes.start(number);
        if (number === 1) await watchTables(database.url(), database.cannotTrigger !== true);
      }
      await cluster.load.start();
      cluster.#begunAt = performance.now();
      cluster.#delays.enable();
      await sleep(WARM_UP_MS);
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Adds a path to the receiver. */
  hook(path: string, behaviour: Behaviour): string {
    return this.#receiver.hookAt(`/${path}`, behaviour).url;
  }

  get url(): string {
    return this.#database.url();
  }

  /** Ends the load, waits for the last delivery, and audits the run. */
  async close(further: (stored: Stored) => readonly string[] = () => []): Promise<Report> {
    const { balancer } = this.nodes;
    const faults: string[] = [];
    await this.load.stop();
    this.#delays.disable();
    const seconds = (performance.now() - this.#begunAt) / MS_PER_SECOND;
    const drainedMs = await waitUntilAllEnded(this.url, DRAIN_MS_MAX).catch((error: unknown) => {
      faults.push(String(error));
      return Number.NaN;
    });
    const stored = await readStored(this.url);
    const { acknowledged, failures, moves } = this.load;
    const { received } = this.ledger;
    const result = audit({ stored, acknowledged, replays: this.replays, received });
    return {
      ...result,
      faults: [...faults, ...result.faults, ...failures, ...balancer.unexpected, ...further(stored)],
      perSecond: received.length / seconds,
      resent: balancer.resent,
      refused: balancer.refused,
      moves,
      drainedMs,
      blockedMs: this.#delays.max / NS_PER_MS,
      outputs: this.nodes.outputs,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.nodes[Symbol.asyncDispose]();
    await this.#receiver[Symbol.asyncDispose]();
  }
}

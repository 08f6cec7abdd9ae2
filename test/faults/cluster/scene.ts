/** A cluster under load, from its first node to the audit of all that happened. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour } from '#test/receiver/behaviours.ts';
import { type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { Ledger } from '../firing/ledger.ts';
import { type Audit, audit } from './audit.ts';
import { Load } from './load.ts';
import { Nodes } from './nodes.ts';
import { allEnded, installWitness, readStored, type Stored } from './stored.ts';

export interface Run {
  readonly rounds: number;
  readonly seed: number;
  /** Creates, and so deliveries. */
  readonly perSecond: number;
  /** Whether commits reach the disk. */
  readonly durable: boolean;
}

export interface Database {
  /** For the nodes, where it is not the same. */
  readonly databaseUrl?: string;
  /** As it is reached now. */
  readonly url: () => string;
}

/** What is counted and measured beside what every run is. */
export interface Report extends Audit {
  readonly perSecond: number;
  readonly resent: number;
  readonly refused: number;
  readonly moves: number;
  readonly drainedMs: number;
  /** For how long this process, which is also the receiver, did not get to work: the machine was busy. */
  readonly heldUpMs: number;
  /** What every node wrote. */
  readonly outputs: readonly string[];
}

const NODES = 3;
const WARM_UP_MS = 3_000;
const DRAIN_MS_MAX = 60_000;
const MS_PER_SECOND = 1_000;
const NS_PER_MS = 1e6;
const DELAY_RESOLUTION_MS = 5;

export class Scene implements AsyncDisposable {
  readonly nodes: Nodes;
  readonly ledger = new Ledger();
  readonly load: Load;
  readonly replays = new Set<string>();
  readonly #database: Database;
  readonly #receiver: Receiver;
  readonly #delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  #begunAt = 0;

  private constructor(database: Database, receiver: Receiver, { seed, perSecond }: Run, count: number) {
    const { url, databaseUrl = url() } = database;
    this.#database = database;
    this.#receiver = receiver;
    this.nodes = new Nodes({ count, url, databaseUrl });
    const { front } = this.nodes;
    this.load = new Load({ front, receiver, ledger: this.ledger, seed, perSecond });
  }

  /** Nodes that are ready, and load on them. */
  static async open(database: Database, run: Run, count = NODES): Promise<Scene> {
    const scene = new Scene(database, await startReceiver(), run, count);
    try {
      for (const number of scene.nodes.numbers) {
        await scene.nodes.start(number);
        if (number === 1) await installWitness(database.url());
      }
      await scene.load.start();
      scene.#begunAt = performance.now();
      scene.#delays.enable();
      await sleep(WARM_UP_MS);
      return scene;
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A further path of the receiver. */
  hook(path: string, behaviour: Behaviour): string {
    return this.#receiver.hookAt(`/${path}`, behaviour).url;
  }

  get url(): string {
    return this.#database.url();
  }

  /** Ends the load, waits for the last delivery, and compares. */
  async close(further: (stored: Stored) => readonly string[] = () => []): Promise<Report> {
    const { front } = this.nodes;
    const faults: string[] = [];
    await this.load.stop();
    this.#delays.disable();
    const seconds = (performance.now() - this.#begunAt) / MS_PER_SECOND;
    const drainedMs = await allEnded(this.url, DRAIN_MS_MAX).catch((error: unknown) => {
      faults.push(String(error));
      return Number.NaN;
    });
    const stored = await readStored(this.url);
    const { acknowledged, failures, moves } = this.load;
    const { received } = this.ledger;
    const result = audit({ stored, acknowledged, replays: this.replays, received });
    return {
      ...result,
      faults: [...faults, ...result.faults, ...failures, ...front.strange, ...further(stored)],
      perSecond: received.length / seconds,
      resent: front.resent,
      refused: front.refused,
      moves,
      drainedMs,
      heldUpMs: this.#delays.max / NS_PER_MS,
      outputs: this.nodes.outputs,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.nodes[Symbol.asyncDispose]();
    await this.#receiver[Symbol.asyncDispose]();
  }
}

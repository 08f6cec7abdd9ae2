/**
 * Works on bulk replays: those that nobody else works on are taken by a lease, and each is worked on step by step
 * until it has ended. What this process leaves behind when it dies is taken up, by another or by the next start, when
 * its lease has run out; when it stops, at once.
 *
 * All jobs of a partition are worked on by one node, since it is there that the budgets of its endpoints are kept. Two
 * nodes that take two jobs of one partition in the same moment each keep them for their own.
 */
import type { JobId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { acquireLease, isLeasedElsewhere, type ReplayJob, releaseLease } from '#src/domain/replay-job.ts';
import { Budgets } from './budgets.ts';
import { Chores } from './chores.ts';
import type { ReplayDependencies } from './dependencies.ts';
import { JobWork } from './job-work.ts';

const LOOK_EVERY_MS = 1_000;
const LOOKED_AT_MAX = 500;
/** By one node. Steps are made one at a time, so many that wait for their budgets cost little. */
const HELD_MAX = 64;
const TIDY_EVERY_MS = 3_600_000;
const TIDIED_TOGETHER_MAX = 50;

const LOOK = 'look';
const TIDY = 'tidy';

export interface ReplayRunnerOptions {
  /** How long jobs that have ended are kept; 0 for ever. */
  readonly retentionMs: number;
}

export class ReplayRunner {
  readonly #dependencies: ReplayDependencies;
  readonly #retentionMs: number;
  readonly #budgets: Budgets;
  readonly #chores: Chores;
  readonly #held = new Map<JobId, JobWork>();
  #running: Promise<void> = Promise.resolve();

  constructor(dependencies: ReplayDependencies, { retentionMs }: ReplayRunnerOptions) {
    this.#dependencies = dependencies;
    this.#retentionMs = retentionMs;
    this.#budgets = new Budgets(dependencies);
    this.#chores = new Chores(dependencies.timers, dependencies.log);
  }

  start(): void {
    this.#chores.add(LOOK, () => this.#look());
    this.#chores.add(TIDY, () => this.#tidy());
    this.#running = this.#chores.run();
  }

  /** A job was begun or stopped. */
  wake(): void {
    this.#chores.hurry(LOOK);
    this.#chores.hurry(TIDY);
  }

  /** Leaves what it holds to the next one. */
  async stop(): Promise<void> {
    this.#chores.stop();
    await this.#running;
    for (const { job } of this.#held.values()) await this.#letGo(job);
    this.#held.clear();
  }

  async #letGo(job: ReplayJob): Promise<void> {
    try {
      await this.#dependencies.store.jobs.replaceJob(releaseLease(job));
    } catch {
      // The store is away: the lease runs out by itself.
    }
  }

  async #look(): Promise<number> {
    const { store, clock, node } = this.#dependencies;
    const open = await store.jobs.listOpenJobs(null, LOOKED_AT_MAX);
    this.#compare(open);
    const now = clock.now();
    const elsewhere = new Set(
      open.filter((job) => isLeasedElsewhere(job, node, now)).map(({ partition }) => partition),
    );
    for (const job of open) {
      if (this.#held.size >= HELD_MAX) break;
      if (!this.#held.has(job.id) && !elsewhere.has(job.partition)) await this.#take(job);
    }
    return LOOK_EVERY_MS;
  }

  /** What is held, with what is there. */
  #compare(open: readonly ReplayJob[]): void {
    const byId = new Map(open.map((job) => [job.id, job]));
    for (const [id, work] of this.#held) {
      const job = byId.get(id);
      if (job?.runner === this.#dependencies.node) work.seen(job);
      else if (job !== undefined || open.length < LOOKED_AT_MAX) this.#drop(id);
    }
  }

  async #take(job: ReplayJob): Promise<void> {
    const { store, clock, node } = this.#dependencies;
    const taken = acquireLease(job, node, clock.now());
    if ((await store.jobs.replaceJob(taken)) === 'stale') return;
    const work = new JobWork(this.#dependencies, this.#budgets, taken);
    this.#held.set(job.id, work);
    this.#chores.add(job.id, async () => {
      const wantsIn = await work.step();
      if (wantsIn === null) this.#drop(job.id);
      return wantsIn;
    });
  }

  /** It has ended, or another one works on it. What an ended one leaves is removed at once. */
  #drop(id: JobId): void {
    this.#held.delete(id);
    this.#chores.remove(id);
    this.#chores.hurry(TIDY);
  }

  async #tidy(): Promise<number> {
    const { store, clock } = this.#dependencies;
    const now = clock.now();
    const before = this.#retentionMs === 0 ? null : instant(now - Math.min(this.#retentionMs, now));
    const removed = await store.jobs.pruneJobs(before, TIDIED_TOGETHER_MAX);
    return removed < TIDIED_TOGETHER_MAX ? TIDY_EVERY_MS : 0;
  }
}

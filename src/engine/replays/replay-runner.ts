/**
 * Runs bulk replays. It leases the jobs that no other node works on, and works on each step by step until it has ended.
 * When this process dies, another one continues after the end of the lease; when it stops, at once.
 *
 * One node works on all jobs of a partition, because the budgets of the endpoints are in its memory. When two nodes
 * lease two jobs of one partition at the same moment, each has budgets of its own.
 */
import type { JobId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { acquireLease, isLeasedElsewhere, type ReplayJob, releaseLease } from '#src/domain/replay-job.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { ReplayBudgets, type ReplayBudgetsDependencies } from './replay-budgets.ts';
import { ReplayJobWorker, type ReplayJobWorkerDependencies } from './replay-job-worker.ts';
import { SerialTasks } from './serial-tasks.ts';

const SCAN_EVERY_MS = 1_000;
/** The same where a scan asks many servers, and this node has no job. */
const SCAN_SERVERS_EVERY_MS = 5_000;
const LISTED_MAX = 500;
/** Jobs that one node leases. Steps run one at a time, so jobs that wait for tokens cost little. */
const LEASED_MAX = 64;
const PRUNE_EVERY_MS = 3_600_000;
const PRUNE_BATCH_MAX = 50;

/** The names of two tasks. The other tasks are jobs, named by their ids. */
const SCAN = 'scan';
const PRUNE = 'prune';

export interface ReplayRunnerDependencies
  extends Omit<ReplayJobWorkerDependencies, 'store' | 'budgets'>,
    Pick<EngineDependencies, 'log'> {
  readonly store: ReplayJobWorkerDependencies['store'] &
    ReplayBudgetsDependencies['store'] &
    Pick<EngineDependencies['store'], 'worksByCustomer'>;
  readonly timers: Timers & Stopwatch;
}

export interface ReplayRunnerOptions {
  /** How long ended jobs are kept; 0 keeps them forever. */
  readonly retentionMs: number;
}

export class ReplayRunner {
  readonly #dependencies: ReplayRunnerDependencies;
  readonly #retentionMs: number;
  readonly #budgets: ReplayBudgets;
  readonly #tasks: SerialTasks;
  /** The workers of the jobs that this node has leased. */
  readonly #workers = new Map<JobId, ReplayJobWorker>();

  constructor(dependencies: ReplayRunnerDependencies, { retentionMs }: ReplayRunnerOptions) {
    this.#dependencies = dependencies;
    this.#retentionMs = retentionMs;
    this.#budgets = new ReplayBudgets(dependencies);
    this.#tasks = new SerialTasks(dependencies.timers, dependencies.log);
  }

  start(): void {
    this.#tasks.add(SCAN, () => this.#scan());
    this.#tasks.add(PRUNE, () => this.#prune());
    this.#tasks.start();
  }

  /** A job was created or stopped. */
  wake(): void {
    this.#tasks.runSoon(SCAN);
    this.#tasks.runSoon(PRUNE);
  }

  /** Ends the leases, so that another process can continue at once. */
  async stop(): Promise<void> {
    await this.#tasks.stop();
    for (const { job } of this.#workers.values()) await this.#releaseLease(job);
    this.#workers.clear();
  }

  async #releaseLease(job: ReplayJob): Promise<void> {
    try {
      await this.#dependencies.store.jobs.replaceJob(releaseLease(job));
    } catch {
      // The store is away, and the lease expires by itself.
    }
  }

  async #scan(): Promise<number> {
    const { store, clock, node } = this.#dependencies;
    const open = await store.jobs.listOpenJobs(null, LISTED_MAX);
    this.#reconcile(open);
    const now = clock.now();
    const elsewhere = new Set(
      open.filter((job) => isLeasedElsewhere(job, node, now)).map(({ partition }) => partition),
    );
    for (const job of open) {
      if (this.#workers.size >= LEASED_MAX) break;
      if (!this.#workers.has(job.id) && !elsewhere.has(job.partition)) await this.#lease(job);
    }
    return store.worksByCustomer && this.#workers.size === 0 ? SCAN_SERVERS_EVERY_MS : SCAN_EVERY_MS;
  }

  /** Updates the workers by the jobs that the store has. */
  #reconcile(open: readonly ReplayJob[]): void {
    const byId = new Map(open.map((job) => [job.id, job]));
    for (const [id, worker] of this.#workers) {
      const job = byId.get(id);
      if (job?.runner === this.#dependencies.node) worker.refresh(job);
      else if (job !== undefined || open.length < LISTED_MAX) this.#drop(id);
    }
  }

  async #lease(job: ReplayJob): Promise<void> {
    const { store, clock, node } = this.#dependencies;
    const leased = acquireLease(job, node, clock.now());
    if ((await store.jobs.replaceJob(leased)) === 'stale') return;
    const worker = new ReplayJobWorker({ ...this.#dependencies, budgets: this.#budgets }, leased);
    this.#workers.set(job.id, worker);
    this.#tasks.add(job.id, async () => {
      const waitMs = await worker.step();
      if (waitMs === null) this.#drop(job.id);
      return waitMs;
    });
  }

  /** The job has ended, or another node has it. The rows of an ended job are removed at once. */
  #drop(id: JobId): void {
    this.#workers.delete(id);
    this.#tasks.remove(id);
    this.#tasks.runSoon(PRUNE);
  }

  async #prune(): Promise<number> {
    const { store, clock } = this.#dependencies;
    const now = clock.now();
    const before = this.#retentionMs === 0 ? null : instant(now - Math.min(this.#retentionMs, now));
    const removed = await store.jobs.pruneJobs(before, PRUNE_BATCH_MAX);
    return removed < PRUNE_BATCH_MAX ? PRUNE_EVERY_MS : 0;
  }
}

/**
 * Completes sweeps: actions on schedules (pause, resume, cancel) that have not reached all their deliveries because
 * their process ended. Usually the command that requested the action completes it. A sweep counts as abandoned when two
 * scans in a row find it. A process that has its store to itself takes every sweep of its first scan. Of several
 * nodes, only the upkeep node does it. Doing a step twice does no harm.
 *
 * Sweeps go on step by step in a round robin by customer. Scans continue meanwhile, so that a sweep of another customer
 * joins in, however much is left to do. A sweep that fails is dropped, and the next scan finds it again.
 */

import type { SweepCursor, UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import { isUpkeepNode, type SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';
import type { Hints } from '#src/ports/hints.ts';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import { pause, type Timers } from '#src/ports/system.ts';
import { ThrottledTimers } from '#src/ports/throttled-timers.ts';

const SCAN_EVERY_MS = 4_500;
/** The pause between two steps. */
const PAUSE_MS = 10;
const LISTED_MAX = 100;
/** Sweeps in progress. A scan ignores the sweeps beyond. */
const SWEEPS_MAX = 1_000;

export interface SweepRecoveryDependencies
  extends Pick<EngineDependencies, 'store' | 'timers' | 'log' | 'cluster'> {
  readonly ownership: Pick<SlotOwnership, 'slots'>;
  readonly hints: Pick<Hints, 'rescan'>;
}

/** A sweep, and the cursor after its last step; null before the first. */
interface StartedSweep {
  readonly sweep: UnfinishedSweep;
  readonly cursor: SweepCursor | null;
}

/** Runs one step at a time. */
export class SweepRecovery {
  readonly #dependencies: SweepRecoveryDependencies;
  readonly #outage: OutageLog;
  readonly #throttledTimers: Timers;
  readonly #scan: PeriodicTask;
  readonly #queue = new RoundRobinQueue<StartedSweep>();
  /** Keys of the sweeps in progress: those in the queue, and the one whose step is running. */
  readonly #inProgress = new Set<string>();
  /** Keys of the sweeps that the last scan found; null before the first. */
  #seen: ReadonlySet<string> | null = null;
  #isSweeping = false;
  /** The end of the last sweeping, which may be in progress. */
  #swept: Promise<void> = Promise.resolve();

  constructor(dependencies: SweepRecoveryDependencies) {
    this.#dependencies = dependencies;
    this.#throttledTimers = new ThrottledTimers(dependencies.timers, () => true);
    this.#outage = warnsOfOutage(
      dependencies,
      'unfinished schedule actions could not be completed',
      'unfinished schedule actions are completed again',
    );
    this.#scan = new PeriodicTask(
      dependencies.timers,
      () => this.#scanOnce(),
      (error) => {
        this.#outage.failed({ error: String(error) });
        return SCAN_EVERY_MS;
      },
    );
  }

  start(): void {
    this.#scan.runNow();
  }

  async stop(): Promise<void> {
    await this.#scan.stop();
    await this.#swept;
  }

  async #scanOnce(): Promise<number> {
    if (!isUpkeepNode(this.#dependencies.ownership)) return SCAN_EVERY_MS;
    const found = await this.#dependencies.store.listSweeps(LISTED_MAX);
    const abandoned = found.filter((sweep) => this.#isAbandoned(sweep));
    this.#seen = new Set(found.map(keyOf));
    for (const sweep of abandoned) this.#begin(sweep);
    if (this.#queue.isEmpty) this.#outage.succeeded();
    else if (!this.#isSweeping) this.#swept = this.#sweepAll();
    return SCAN_EVERY_MS;
  }

  #isAbandoned(sweep: UnfinishedSweep): boolean {
    return this.#seen === null ? this.#dependencies.cluster === null : this.#seen.has(keyOf(sweep));
  }

  #begin(sweep: UnfinishedSweep): void {
    const key = keyOf(sweep);
    if (this.#inProgress.has(key) || this.#inProgress.size >= SWEEPS_MAX) return;
    this.#inProgress.add(key);
    this.#queue.add(sweep.partition, { sweep, cursor: null });
  }

  /** Runs until the queue is empty. */
  async #sweepAll(): Promise<void> {
    this.#isSweeping = true;
    while (!this.#scan.isStopped && isUpkeepNode(this.#dependencies.ownership)) {
      const next = this.#queue.next();
      if (next === undefined) break;
      await this.#step(next);
      if (!this.#queue.isEmpty) await pause(this.#throttledTimers, PAUSE_MS);
    }
    // A node that is no longer the upkeep node leaves the others to the new one.
    this.#queue.clear();
    this.#inProgress.clear();
    this.#isSweeping = false;
  }

  /** Runs one step. A sweep that is not complete goes to the end of its customer's queue. */
  async #step({ sweep, cursor }: StartedSweep): Promise<void> {
    try {
      const reached = await this.#dependencies.store.continueSweep(sweep, cursor);
      this.#outage.succeeded();
      if (reached !== null) return this.#queue.add(sweep.partition, { sweep, cursor: reached });
      if (sweep.action === 'resume') this.#dependencies.hints.rescan();
    } catch (error) {
      this.#outage.failed({ error: String(error) });
    }
    this.#inProgress.delete(keyOf(sweep));
  }
}

function keyOf({ partition, scheduleId, action, requestedAt }: UnfinishedSweep): string {
  return `${partition} ${scheduleId} ${action} ${requestedAt}`;
}

/**
 * Finishes orders to schedules (pause, resume, cancel) whose process did not live to carry them out on all deliveries.
 * As a rule the command that gave the action does that itself. A sweep is taken for left behind when two looks in a row
 * find it; at the start of a process that has its store to itself, at once. The node that holds the first slot does it.
 * To carry out a piece twice does no harm.
 *
 * Orders take turns: one piece of each, and customers in turns. Looks go on meanwhile, so that an action of another
 * customer joins in, however much is left to do. An action that fails is left to the next look that finds it.
 */

import type { SweepCursor, UnfinishedSweep } from '#src/domain/delivery-lifecycle.ts';
import { RoundRobinQueue } from '#src/domain/round-robin-queue.ts';
import type { Slot } from '#src/domain/slot.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';
import type { Hints } from '#src/ports/hints.ts';
import { pause, type Timers } from '#src/ports/system.ts';
import { ThrottledTimers } from '#src/ports/throttled-timers.ts';

const LOOK_EVERY_MS = 4_500;
/** The pause between two pieces. */
const PAUSE_MS = 10;
const LISTED_MAX = 100;
/** Orders that take turns. A look leaves out what is more. */
const UNDER_WAY_MAX = 1_000;
const FIRST_SLOT = 0 as Slot;

export interface SweeperDependencies
  extends Pick<EngineDependencies, 'store' | 'timers' | 'log' | 'cluster'> {
  readonly ownership: Pick<SlotOwnership, 'slots'>;
  readonly hints: Pick<Hints, 'rescan'>;
}

/** A sweep, and the place that its last piece has come to; null before the first. */
interface Started {
  readonly sweep: UnfinishedSweep;
  readonly place: SweepCursor | null;
}

export class Sweeper {
  readonly #dependencies: SweeperDependencies;
  readonly #outage: OutageLog;
  readonly #slowed: Timers;
  readonly #turns = new RoundRobinQueue<Started>();
  /** Keys of the sweeps that take turns, the one whose turn it is among them. */
  readonly #underWay = new Set<string>();
  /** Keys of the unfinished sweeps that the last look found; null before the first. */
  #seen: ReadonlySet<string> | null = null;
  #callOff: (() => void) | null = null;
  #looking: Promise<void> = Promise.resolve();
  #working: Promise<void> = Promise.resolve();
  #isWorking = false;
  #isStopped = false;

  constructor(dependencies: SweeperDependencies) {
    this.#dependencies = dependencies;
    this.#slowed = new ThrottledTimers(dependencies.timers, () => true);
    this.#outage = warnsOfOutage(
      dependencies,
      'unfinished orders have to wait',
      'unfinished orders are carried out again',
    );
  }

  start(): void {
    this.#lookIn(0);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#callOff?.();
    await this.#looking;
    await this.#working;
  }

  #lookIn(ms: number): void {
    if (this.#isStopped) return;
    this.#callOff = this.#dependencies.timers.after(ms, () => {
      this.#looking = this.#look().finally(() => this.#lookIn(LOOK_EVERY_MS));
    });
  }

  get #isOurs(): boolean {
    const { slots } = this.#dependencies.ownership;
    return slots === undefined || slots.has(FIRST_SLOT);
  }

  async #look(): Promise<void> {
    if (!this.#isOurs) return;
    try {
      const found = await this.#dependencies.store.listSweeps(LISTED_MAX);
      const leftBehind = found.filter((sweep) => this.#isLeftBehind(sweep));
      this.#seen = new Set(found.map(keyOf));
      for (const sweep of leftBehind) this.#begin(sweep);
      if (this.#turns.isEmpty) this.#outage.succeeded();
      else if (!this.#isWorking) this.#working = this.#work();
    } catch (error) {
      this.#outage.failed({ error: String(error) });
    }
  }

  #isLeftBehind(sweep: UnfinishedSweep): boolean {
    return this.#seen === null ? this.#dependencies.cluster === null : this.#seen.has(keyOf(sweep));
  }

  #begin(sweep: UnfinishedSweep): void {
    const key = keyOf(sweep);
    if (this.#underWay.has(key) || this.#underWay.size >= UNDER_WAY_MAX) return;
    this.#underWay.add(key);
    this.#turns.add(sweep.partition, { sweep, place: null });
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    while (!this.#isStopped && this.#isOurs) {
      const next = this.#turns.next();
      if (next === undefined) break;
      await this.#carryOn(next);
      if (!this.#turns.isEmpty) await pause(this.#slowed, PAUSE_MS);
    }
    // The node that holds the first slot now finds them.
    this.#turns.clear();
    this.#underWay.clear();
    this.#isWorking = false;
  }

  /** Carries out one piece. Where more is left, the sweep goes to the end of its customer's line. */
  async #carryOn({ sweep, place }: Started): Promise<void> {
    try {
      const reached = await this.#dependencies.store.continueSweep(sweep, place);
      this.#outage.succeeded();
      if (reached !== null) return this.#turns.add(sweep.partition, { sweep, place: reached });
      if (sweep.action === 'resume') this.#dependencies.hints.rescan();
    } catch (error) {
      this.#outage.failed({ error: String(error) });
    }
    this.#underWay.delete(keyOf(sweep));
  }
}

function keyOf({ partition, scheduleId, action, requestedAt }: UnfinishedSweep): string {
  return `${partition} ${scheduleId} ${action} ${requestedAt}`;
}

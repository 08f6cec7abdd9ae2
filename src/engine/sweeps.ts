/**
 * Finishes orders to schedules (pause, resume, cancel) whose process did not live to carry them out on all deliveries.
 * As a rule the command that gave the order does that itself. A sweep is taken for left behind when two looks in a row
 * find it; at the start of a process that has its store to itself, at once. Of several nodes the one that holds the
 * first slot does it. To carry out a piece twice does no harm.
 */
import type { UnfinishedSweep } from '#src/domain/delivery-life.ts';
import type { Slot } from '#src/domain/slot.ts';
import type { Hints } from '#src/ports/hints.ts';
import { OutageLog } from './outage-log.ts';
import type { Territory } from './territory.ts';
import { type EngineWorld, pause } from './world.ts';

const LOOK_EVERY_MS = 4_500;
/** Between two pieces. */
const PAUSE_MS = 10;
const LISTED_MAX = 100;
const FIRST_SLOT = 0 as Slot;

export interface SweepsDependencies {
  readonly territory: Pick<Territory, 'slots'>;
  readonly hints: Pick<Hints, 'lookAgain'>;
}

type SweepsWorld = Pick<EngineWorld, 'store' | 'timers' | 'log' | 'cluster'>;

export class Sweeps {
  readonly #world: SweepsWorld;
  readonly #dependencies: SweepsDependencies;
  readonly #outage: OutageLog;
  /** Keys of the unfinished sweeps that the last look found; null before the first. */
  #seen: ReadonlySet<string> | null = null;
  #callOff: (() => void) | null = null;
  #looking: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(world: SweepsWorld, dependencies: SweepsDependencies) {
    this.#world = world;
    this.#dependencies = dependencies;
    const { log, timers } = world;
    this.#outage = new OutageLog(timers, {
      failed: (fields, count) => log.warn({ ...fields, count }, 'unfinished orders have to wait'),
      recovered: (failures) => log.info({ failures }, 'unfinished orders are carried out again'),
    });
  }

  start(): void {
    this.#lookIn(0);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#callOff?.();
    await this.#looking;
  }

  #lookIn(ms: number): void {
    if (this.#isStopped) return;
    this.#callOff = this.#world.timers.after(ms, () => {
      this.#looking = this.#look().finally(() => this.#lookIn(LOOK_EVERY_MS));
    });
  }

  get #isOurs(): boolean {
    const { slots } = this.#dependencies.territory;
    return slots === undefined || slots.has(FIRST_SLOT);
  }

  async #look(): Promise<void> {
    if (!this.#isOurs) return;
    try {
      const found = await this.#world.store.listSweeps(LISTED_MAX);
      const leftBehind = found.filter((sweep) => this.#isLeftBehind(sweep));
      this.#seen = new Set(found.map(keyOf));
      for (const sweep of leftBehind) await this.#finish(sweep);
      this.#outage.succeeded();
    } catch (error) {
      this.#outage.failed({ error: String(error) });
    }
  }

  #isLeftBehind(sweep: UnfinishedSweep): boolean {
    return this.#seen === null ? this.#world.cluster === null : this.#seen.has(keyOf(sweep));
  }

  async #finish(sweep: UnfinishedSweep): Promise<void> {
    const { store, timers } = this.#world;
    let place = await store.carryOnSweep(sweep, null);
    while (place !== null) {
      await pause(timers, PAUSE_MS);
      if (this.#isStopped) return;
      place = await store.carryOnSweep(sweep, place);
    }
    if (sweep.order === 'resume') this.#dependencies.hints.lookAgain();
  }
}

function keyOf({ partition, scheduleId, order, orderedAt }: UnfinishedSweep): string {
  return `${partition} ${scheduleId} ${order} ${orderedAt}`;
}

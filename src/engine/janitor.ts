/**
 * Removes what has been kept long enough: a little at a time, so that nothing that fires waits for it. Of several
 * nodes the one that holds the first slot does it.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Slot } from '#src/domain/slot.ts';
import { HOUR_MS } from '#src/domain/tally.ts';
import { PRUNABLE, type Prunable } from '#src/ports/store.ts';
import type { Territory } from './territory.ts';
import { type EngineWorld, pause } from './world.ts';

const EVERY_MS = 60_000;
const FIRST_AFTER_MS = 1_000;
const REMOVED_TOGETHER_MAX = 25;
const PAUSE_MS = 10;
/** A clock that ran ahead of the time that passed by more than this was set. */
const STEP_MS = 600_000;
/** So long a clock that was set ahead has to hold before history is removed by it. */
const DISTRUST_MS = 3_600_000;
const GATES_KEPT_MS = 30 * 86_400_000;
const MINUTES_KEPT_MS = 7 * 86_400_000;
const FIRST_SLOT = 0 as Slot;

export class Janitor {
  readonly #world: EngineWorld;
  readonly #territory: Pick<Territory, 'slots'>;
  readonly #retentionMs: number;
  #callOff: (() => void) | null = null;
  #isStopped = false;
  #roundAt: Instant | null = null;
  #trustedFrom: Instant | null = null;
  #round: Promise<void> = Promise.resolve();

  /** A retention of 0 keeps history for ever. */
  constructor(world: EngineWorld, territory: Pick<Territory, 'slots'>, retentionMs: number) {
    this.#world = world;
    this.#territory = territory;
    this.#retentionMs = retentionMs;
  }

  start(): void {
    this.#roundAt = this.#world.clock.now();
    this.#in(Math.min(FIRST_AFTER_MS, this.#everyMs));
  }

  /** A short retention is kept to more closely. */
  get #everyMs(): number {
    return this.#retentionMs === 0 ? EVERY_MS : Math.min(EVERY_MS, Math.max(this.#retentionMs, PAUSE_MS));
  }

  get #isOurs(): boolean {
    const { slots } = this.#territory;
    return slots === undefined || slots.has(FIRST_SLOT);
  }

  #in(ms: number): void {
    if (this.#isStopped) return;
    this.#callOff = this.#world.timers.after(ms, () => {
      if (!this.#isClockTrusted(ms) || !this.#isOurs) return this.#in(this.#everyMs);
      this.#round = this.#tidy().finally(() => {
        this.#roundAt = this.#world.clock.now();
        this.#in(this.#everyMs);
      });
    });
  }

  /** What a clock removes by mistake does not come back: one that was set ahead is waited for. */
  #isClockTrusted(expectedMs: number): boolean {
    const now = this.#world.clock.now();
    const passedMs = this.#roundAt === null ? expectedMs : now - this.#roundAt;
    if (passedMs > expectedMs + STEP_MS) this.#trustedFrom = instant(now + DISTRUST_MS);
    if (passedMs < 0) this.#trustedFrom = null;
    this.#roundAt = now;
    return this.#trustedFrom === null || now >= this.#trustedFrom;
  }

  async #tidy(): Promise<void> {
    try {
      for (const what of PRUNABLE) await this.#prune(what);
      await this.#pruneTallies();
    } catch (error) {
      this.#world.log.warn({ error: String(error) }, 'old history could not be removed');
    }
  }

  async #prune(what: Prunable): Promise<void> {
    const { store, timers, clock } = this.#world;
    const before = this.#before(what, clock.now());
    if (before === null) return;
    while (!this.#isStopped && this.#isOurs) {
      const removed = await store.prune(what, before, REMOVED_TOGETHER_MAX);
      if (removed < REMOVED_TOGETHER_MAX) return;
      await pause(timers, PAUSE_MS);
    }
  }

  /**
   * Those of hours are history like any other; those of minutes only show the last days more closely, and so do those
   * of endpoints, of which there may be as many as deliveries.
   */
  async #pruneTallies(): Promise<void> {
    const { insight, timers, clock } = this.#world;
    const now = clock.now();
    const minutesBefore = instant(Math.max(now - MINUTES_KEPT_MS, 0));
    // An hour is over when all of it is: the one that is being counted stays, however short the retention.
    const hoursBefore = instant(Math.max((this.#before('deliveries', now) ?? 0) - HOUR_MS, 0));
    while (!this.#isStopped && this.#isOurs) {
      if (!(await insight.pruneTallies(minutesBefore, hoursBefore))) return;
      await pause(timers, PAUSE_MS);
    }
  }

  /** Null: kept for ever. */
  #before(what: Prunable, now: Instant): Instant | null {
    if (what === 'receipts') return now;
    if (what === 'gates') return instant(now - GATES_KEPT_MS);
    return this.#retentionMs === 0 ? null : instant(now - Math.min(this.#retentionMs, now));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#callOff?.();
    await this.#round;
  }
}

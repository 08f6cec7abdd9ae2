/**
 * Removes what has been kept long enough: a little at a time, so that nothing that fires waits for it. Of several
 * nodes the one that holds the first slot does it. It goes by the trusted time (see `domain/trusted-time.ts`), which
 * it keeps up every round, also while a removal takes long.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Slot } from '#src/domain/slot.ts';
import { HOUR_MS } from '#src/domain/stats.ts';
import { observeClock } from '#src/domain/trusted-time.ts';
import type { SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { PRUNABLE, type Prunable } from '#src/ports/store.ts';
import { pause } from '#src/ports/system.ts';

const EVERY_MS = 60_000;
const FIRST_AFTER_MS = 1_000;
const REMOVED_TOGETHER_MAX = 25;
const PAUSE_MS = 10;
const GATES_KEPT_MS = 30 * 86_400_000;
const MINUTES_KEPT_MS = 7 * 86_400_000;
const FIRST_SLOT = 0 as Slot;

export class Cleaner {
  readonly #dependencies: EngineDependencies;
  readonly #ownership: Pick<SlotOwnership, 'slots'>;
  readonly #retentionMs: number;
  #callOff: (() => void) | null = null;
  #isStopped = false;
  #round: Promise<void> = Promise.resolve();
  /** Null while nothing is being removed. */
  #removal: Promise<void> | null = null;

  /** A retention of 0 keeps history for ever. */
  constructor(
    dependencies: EngineDependencies,
    ownership: Pick<SlotOwnership, 'slots'>,
    retentionMs: number,
  ) {
    this.#dependencies = dependencies;
    this.#ownership = ownership;
    this.#retentionMs = retentionMs;
  }

  start(): void {
    this.#in(Math.min(FIRST_AFTER_MS, this.#everyMs));
  }

  /** A short retention is kept to more closely. */
  get #everyMs(): number {
    return this.#retentionMs === 0 ? EVERY_MS : Math.min(EVERY_MS, Math.max(this.#retentionMs, PAUSE_MS));
  }

  get #isOurs(): boolean {
    const { slots } = this.#ownership;
    return slots === undefined || slots.has(FIRST_SLOT);
  }

  #in(ms: number): void {
    if (this.#isStopped) return;
    this.#callOff = this.#dependencies.timers.after(ms, () => {
      this.#round = this.#tidy().finally(() => this.#in(this.#everyMs));
    });
  }

  async #tidy(): Promise<void> {
    if (!this.#isOurs) return;
    try {
      const now = await this.#trustedNow();
      this.#removal ??= this.#remove(now).finally(() => {
        this.#removal = null;
      });
    } catch (error) {
      this.#complain(error);
    }
  }

  /** Looks at the clock, and tells once when it is not believed. */
  async #trustedNow(): Promise<Instant> {
    const { store, clock, log } = this.#dependencies;
    const before = await store.findTrustedTime();
    const trusted = observeClock(before, clock.now());
    await store.saveTrustedTime(trusted);
    const { seenAt, trustedAt, believedFrom } = trusted;
    if (believedFrom !== null && believedFrom !== before?.believedFrom) {
      log.warn({ ahead_ms: seenAt - trustedAt }, 'the clock is far ahead of what was seen last');
    }
    return trustedAt;
  }

  async #remove(now: Instant): Promise<void> {
    try {
      for (const what of PRUNABLE) await this.#prune(what, now);
      await this.#pruneStats(now);
    } catch (error) {
      this.#complain(error);
    }
  }

  #complain(error: unknown): void {
    this.#dependencies.log.warn({ error: String(error) }, 'old history could not be removed');
  }

  async #prune(what: Prunable, now: Instant): Promise<void> {
    const { store, timers } = this.#dependencies;
    const before = this.#before(what, now);
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
  async #pruneStats(now: Instant): Promise<void> {
    const { insight, timers } = this.#dependencies;
    const minutesBefore = instant(Math.max(now - MINUTES_KEPT_MS, 0));
    // An hour is over when all of it is: the one that is being counted stays, however short the retention.
    const hoursBefore = instant(Math.max((this.#before('deliveries', now) ?? 0) - HOUR_MS, 0));
    while (!this.#isStopped && this.#isOurs) {
      if (!(await insight.pruneStats(minutesBefore, hoursBefore))) return;
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
    await this.#removal;
  }
}

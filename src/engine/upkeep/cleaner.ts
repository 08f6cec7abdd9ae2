/**
 * Removes history after its retention. It removes a little at a time, so that due work never waits for it. Batches
 * grow while they are quick, because a row costs a fraction in a large batch, and removal must keep up with deliveries.
 * Only the upkeep node of several does it. It goes by the trusted time (see `domain/trusted-time.ts`), which it
 * updates in every round, also while a removal takes long.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import { HOUR_MS } from '#src/domain/stats.ts';
import { observeClock } from '#src/domain/trusted-time.ts';
import { isUpkeepNode, type SlotOwnership } from '#src/engine/cluster/slot-ownership.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import { PRUNABLE, type Prunable } from '#src/ports/store.ts';
import { pause } from '#src/ports/system.ts';

const EVERY_MS = 60_000;
const FIRST_AFTER_MS = 1_000;
const REMOVED_TOGETHER_MIN = 25;
const REMOVED_TOGETHER_MAX = 200;
/** A batch that took longer is too large: its rows have many attempts or labels, or the store is busy. */
const SLOW_MS = 25;
/**
 * Batches are as many times larger, and may take as many times longer, if the store works by customer. Each transaction
 * is about one customer then, and should have several rows.
 */
const BY_CUSTOMER_FACTOR = 10;
const PAUSE_MS = 10;
const GATES_KEPT_MS = 30 * 86_400_000;
const MINUTE_STATS_KEPT_MS = 7 * 86_400_000;

/** One removal at a time. `stop` waits for the removal in progress. */
export class Cleaner {
  readonly #dependencies: EngineDependencies;
  readonly #ownership: Pick<SlotOwnership, 'slots'>;
  readonly #retentionMs: number;
  readonly #task: PeriodicTask;
  /** The removal in progress; null while nothing is being removed. */
  #removal: Promise<void> | null = null;

  /** A retention of 0 keeps history forever. */
  constructor(
    dependencies: EngineDependencies,
    ownership: Pick<SlotOwnership, 'slots'>,
    retentionMs: number,
  ) {
    this.#dependencies = dependencies;
    this.#ownership = ownership;
    this.#retentionMs = retentionMs;
    this.#task = new PeriodicTask(
      dependencies.timers,
      () => this.#round(),
      (error) => {
        this.#warn(error);
        return this.#roundEveryMs;
      },
    );
  }

  start(): void {
    this.#task.runWithin(Math.min(FIRST_AFTER_MS, this.#roundEveryMs));
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    await this.#removal;
  }

  /** With a short retention the rounds are more frequent. */
  get #roundEveryMs(): number {
    return this.#retentionMs === 0 ? EVERY_MS : Math.min(EVERY_MS, Math.max(this.#retentionMs, PAUSE_MS));
  }

  async #round(): Promise<number> {
    if (isUpkeepNode(this.#ownership)) {
      const now = await this.#trustedNow();
      this.#removal ??= this.#remove(now).finally(() => {
        this.#removal = null;
      });
    }
    return this.#roundEveryMs;
  }

  /** Reads the clock, and logs once when it is not trusted. */
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
      this.#warn(error);
    }
  }

  get #canGoOn(): boolean {
    return !this.#task.isStopped && isUpkeepNode(this.#ownership);
  }

  #warn(error: unknown): void {
    this.#dependencies.log.warn({ error: String(error) }, 'old history could not be removed');
  }

  async #prune(what: Prunable, now: Instant): Promise<void> {
    const { store, timers } = this.#dependencies;
    const before = this.#before(what, now);
    if (before === null) return;
    const factor = store.worksByCustomer ? BY_CUSTOMER_FACTOR : 1;
    const limitMin = REMOVED_TOGETHER_MIN * factor;
    let limit = limitMin;
    while (this.#canGoOn) {
      const begun = timers.elapsed();
      const removed = await store.prune(what, before, limit);
      if (removed < limit) return;
      const isSlow = timers.elapsed() - begun > SLOW_MS * factor;
      limit = isSlow
        ? Math.max(Math.floor(limit / 2), limitMin)
        : Math.min(limit * 2, REMOVED_TOGETHER_MAX * factor);
      await pause(timers, PAUSE_MS);
    }
  }

  /**
   * Stats by hour are kept like other history. Stats by minute, and stats of endpoints, are kept for some days only:
   * there may be as many endpoints as deliveries.
   */
  async #pruneStats(now: Instant): Promise<void> {
    const { insight, timers } = this.#dependencies;
    const minutesBefore = instant(Math.max(now - MINUTE_STATS_KEPT_MS, 0));
    // The current hour is still being counted, so it stays, however short the retention is.
    const hoursBefore = instant(Math.max((this.#before('deliveries', now) ?? 0) - HOUR_MS, 0));
    while (this.#canGoOn) {
      if (!(await insight.pruneStats(minutesBefore, hoursBefore))) return;
      await pause(timers, PAUSE_MS);
    }
  }

  /** Returns the instant before which rows are removed; null keeps them forever. */
  #before(what: Prunable, now: Instant): Instant | null {
    if (what === 'receipts' || what === 'payloads') return now;
    if (what === 'gates') return instant(now - GATES_KEPT_MS);
    return this.#retentionMs === 0 ? null : instant(now - Math.min(this.#retentionMs, now));
  }
}

/**
 * Runs a piece of work again and again, one run at a time. It is the only timer loop of the service: every poller,
 * saver and cleaner is one of these.
 *
 * - The wait counts from the end of a run. Each run returns how long it is.
 * - A request (`runWithin`, `runSoon`, `runNow`) brings the next run forward; many requests share one run.
 * - The wait of a request during a run counts from the end of that run.
 * - A run that fails never ends the loop: `onError` reports the error and returns the wait. Requests that came in
 *   during the failed run wait as long, so that an outage is not met with more work.
 */
import type { Timers } from './system.ts';

/** The wait from a request to its run, so that many requests share one run. */
export const SOON_MS = 20;

/** The wait until the next run in milliseconds; null waits for a request. */
export type Wait = number | null;

export class PeriodicTask {
  readonly #timers: Timers;
  readonly #run: () => Wait | Promise<Wait>;
  readonly #onError: (error: unknown) => Wait;
  #cancelTimer: () => void = () => {};
  /** The wait that the timer was set for; infinite while no run is planned. */
  #plannedMs = Number.POSITIVE_INFINITY;
  /** The shortest wait that was requested during the current run. */
  #requestedMs = Number.POSITIVE_INFINITY;
  #isRunning = false;
  /** True when `cancel` was called during the run in progress. The wait of that run then does not count. */
  #isCanceled = false;
  /** The end of the last run, which may be in progress. */
  #ended: Promise<void> = Promise.resolve();
  #isStopped = false;

  /** Without `onError`, `run` must never throw or reject. */
  constructor(
    timers: Timers,
    run: () => Wait | Promise<Wait>,
    onError: (error: unknown) => Wait = (error) => {
      throw error;
    },
  ) {
    this.#timers = timers;
    this.#run = run;
    this.#onError = onError;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Makes sure that a run begins within this time. A run that was planned with a shorter wait stays. */
  runWithin(ms: number): void {
    if (this.#isRunning) this.#requestedMs = Math.min(this.#requestedMs, ms);
    else if (ms < this.#plannedMs) this.#plan(ms);
  }

  runSoon(): void {
    this.runWithin(SOON_MS);
  }

  runNow(): void {
    this.runWithin(0);
  }

  /** Cancels the planned run, also the one that would follow the run in progress. The next request plans another. */
  cancel(): void {
    this.#isCanceled = true;
    this.#cancelTimer();
    this.#plannedMs = Number.POSITIVE_INFINITY;
    this.#requestedMs = Number.POSITIVE_INFINITY;
  }

  /** No run begins from now on. Resolves when the run in progress has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.cancel();
    await this.#ended;
  }

  #plan(ms: number): void {
    if (this.#isStopped) return;
    this.#cancelTimer();
    this.#plannedMs = ms;
    this.#cancelTimer = this.#timers.after(ms, () => this.#beginRun());
  }

  #beginRun(): void {
    this.#plannedMs = Number.POSITIVE_INFINITY;
    this.#isRunning = true;
    this.#isCanceled = false;
    try {
      const wait = this.#run();
      if (wait instanceof Promise) {
        this.#ended = wait.then(
          (waitMs) => this.#endRun(waitMs),
          (error: unknown) => this.#failRun(error),
        );
      } else this.#endRun(wait);
    } catch (error) {
      this.#failRun(error);
    }
  }

  #failRun(error: unknown): void {
    const waitMs = this.#onError(error);
    if (waitMs !== null) this.#requestedMs = Number.POSITIVE_INFINITY;
    this.#endRun(waitMs);
  }

  #endRun(waitMs: Wait): void {
    this.#isRunning = false;
    const plannedMs = this.#isCanceled ? null : waitMs;
    const nextMs = Math.min(plannedMs ?? Number.POSITIVE_INFINITY, this.#requestedMs);
    this.#requestedMs = Number.POSITIVE_INFINITY;
    if (nextMs < Number.POSITIVE_INFINITY) this.#plan(nextMs);
  }
}

/**
 * Does something again and again, never twice at one time. After each run it waits for as long as that run says, or
 * until it is asked for. A run that is asked for comes soon: in a moment, or a moment after the one under way.
 */
import type { Timers } from './system.ts';

/** The wait from a request to its run, so that many requests share one. */
export const SOON_MS = 20;

export class PeriodicTask {
  readonly #timers: Timers;
  readonly #run: () => Promise<number | null>;
  #callOff: () => void = () => {};
  #isRunning = false;
  /** A run was asked for while another one was under way. */
  #isWanted = false;
  #isSoon = false;
  #isStopped = false;

  /** The run never rejects. It answers after how many milliseconds the next one begins; null: once it is asked for. */
  constructor(timers: Timers, run: () => Promise<number | null>) {
    this.#timers = timers;
    this.#run = run;
  }

  /** In a moment, however often it is asked for. */
  runSoon(): void {
    if (this.#isRunning) this.#isWanted = true;
    else if (!this.#isSoon) this.#planIn(SOON_MS, true);
  }

  runNow(): void {
    if (this.#isRunning) this.#isWanted = true;
    else this.#planIn(0, true);
  }

  stop(): void {
    this.#isStopped = true;
    this.#callOff();
  }

  #planIn(ms: number, isSoon: boolean): void {
    if (this.#isStopped) return;
    this.#isSoon = isSoon;
    this.#callOff();
    this.#callOff = this.#timers.after(ms, () => void this.#runOnce());
  }

  async #runOnce(): Promise<void> {
    this.#isRunning = true;
    this.#isSoon = false;
    this.#isWanted = false;
    const ms = await this.#run();
    this.#isRunning = false;
    if (this.#isWanted) this.#planIn(Math.min(ms ?? SOON_MS, SOON_MS), true);
    else if (ms !== null) this.#planIn(ms, false);
  }
}

/**
 * Things that are done again and again, each when it wants to be, one at a time and with a pause after each, so that
 * all of them together never take more than a small part of the process. One that fails is done again later and
 * later, and keeps no other from its turn.
 */

import type { Stopwatch, Timers } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';

const PAUSE_MS = 10;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 15_000;
/** Nothing is due for so long: then it is looked again whether that is still so. */
const SLEEP_MS_MAX = 60_000;

/** Answers in how many milliseconds it wants to be done again; null: never. */
export type Act = () => Promise<number | null>;

interface Chore {
  readonly act: Act;
  /** By the stopwatch. */
  at: number;
  failures: number;
}

export class Chores {
  readonly #timers: Timers & Stopwatch;
  readonly #log: Log;
  readonly #chores = new Map<string, Chore>();
  #rouse: (() => void) | null = null;
  #isStopped = false;

  constructor(timers: Timers & Stopwatch, log: Log) {
    this.#timers = timers;
    this.#log = log;
  }

  /** To be done at once. */
  add(name: string, act: Act): void {
    this.#chores.set(name, { act, at: this.#timers.elapsed(), failures: 0 });
    this.#rouse?.();
  }

  remove(name: string): void {
    this.#chores.delete(name);
  }

  /** Whatever it wanted; one that failed is not asked more often for it. */
  hurry(name: string): void {
    const chore = this.#chores.get(name);
    if (chore === undefined || chore.failures > 0) return;
    chore.at = this.#timers.elapsed();
    this.#rouse?.();
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      const [name, chore] = this.#next() ?? [];
      const waitMs = (chore?.at ?? Infinity) - this.#timers.elapsed();
      if (name === undefined || chore === undefined || waitMs > 0) {
        await this.#sleep(Math.min(waitMs, SLEEP_MS_MAX));
        continue;
      }
      await this.#do(name, chore);
      if (!this.#isStopped) await this.#sleep(PAUSE_MS);
    }
  }

  /** What is under way is finished; nothing more is begun. */
  stop(): void {
    this.#isStopped = true;
    this.#rouse?.();
  }

  /** The one that wanted it first. */
  #next(): readonly [string, Chore] | null {
    let next: readonly [string, Chore] | null = null;
    for (const entry of this.#chores) if (next === null || entry[1].at < next[1].at) next = entry;
    return next;
  }

  async #do(name: string, chore: Chore): Promise<void> {
    try {
      // It may be hurried while it is done: that counts for the next time.
      chore.at = Infinity;
      const wantsIn = await chore.act();
      chore.failures = 0;
      if (this.#chores.get(name) !== chore) return;
      // Behind the others that want it in the same moment.
      this.#chores.delete(name);
      if (wantsIn === null) return;
      chore.at = Math.min(chore.at, this.#timers.elapsed() + wantsIn);
      this.#chores.set(name, chore);
    } catch (error) {
      if (!this.#areAnyFailing())
        this.#log.warn({ error: String(error) }, 'bulk replays could not continue: they are tried again');
      const waitMs = Math.min(RETRY_MS_MIN * 2 ** chore.failures, RETRY_MS_MAX);
      chore.failures++;
      chore.at = this.#timers.elapsed() + waitMs;
    }
  }

  #areAnyFailing(): boolean {
    return [...this.#chores.values()].some(({ failures }) => failures > 0);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        callOff();
        this.#rouse = null;
        resolve();
      };
      const callOff = this.#timers.after(ms, wake);
      this.#rouse = wake;
    });
  }
}

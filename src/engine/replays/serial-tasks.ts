/**
 * Runs the tasks of bulk replays again and again, one at a time and with a pause after each. The pauses keep the share
 * of the process that all of them use together small. A task that fails is tried again with longer and longer waits,
 * and does not delay the others.
 */
import { PeriodicTask, type Wait } from '#src/ports/periodic-task.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import type { Log } from '#src/ports/telemetry.ts';

const PAUSE_MS = 10;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 15_000;

/** Returns the wait until it is run again, in milliseconds; null removes the task. */
export type Run = () => Promise<number | null>;

interface Task {
  readonly run: Run;
  /** The time of the next run, by the stopwatch. */
  at: number;
  failures: number;
}

/** Tasks that are due at the same time run in a round robin. */
export class SerialTasks {
  readonly #timers: Timers & Stopwatch;
  readonly #log: Log;
  readonly #tasks = new Map<string, Task>();
  readonly #loop: PeriodicTask;
  #isStarted = false;

  constructor(timers: Timers & Stopwatch, log: Log) {
    this.#timers = timers;
    this.#log = log;
    this.#loop = new PeriodicTask(timers, () => this.#runNext());
  }

  start(): void {
    this.#isStarted = true;
    this.#wake();
  }

  /** The task in progress is finished, and no other begins. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Adds a task that is due at once. */
  add(name: string, run: Run): void {
    this.#tasks.set(name, { run, at: this.#timers.elapsed(), failures: 0 });
    this.#wake();
  }

  remove(name: string): void {
    this.#tasks.delete(name);
  }

  /** Makes a task due at once. A task that failed keeps its wait. */
  runSoon(name: string): void {
    const task = this.#tasks.get(name);
    if (task === undefined || task.failures > 0) return;
    task.at = this.#timers.elapsed();
    this.#wake();
  }

  #wake(): void {
    if (this.#isStarted) this.#loop.runWithin(this.#loop.isRunning ? PAUSE_MS : 0);
  }

  async #runNext(): Promise<Wait> {
    const [name, task] = this.#next() ?? [];
    if (name === undefined || task === undefined) return null;
    const waitMs = task.at - this.#timers.elapsed();
    if (waitMs > 0) return waitMs;
    await this.#run(name, task);
    const [, next] = this.#next() ?? [];
    return next === undefined ? null : Math.max(next.at - this.#timers.elapsed(), PAUSE_MS);
  }

  /** Returns the task that has been due for longest. */
  #next(): readonly [string, Task] | null {
    let next: readonly [string, Task] | null = null;
    for (const entry of this.#tasks) if (next === null || entry[1].at < next[1].at) next = entry;
    return next;
  }

  async #run(name: string, task: Task): Promise<void> {
    try {
      // A request during the run counts for the next one.
      task.at = Number.POSITIVE_INFINITY;
      const waitMs = await task.run();
      task.failures = 0;
      if (this.#tasks.get(name) !== task) return;
      // The task goes behind the others that are due at the same time.
      this.#tasks.delete(name);
      if (waitMs === null) return;
      task.at = Math.min(task.at, this.#timers.elapsed() + waitMs);
      this.#tasks.set(name, task);
    } catch (error) {
      if (!this.#isAnyFailing()) {
        this.#log.warn({ error: String(error) }, 'bulk replays could not continue: they are tried again');
      }
      const waitMs = Math.min(RETRY_MS_MIN * 2 ** task.failures, RETRY_MS_MAX);
      task.failures++;
      task.at = this.#timers.elapsed() + waitMs;
    }
  }

  #isAnyFailing(): boolean {
    return [...this.#tasks.values()].some(({ failures }) => failures > 0);
  }
}

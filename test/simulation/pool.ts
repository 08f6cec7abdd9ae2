/**
 * Runs seeds in parallel, one in each thread. A run depends only on its seed, so the order does not matter.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { RunResult } from './run.ts';
import { MEMORY_ROOT } from './template.ts';

export interface Job {
  /** The first seed. A job with a bug continues with the next seeds until the bug is caught. */
  readonly seed: number;
  readonly nodes?: number;
  readonly calls?: number | null;
  /** The longest span of a run. */
  readonly spanMsMax?: number | null;
  /** The name of a deliberate bug. */
  readonly bug?: string;
  readonly seedsMax?: number;
  /** Whether to return the trace even when no violation occurred. */
  readonly isTraced?: boolean;
}

interface JobsOptions {
  /** Receives every result at once. When it returns true, no further job begins. */
  readonly ended?: (result: RunResult) => boolean;
  /** Ends everything at once. Unfinished jobs are missing from the results. */
  readonly signal?: AbortSignal;
}

const THREADS_MAX = 8;

/** Threads start when the first jobs need them. They serve all later jobs too, because a start is expensive. */
export class Pool {
  readonly #directory = mkdtempSync(join(MEMORY_ROOT, 'sched-sim-'));
  readonly #threads: Worker[] = [];

  /** Returns the results in the order of the jobs, without those that were not run. One call at a time. */
  async run(jobs: readonly Job[], options: JobsOptions = {}): Promise<readonly RunResult[]> {
    const { ended = () => false, signal } = options;
    const results = new Map<number, RunResult>();
    let next = 0;
    let isOver = signal?.aborted === true;
    const breakOff = () => {
      isOver = true;
      void this.close();
    };
    signal?.addEventListener('abort', breakOff);
    try {
      await Promise.all(
        this.#threadsFor(jobs.length).map(async (thread) => {
          while (!isOver && next < jobs.length) {
            const index = next++;
            const result = await ask(thread, jobs[index] as Job);
            if (result === null) return;
            results.set(index, result);
            isOver ||= ended(result);
          }
        }),
      );
    } finally {
      signal?.removeEventListener('abort', breakOff);
    }
    return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
  }

  #threadsFor(jobs: number): readonly Worker[] {
    const needed = Math.min(availableParallelism(), THREADS_MAX, jobs);
    while (this.#threads.length < needed) {
      this.#threads.push(
        new Worker(new URL('./pool-thread.ts', import.meta.url), { workerData: this.#directory }),
      );
    }
    return this.#threads.slice(0, needed);
  }

  /** Ends the threads, also in the middle of a job. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Resolves to null when the thread ended before it answered. */
function ask(worker: Worker, job: Job): Promise<RunResult | null> {
  return new Promise((resolve, reject) => {
    const done = () => {
      worker.off('message', answered);
      worker.off('error', failed);
      worker.off('exit', exited);
    };
    const answered = (result: RunResult) => {
      done();
      resolve(result);
    };
    const failed = (error: Error) => {
      done();
      reject(error);
    };
    const exited = () => {
      done();
      resolve(null);
    };
    worker.on('message', answered);
    worker.on('error', failed);
    worker.on('exit', exited);
    worker.postMessage(job);
  });
}

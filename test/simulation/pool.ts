/** Seeds run beside each other, one thread each: a run depends on its seed alone, so nothing is lost by it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { RunResult } from './run.ts';
import { MEMORY_ROOT } from './template.ts';

export interface Job {
  /** The first seed; a bug goes on to the next until it is caught. */
  readonly seed: number;
  readonly nodes?: number;
  readonly calls?: number | null;
  /** The span is cut to this. */
  readonly spanMsMax?: number | null;
  /** The name of a deliberate bug. */
  readonly bug?: string;
  readonly seedsMax?: number;
  /** Whether the lines of its trace are wanted even where nothing went wrong. */
  readonly isTraced?: boolean;
}

export interface PoolOptions {
  /** It hears of every result as soon as it is there; true: that is enough, no further job begins. */
  readonly ended?: (result: RunResult) => boolean;
  /** Breaks off everything at once; the jobs under way are left out. */
  readonly signal?: AbortSignal;
}

const THREADS_MAX = 8;

/** In the order of the jobs. What was not run is left out. */
export async function runJobs(
  jobs: readonly Job[],
  { ended = () => false, signal }: PoolOptions = {},
): Promise<readonly RunResult[]> {
  const results = new Map<number, RunResult>();
  let next = 0;
  let isOver = signal?.aborted === true;
  const threads = Math.min(availableParallelism(), THREADS_MAX, jobs.length);
  const directory = mkdtempSync(join(MEMORY_ROOT, 'sched-sim-'));
  try {
    await Promise.all(
      Array.from({ length: threads }, async () => {
        const worker = new Worker(new URL('./pool-thread.ts', import.meta.url), { workerData: directory });
        const breakOff = () => {
          isOver = true;
          void worker.terminate();
        };
        signal?.addEventListener('abort', breakOff);
        try {
          while (!isOver && next < jobs.length) {
            const index = next++;
            const result = await ask(worker, jobs[index] as Job);
            if (result === null) return;
            results.set(index, result);
            isOver ||= ended(result);
          }
        } finally {
          signal?.removeEventListener('abort', breakOff);
          await worker.terminate();
        }
      }),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
}

/** Null when the thread was ended before it could answer. */
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

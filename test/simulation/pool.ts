/** Seeds run beside each other, one thread each: a run depends on its seed alone, so nothing is lost by it. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { RunResult } from './run.ts';

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
}

const THREADS_MAX = 8;

/** In the order of the jobs. `isEnough` may end it early; what was not run is left out then. */
export async function runJobs(
  jobs: readonly Job[],
  isEnough: (result: RunResult) => boolean = () => false,
): Promise<readonly RunResult[]> {
  const results = new Map<number, RunResult>();
  let next = 0;
  let isOver = false;
  const threads = Math.min(availableParallelism(), THREADS_MAX, jobs.length);
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const worker = new Worker(new URL('./pool-thread.ts', import.meta.url));
      try {
        while (!isOver && next < jobs.length) {
          const index = next++;
          const result = await ask(worker, jobs[index] as Job);
          results.set(index, result);
          isOver ||= isEnough(result);
        }
        await ask(worker, 'tidy up');
      } finally {
        await worker.terminate();
      }
    }),
  );
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
}

function ask(worker: Worker, job: Job | 'tidy up'): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const done = () => {
      worker.off('message', answered);
      worker.off('error', failed);
    };
    const answered = (result: RunResult) => {
      done();
      resolve(result);
    };
    const failed = (error: Error) => {
      done();
      reject(error);
    };
    worker.on('message', answered);
    worker.on('error', failed);
    worker.postMessage(job);
  });
}

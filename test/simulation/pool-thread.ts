/** One thread of the pool: a message is a job, and is answered by its result. */
import { parentPort } from 'node:worker_threads';
import type { Job } from './pool.ts';
import { type RunResult, runSeed, tidyUp } from './run.ts';

async function run({ seed, seedsMax = 1, ...options }: Job): Promise<RunResult> {
  for (let at = seed; ; at++) {
    const result = await runSeed({ ...options, seed: at });
    if (options.bug === undefined || result.failure !== null || at + 1 >= seed + seedsMax) return result;
  }
}

async function answer(job: Job | 'tidy up'): Promise<void> {
  if (job === 'tidy up') await tidyUp();
  parentPort?.postMessage(job === 'tidy up' ? null : await run(job));
}

parentPort?.on('message', (job: Job | 'tidy up') => void answer(job));

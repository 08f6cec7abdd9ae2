/** One thread of the pool. It receives jobs as messages and answers each with its result. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Job } from './pool.ts';
import { type RunResult, runSeed } from './run.ts';
import { makeTemplate } from './template.ts';

const template = makeTemplate(String(workerData));

async function run({ seed, seedsMax = 1, isTraced = false, ...options }: Job): Promise<RunResult> {
  for (let at = seed; ; at++) {
    const result = await runSeed(await template, { ...options, seed: at });
    if (options.bug !== undefined && result.failure === null && at + 1 < seed + seedsMax) continue;
    // Thousands of traces would fill the memory of the thread that started the pool.
    return result.failure === null && !isTraced ? { ...result, trace: [] } : result;
  }
}

async function answer(job: Job): Promise<void> {
  parentPort?.postMessage(await run(job));
}

parentPort?.on('message', (job: Job) => void answer(job));

/** Two ways to add many jobs. */
import type { Job } from '../contender.ts';

const CONCURRENT_CALLS = 64;

/** Makes one call for each batch, one after the other. */
export async function addInBatches(
  jobs: readonly Job[],
  size: number,
  add: (part: readonly Job[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < jobs.length; at += size) await add(jobs.slice(at, at + size));
}

/** Makes one call for each job, with many calls in flight. */
export async function addConcurrently(
  jobs: readonly Job[],
  add: (job: Job) => Promise<unknown>,
): Promise<void> {
  const queue = jobs.values();
  const worker = async () => {
    for (const job of queue) await add(job);
  };
  await Promise.all(Array.from({ length: CONCURRENT_CALLS }, worker));
}

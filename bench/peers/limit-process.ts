import type { Job } from '../contender.ts';
import { post } from '../post.ts';
import { servePeer } from './protocol.ts';

async function addAll(jobs: readonly Job[]): Promise<void> {
  for (const job of jobs) postInTime(job);
}

/** A timer may fire up to a millisecond early, but no job may be sent before its instant. */
function postInTime(job: Job): void {
  const leftMs = job.due - Date.now();
  if (leftMs > 0) setTimeout(() => postInTime(job), leftMs);
  else void post(job);
}

servePeer({
  addAll,
  addOne: (job) => addAll([job]),
  addRecurring: addAll,
  end: async () => undefined,
});

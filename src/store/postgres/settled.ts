import { faultOf } from './faults.ts';

/** Waits for all, and fails with the first failure: what comes after it only says that there was one. */
export async function awaitAll(sent: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(sent);
  const lost = results.findLast((result) => result.status === 'rejected');
  if (lost !== undefined && faultOf(lost.reason) === 'unavailable') throw lost.reason;
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

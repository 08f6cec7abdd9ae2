/** Starts Sched, and waits until it reports that it can store and fire. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningSched, type SchedOptions, startSched } from '../sched/service.ts';

const ASK_EVERY_MS = 5;
const READY_MS_MAX = 60_000;

export interface ReadySched extends RunningSched {
  /** The time from the start of the process until it is ready. */
  readonly readyMs: number;
}

export async function startReady(options: SchedOptions): Promise<ReadySched> {
  const start = performance.now();
  const running = await startSched(options);
  try {
    while (!(await isReady(running.urls[0] ?? ''))) {
      if (performance.now() - start > READY_MS_MAX) throw new Error('Sched did not get ready.');
      await sleep(ASK_EVERY_MS);
    }
    return { ...running, readyMs: performance.now() - start };
  } catch (error) {
    await running[Symbol.asyncDispose]();
    throw error;
  }
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`);
  await response.arrayBuffer();
  return response.ok;
}

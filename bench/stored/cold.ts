/** Measures a start on a file that is not in the operating system's cache. Reading the whole file would show. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { whole } from '../report/figures.ts';
import type { SchedStore } from '../sched/service.ts';
import { fileOf } from './filled-stores.ts';
import { startReady } from './ready.ts';

/** Returns a line for the report. Null if the file cannot be dropped from the cache, or Sched does not start. */
export async function coldStart(store: SchedStore, stored: number): Promise<string | null> {
  if (store.kind !== 'sqlite' || !(await dropFromCache(fileOf(store.directory)))) return null;
  const coldMs = await readyMs(store);
  const warmMs = await readyMs(store);
  if (coldMs === null || warmMs === null) return null;
  return `SQLite with ${whole(stored)} stored is ready after ${whole(coldMs)} ms with a cold file cache, and after ${whole(warmMs)} ms at the next start.`;
}

async function readyMs(store: SchedStore): Promise<number | null> {
  try {
    await using started = await startReady({ store });
    return started.readyMs;
  } catch {
    return null;
  }
}

/** GNU dd drops a file from the cache when it reads zero blocks with `nocache`. */
async function dropFromCache(file: string): Promise<boolean> {
  try {
    await promisify(execFile)('dd', [`if=${file}`, 'iflag=nocache', 'count=0']);
    return true;
  } catch {
    return false;
  }
}

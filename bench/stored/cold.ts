/** A start on a file that the operating system has forgotten: whoever reads all of it when it starts is seen. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { whole } from '../report/figures.ts';
import type { SchedStore } from '../sched/service.ts';
import { fileOf } from './filled-stores.ts';
import { startReady } from './ready.ts';

/** A line for the report; null where the system cannot be made to forget a file, or Sched does not start. */
export async function coldStart(store: SchedStore, stored: number): Promise<string | null> {
  if (store.kind !== 'sqlite' || !(await dropFromCache(fileOf(store.directory)))) return null;
  const coldMs = await readyMs(store);
  const warmMs = await readyMs(store);
  if (coldMs === null || warmMs === null) return null;
  return (
    `SQLite with ${whole(stored)} stored is ready ${whole(coldMs)} ms after its start when nothing of the file ` +
    `is in memory, and ${whole(warmMs)} ms the next time.`
  );
}

async function readyMs(store: SchedStore): Promise<number | null> {
  try {
    await using started = await startReady({ store });
    return started.readyMs;
  } catch {
    return null;
  }
}

/** GNU dd drops what is cached of a file when it is told to read nothing of it in this way. */
async function dropFromCache(file: string): Promise<boolean> {
  try {
    await promisify(execFile)('dd', [`if=${file}`, 'iflag=nocache', 'count=0']);
    return true;
  } catch {
    return false;
  }
}

/** Removes processes, their children and folders of a server when the test run ends. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEndOfRun } from '../end-of-run.ts';

const GONE_ATTEMPTS_MAX = 200;
const GONE_PAUSE_MS = 5;

const processes = new Set<ChildProcess>();
const folders = new Set<string>();
atEndOfRun(() => {
  for (const child of processes) child.kill('SIGQUIT');
  // Processes that still write would disturb the removal.
  for (const { pid } of processes) if (pid !== undefined) waitUntilGone(pid);
  for (const folder of folders) removeFolder(folder);
});

/** The child process ends with this one at the latest. */
export function endWithProcess(child: ChildProcess): void {
  processes.add(child);
  child.once('close', () => processes.delete(child));
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sched-postgres-'));
  folders.add(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** Kills all children of a process that creates no new ones. The returned function waits for their end. */
export function killChildren(pid: number): () => Promise<void> {
  const children = childrenOf(pid);
  for (const child of children) {
    try {
      process.kill(child, 'SIGKILL');
    } catch {
      // The process has ended by itself.
    }
  }
  return async () => {
    for (const child of children) await gone(child);
  };
}

/** Without `/proc` there is no list. The children then end when they notice that their parent is gone. */
function childrenOf(pid: number): readonly number[] {
  const list = `/proc/${pid}/task/${pid}/children`;
  return existsSync(list) ? readFileSync(list, 'utf8').trim().split(' ').filter(Boolean).map(Number) : [];
}

/** For the end of the process, when promises no longer run. */
function waitUntilGone(pid: number): void {
  const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  for (let attempts = 0; attempts < GONE_ATTEMPTS_MAX && isAlive(pid); attempts += 1) {
    Atomics.wait(never, 0, 0, GONE_PAUSE_MS);
  }
}

async function gone(pid: number): Promise<void> {
  for (let attempts = 0; attempts < GONE_ATTEMPTS_MAX && isAlive(pid); attempts += 1) {
    await new Promise((resolve) => setTimeout(resolve, GONE_PAUSE_MS));
  }
}

/** A zombie process holds no resources, so it counts as ended. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

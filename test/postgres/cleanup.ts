/**
 * Nothing of a server outlives the test run: neither processes, nor their children, nor folders, however the
 * run ends.
 */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const GONE_ATTEMPTS_MAX = 200;
const GONE_PAUSE_MS = 5;

const processes = new Set<ChildProcess>();
const folders = new Set<string>();
process.on('exit', () => {
  for (const child of processes) child.kill('SIGQUIT');
  // Whatever they still write would get in the way of the removal.
  for (const { pid } of processes) if (pid !== undefined) waitUntilGone(pid);
  for (const folder of folders) removeFolder(folder);
});
// How vitest ends its workers, and a person a script: without a listener nothing above would run.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
// A worker whose parent was ended is not told by a signal.
process.once('disconnect', () => process.exit(1));

/** The process ends with ours at the latest. */
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

/** Kills all children of a process, which is not to make any meanwhile; the answer waits for their end. */
export function killChildren(pid: number): () => Promise<void> {
  const children = childrenOf(pid);
  for (const child of children) {
    try {
      process.kill(child, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
  return async () => {
    for (const child of children) await gone(child);
  };
}

/** Where the system does not tell, none: they end by themselves when they see that their parent is gone. */
function childrenOf(pid: number): readonly number[] {
  const list = `/proc/${pid}/task/${pid}/children`;
  return existsSync(list) ? readFileSync(list, 'utf8').trim().split(' ').filter(Boolean).map(Number) : [];
}

/** For the end of the process, where no promise is kept. */
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

/** One that has ended and that nobody has asked about yet (a zombie) holds nothing any more. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

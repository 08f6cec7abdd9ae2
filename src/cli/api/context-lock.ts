/**
 * A lock file that lets one process at a time read, change and write the contexts. Other processes wait until the
 * file is gone. A process that was killed leaves its lock behind. Any change is done long before the lock counts as
 * stale, so the next process then removes it.
 */
import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, systemCodeOf } from '#src/app/failures.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { CommandFailure } from '#src/cli/failure.ts';
import type { Instant } from '#src/domain/instant.ts';
import { pause } from '#src/ports/system.ts';

const STALE_AFTER_MS = 5_000;
const WAIT_MS_MAX = 10_000;
const POLL_MS = 20;

type LockDependencies = Pick<CliDependencies, 'clock' | 'timers'>;

export async function withLock<T>(
  path: string,
  dependencies: LockDependencies,
  work: () => Promise<T>,
): Promise<T> {
  const lock = `${path}.lock`;
  const id = await acquire(lock, dependencies);
  try {
    return await work();
  } finally {
    // Another process may have taken this lock for stale and replaced it. Its lock must stay.
    if ((await readLock(lock))?.id === id) await rm(lock, { force: true });
  }
}

/** Waits for the lock, creates it, and resolves with the id of its file. */
async function acquire(lock: string, { clock, timers }: LockDependencies): Promise<string> {
  const untilMs = clock.now() + WAIT_MS_MAX;
  for (;;) {
    const id = await createLock(lock);
    if (id !== null) return id;
    const other = await readLock(lock);
    if (other !== null && ageMs(other, clock.now()) > STALE_AFTER_MS) await removeStale(lock, other.id);
    if (clock.now() > untilMs)
      throw new CommandFailure(`Another command is changing the contexts: ${lock} exists. Try again.`);
    await pause(timers, POLL_MS);
  }
}

/** Resolves with null if the lock exists already. */
async function createLock(lock: string): Promise<string | null> {
  try {
    await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
    await using file = await open(lock, 'wx', 0o600);
    return idOf(await file.stat());
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return null;
    throw new CommandFailure(`The contexts cannot be written: ${messageOf(error)}.`);
  }
}

interface Lock {
  readonly id: string;
  readonly createdMs: number;
}

async function readLock(path: string): Promise<Lock | null> {
  const found = await stat(path).catch(() => null);
  return found === null ? null : { id: idOf(found), createdMs: found.mtimeMs };
}

function ageMs({ createdMs }: Lock, now: Instant): number {
  return now - createdMs;
}

/** A new file may get the inode number of a removed one. Only number and time together identify a file. */
function idOf({ ino, mtimeMs }: Stats): string {
  return `${ino} ${mtimeMs}`;
}

/** Renames the lock before removing it. If another process replaced it meanwhile, the newer lock is put back. */
async function removeStale(lock: string, id: string): Promise<void> {
  const renamed = `${lock}.${randomBytes(6).toString('hex')}`;
  try {
    await rename(lock, renamed);
    if ((await readLock(renamed))?.id !== id) await link(renamed, lock);
  } catch {
    // Another process was faster.
  }
  await rm(renamed, { force: true });
}

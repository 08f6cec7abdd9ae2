/**
 * One service uses a data directory at a time. The lock is SQLite's own, on an empty database beside the real one.
 * The operating system releases it when the process ends, even after a crash. The command line does not take the
 * lock, so it works while the service runs.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StoreUnavailable } from '#src/ports/store.ts';
import { isBusy, unavailableInstead } from './errors.ts';

export interface DirectoryLock {
  release(): void;
}

export function lockDirectory(directory: string): DirectoryLock {
  return unavailableInstead(() => {
    const db = new Database(join(directory, 'sched.lock'), { timeout: 0 });
    try {
      db.pragma('locking_mode = EXCLUSIVE');
      db.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      db.close();
      if (!isBusy(error)) throw error;
      throw new StoreUnavailable(
        `The data directory ${directory} is in use by another Sched. Stop it, or choose another directory with --data-dir or SCHED_DATA_DIR.`,
        { cause: error },
      );
    }
    return { release: () => db.close() };
  });
}

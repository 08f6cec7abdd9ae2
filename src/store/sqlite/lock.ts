/**
 * One service per data directory. The lock is SQLite's own, on an empty database beside the real one:
 * the operating system lets go of it when the process ends, however it ends. The command line does not
 * take it, so it works beside a running service.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StoreUnavailable } from '#src/ports/store.ts';
import { unavailableInstead } from './connection.ts';

export interface DirectoryLock {
  release(): void;
}

export function lockDirectory(directory: string): DirectoryLock {
  const db = unavailableInstead(() => new Database(join(directory, 'sched.lock'), { timeout: 0 }));
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    throw new StoreUnavailable(`The data directory ${directory} is in use by another Sched.`, {
      cause: error,
    });
  }
  return { release: () => db.close() };
}

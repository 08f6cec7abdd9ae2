/**
 * A module for `node --import`. It makes the store's writer thread fail, with the fault whose name is in a file.
 *
 *   full                 the database cannot grow by a single page
 *   refusing             no commit succeeds, as on a disk without a free byte
 *   false-errors         every commit succeeds and reports an error, as after a failed fsync
 *   crash                the thread ends in the middle of a transaction
 *   crash-after-commit   the thread ends right after a commit, before it has answered
 */
import { existsSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import Database from 'better-sqlite3';

export type StoreFault = 'full' | 'refusing' | 'false-errors' | 'crash' | 'crash-after-commit';

/** The largest page count that SQLite knows. */
const PAGES_MAX = 0xfffffffe;

const file = process.env.SCHED_TEST_FAULT_FILE ?? '';
const execute = Reflect.get(Database.prototype, 'exec') as (this: Database.Database, sql: string) => unknown;

function currentFault(): StoreFault | null {
  return existsSync(file) ? (readFileSync(file, 'utf8') as StoreFault) : null;
}

function commitWithFault(db: Database.Database, fault: StoreFault | null): void {
  if (fault === 'refusing') throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL');
  if (fault === 'crash') process.exit(1);
  execute.call(db, 'COMMIT');
  if (fault === 'false-errors') throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC');
  if (fault === 'crash-after-commit') process.exit(1);
}

if (!isMainThread) {
  Database.prototype.exec = function exec(this: Database.Database, sql: string) {
    if (sql === 'BEGIN IMMEDIATE')
      this.pragma(`max_page_count = ${currentFault() === 'full' ? 1 : PAGES_MAX}`);
    if (sql === 'COMMIT') commitWithFault(this, currentFault());
    else execute.call(this, sql);
    return this;
  };
}

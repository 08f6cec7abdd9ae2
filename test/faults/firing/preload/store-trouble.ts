/**
 * For `node --import`: the thread that writes meets the trouble whose name stands in a file.
 *
 *   full          the database may not grow by a single page
 *   refusing      no commit succeeds: what a disk without a free byte does
 *   lying         every commit succeeds, and is said to have failed: an error after the data were written
 *   dying         the thread ends in the middle of a transaction
 *   dying late    the thread ends right after a commit, before anybody was told
 */
import { existsSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import Database from 'better-sqlite3';

export type Trouble = 'full' | 'refusing' | 'lying' | 'dying' | 'dying late';

/** The largest that SQLite knows. */
const PAGES_MAX = 0xfffffffe;

const file = process.env.SCHED_TEST_TROUBLE_FILE ?? '';
const execute = Reflect.get(Database.prototype, 'exec') as (this: Database.Database, sql: string) => unknown;

function trouble(): Trouble | null {
  return existsSync(file) ? (readFileSync(file, 'utf8') as Trouble) : null;
}

function commitIn(db: Database.Database, met: Trouble | null): void {
  if (met === 'refusing') throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL');
  if (met === 'dying') process.exit(1);
  execute.call(db, 'COMMIT');
  if (met === 'lying') throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC');
  if (met === 'dying late') process.exit(1);
}

if (!isMainThread) {
  Database.prototype.exec = function exec(this: Database.Database, sql: string) {
    if (sql === 'BEGIN IMMEDIATE') this.pragma(`max_page_count = ${trouble() === 'full' ? 1 : PAGES_MAX}`);
    if (sql === 'COMMIT') commitIn(this, trouble());
    else execute.call(this, sql);
    return this;
  };
}

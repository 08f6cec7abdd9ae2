import Database from 'better-sqlite3';
import type { Instant } from '#src/domain/instant.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import {
  MADE_BY_EARLIER_VERSION,
  newerVersion,
  newestVersion,
  requireVersion,
  sqlOf,
} from '#src/store/sql/migration.ts';
import { unavailableInstead } from './errors.ts';
import { MIGRATIONS } from './migrations.ts';

export type Db = Database.Database;

/** How long a write of the service waits for the command line, or the other way round. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * The write-ahead log is copied into the file when it has this many pages. A page that changed several times is
 * copied once. The commit that reaches the limit does the copying, and others wait: 10,000 pages took a third of a
 * second.
 */
const CHECKPOINT_PAGES = 4_000;
/** The log is cut to this size after a reader has delayed a checkpoint. */
const LOG_BYTES_MAX = 67_108_864;

/**
 * A delivery that becomes due was often stored long ago, on a page anywhere in the file. A large cache keeps such
 * pages.
 */
const WRITER_CACHE_KIB = 32_768;
const READER_CACHE_KIB = 16_384;

/** 'SCHD': identifies the files of this program among SQLite databases. */
export const APPLICATION_ID = 0x53434844;

/** Without `durable`, a write that was answered may be lost when the machine crashes, but not when the process does. */
export function openForWriting(path: string, durable = true): Db {
  return unavailableInstead(() => {
    const db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      refuseForeign(db);
      db.pragma('journal_mode = WAL');
      db.pragma(`synchronous = ${durable ? 'FULL' : 'OFF'}`);
      db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      db.pragma(`journal_size_limit = ${LOG_BYTES_MAX}`);
      db.pragma(`cache_size = -${WRITER_CACHE_KIB}`);
    } catch (error) {
      db.close();
      throw error;
    }
    return db;
  });
}

export function openForReading(path: string): Db {
  return unavailableInstead(() => {
    const db = new Database(path, { timeout: BUSY_TIMEOUT_MS, readonly: true });
    db.pragma(`cache_size = -${READER_CACHE_KIB}`);
    return db;
  });
}

/** The schema that this version of the program works with. */
export const SCHEMA_VERSION = newestVersion(MIGRATIONS);

/** Brings the schema up to date. A database that this program cannot use is refused. */
export function migrate(db: Db, now: Instant, migrations = MIGRATIONS): void {
  unavailableInstead(() => {
    db.exec('BEGIN IMMEDIATE');
    try {
      const current = usableVersion(db, newestVersion(migrations));
      db.exec(
        `CREATE TABLE IF NOT EXISTS schema_versions (
           version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL
         ) STRICT`,
      );
      for (const migration of migrations.filter(({ version }) => version > current)) {
        db.exec(sqlOf(migration));
        db.prepare('INSERT INTO schema_versions (version, name, applied_at) VALUES (?, ?, ?)').run(
          migration.version,
          migration.name,
          now,
        );
      }
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${newestVersion(migrations)}`);
      db.exec('COMMIT');
    } finally {
      if (db.inTransaction) db.exec('ROLLBACK');
    }
  });
}

export function requireCurrent(db: Db): void {
  requireVersion(
    SCHEMA_VERSION,
    unavailableInstead(() => usableVersion(db, SCHEMA_VERSION)),
  );
}

/** The schema version; 0 if there is none yet. Refuses a schema that a program with version `known` cannot use. */
function usableVersion(db: Db, known: number): number {
  const current = Number(db.pragma('user_version', { simple: true }));
  if (current > 0 && !hasTable(db, 'schema_versions')) {
    throw new StoreUnavailable(
      `${MADE_BY_EARLIER_VERSION} Set SCHED_DATA_DIR to an empty directory, or run the earlier version.`,
    );
  }
  if (current > known) throw newerVersion(known, current);
  return current;
}

function hasTable(db: Db, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
}

function refuseForeign(db: Db): void {
  const isEmpty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
  if (!isEmpty && db.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw new StoreUnavailable('The database file belongs to another program.');
  }
}

import Database from 'better-sqlite3';
import type { Instant } from '#src/domain/instant.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { MIGRATIONS } from './migrations.ts';

export type Db = Database.Database;

/** How long a write waits for the command line, or the command line for the service. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * How long the log may grow before what it holds is brought into the file. Pages that change again until then are
 * brought there once; but whoever commits last does it, and the others wait: 10,000 pages held them up for a
 * third of a second.
 */
const CHECKPOINT_PAGES = 4_000;
/** What is left of a log that a reader has kept from being brought in. */
const LOG_BYTES_MAX = 67_108_864;

/** What falls due was often stored long ago, here and there in the file: pages are kept, as far as they come up. */
const WRITER_CACHE_KIB = 32_768;
const READER_CACHE_KIB = 16_384;

/** 'SCHD': tells our files from any other SQLite database. */
export const APPLICATION_ID = 0x53434844;

/** Not `durable`, an answered write may be lost with the machine, but not with the process. */
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

/** The schema this version of the program works with. */
export const SCHEMA_VERSION = MIGRATIONS.at(-1)?.version ?? 0;

/** Brings the schema up to date. A database of a newer version is refused. */
export function migrate(db: Db, now: Instant): void {
  unavailableInstead(() => {
    db.exec('BEGIN IMMEDIATE');
    try {
      const current = schemaVersion(db);
      refuseNewer(current);
      db.exec(
        `CREATE TABLE IF NOT EXISTS migrations (
           version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL
         ) STRICT`,
      );
      for (const migration of MIGRATIONS.filter(({ version }) => version > current)) {
        db.exec(migration.sql);
        db.prepare('INSERT INTO migrations (version, name, applied_at) VALUES (?, ?, ?)').run(
          migration.version,
          migration.name,
          now,
        );
      }
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${SCHEMA_VERSION}`);
      db.exec('COMMIT');
    } finally {
      if (db.inTransaction) db.exec('ROLLBACK');
    }
  });
}

/** For whoever works beside a running service: the schema must be the one both know. */
export function requireCurrent(db: Db): void {
  const current = unavailableInstead(() => schemaVersion(db));
  refuseNewer(current);
  if (current < SCHEMA_VERSION) {
    throw new StoreUnavailable(
      `The database has schema version ${current}, this version of Sched needs ${SCHEMA_VERSION}: run \`sched migrate\`.`,
    );
  }
}

function refuseNewer(current: number): void {
  if (current > SCHEMA_VERSION) {
    throw new StoreUnavailable(
      `The database has schema version ${current}, this version of Sched knows ${SCHEMA_VERSION}. Run a newer Sched.`,
    );
  }
}

function refuseForeign(db: Db): void {
  const isEmpty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
  if (!isEmpty && db.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw new StoreUnavailable('The database file belongs to another program.');
  }
}

function schemaVersion(db: Db): number {
  return Number(db.pragma('user_version', { simple: true }));
}

const UNAVAILABLE = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|NOTADB|CORRUPT|PERM|PROTOCOL|NOLFS)/;

/** Whether SQLite says that the disk, the file or the lock is at fault, not the statement. */
export function isUnavailable(error: unknown): error is Error {
  return error instanceof Database.SqliteError && UNAVAILABLE.test(error.code);
}

export function unavailableInstead<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (isUnavailable(error)) throw new StoreUnavailable(`SQLite: ${error.message}.`, { cause: error });
    throw error;
  }
}

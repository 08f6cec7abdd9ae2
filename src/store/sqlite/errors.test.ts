/** Every entry of the table, and real errors of the driver. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '#src/ports/store.ts';
import { isBusy, isUnavailable, UNAVAILABLE, unavailableInstead } from './errors.ts';
import { lockDirectory } from './lock.ts';

const root = mkdtempSync(join(tmpdir(), 'sched-errors-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let files = 0;
function newPath(): string {
  files += 1;
  return join(root, `${files}.db`);
}

function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing failed.');
}

function withTable(path: string): Database.Database {
  const db = new Database(path, { timeout: 0 });
  db.exec('CREATE TABLE t (x INTEGER PRIMARY KEY, y TEXT NOT NULL) STRICT');
  return db;
}

const REAL: Readonly<Record<string, () => void>> = {
  SQLITE_BUSY: () => {
    const path = newPath();
    using writer = closing(withTable(path));
    using other = closing(new Database(path, { timeout: 0 }));
    writer.db.exec('BEGIN EXCLUSIVE');
    other.db.exec('BEGIN IMMEDIATE');
  },
  SQLITE_LOCKED: () => {
    using open = closing(withTable(newPath()));
    open.db.exec("INSERT INTO t VALUES (1, 'a')");
    const rows = open.db.prepare('SELECT * FROM t').iterate();
    rows.next();
    open.db.unsafeMode(true);
    try {
      open.db.exec('DROP TABLE t');
    } finally {
      rows.return?.();
    }
  },
  SQLITE_READONLY: () => {
    const path = newPath();
    withTable(path).close();
    using reader = closing(new Database(path, { readonly: true }));
    reader.db.exec("INSERT INTO t VALUES (1, 'a')");
  },
  SQLITE_FULL: () => {
    using open = closing(withTable(newPath()));
    open.db.pragma('max_page_count = 2');
    open.db.prepare('INSERT INTO t (y) VALUES (?)').run('a'.repeat(100_000));
  },
  SQLITE_CANTOPEN: () => {
    new Database(join(mkdtempSync(join(root, 'directory-')), '.')).exec('CREATE TABLE t (x)');
  },
  SQLITE_NOTADB: () => {
    const path = newPath();
    writeFileSync(path, 'text, and not a database. '.repeat(100));
    using open = closing(new Database(path));
    open.db.exec('SELECT * FROM sqlite_schema');
  },
  SQLITE_CORRUPT: () => {
    const path = newPath();
    using open = closing(withTable(path));
    open.db.unsafeMode(true);
    open.db.pragma('writable_schema = ON');
    open.db.exec("UPDATE sqlite_schema SET rootpage = 1000 WHERE name = 't'");
    using other = closing(new Database(path));
    other.db.prepare('SELECT * FROM t').all();
  },
};

function closing(db: Database.Database) {
  return { db, [Symbol.dispose]: () => void db.close() };
}

describe('an error of SQLite is unavailable', () => {
  it.each(Object.entries(UNAVAILABLE))('by its code: %s', (code, number) => {
    const named = new Database.SqliteError('reason', code);
    expect(isUnavailable(named)).toBe(true);
    expect(isUnavailable(new Database.SqliteError('reason', `${code}_DETAIL`))).toBe(true);
    expect(isUnavailable(new Database.SqliteError('reason', `${code}S`))).toBe(false);
    const unnamed = new Database.SqliteError('reason', `UNKNOWN_SQLITE_ERROR_${number + 256 * 99}`);
    expect(isUnavailable(unnamed)).toBe(true);
    expect(isBusy(unnamed)).toBe(code === 'SQLITE_BUSY');
    expect(errorOf(() => unavailableInstead(() => errorOfCode(code)))).toMatchObject({
      name: StoreUnavailable.name,
      message: 'SQLite: reason.',
      cause: { code },
    });
  });

  it.each(Object.entries(REAL))('when it really happens: %s', (code, provoke) => {
    const error = errorOf(provoke);
    expect(error).toMatchObject({ code: expect.stringMatching(`^${code}(_|$)`) });
    expect(isUnavailable(error)).toBe(true);
  });

  it('but not if the statement is wrong', () => {
    using open = closing(withTable(newPath()));
    for (const sql of ['nonsense', 'INSERT INTO t VALUES (1, NULL)', "INSERT INTO t VALUES ('a', 'a')"]) {
      const error = errorOf(() => open.db.exec(sql));
      expect(isUnavailable(error)).toBe(false);
      expect(errorOf(() => unavailableInstead(() => open.db.exec(sql)))).toMatchObject({
        message: messageOf(error),
      });
    }
    for (const code of [
      'SQLITE_CONSTRAINT',
      'SQLITE_TOOBIG',
      'UNKNOWN_SQLITE_ERROR_275',
      'UNKNOWN_SQLITE_ERROR_x',
    ]) {
      expect(isUnavailable(new Database.SqliteError('reason', code))).toBe(false);
    }
    expect(isUnavailable(Object.assign(new Error('reason'), { code: 'SQLITE_FULL' }))).toBe(false);
    expect(isUnavailable('SQLITE_FULL')).toBe(false);
  });
});

function errorOfCode(code: string): never {
  throw new Database.SqliteError('reason', code);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

describe('the lock of a data directory', () => {
  it('is held by one at a time', () => {
    const directory = mkdtempSync(join(root, 'lock-'));
    const lock = lockDirectory(directory);
    expect(() => lockDirectory(directory)).toThrow('is in use by another Sched');
    lock.release();
    lockDirectory(directory).release();
  });

  it('does not blame another Sched for a broken file', () => {
    const directory = mkdtempSync(join(root, 'lock-'));
    writeFileSync(join(directory, 'sched.lock'), 'text, and not a database. '.repeat(100));
    const error = errorOf(() => lockDirectory(directory));
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(error).toMatchObject({ message: 'SQLite: file is not a database.' });
  });
});

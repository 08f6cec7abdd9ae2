/**
 * This table says how the store treats an error of SQLite, by its primary result code
 * (https://sqlite.org/rescode.html). An extended code, such as SQLITE_IOERR_FSYNC, means the same as its primary code.
 * Other errors mean that the statement is wrong.
 */
import Database from 'better-sqlite3';
import { StoreUnavailable } from '#src/ports/store.ts';

/** The disk, the file or a lock is at fault, and not the statement. Each code has its number. */
export const UNAVAILABLE = {
  /** The file may not be opened with these permissions. */
  SQLITE_PERM: 3,
  /** Another connection writes, and did not end in time. */
  SQLITE_BUSY: 5,
  /** Another statement of the same connection holds the table. */
  SQLITE_LOCKED: 6,
  SQLITE_NOMEM: 7,
  /** The file or its directory became read-only, or the file was moved. */
  SQLITE_READONLY: 8,
  SQLITE_IOERR: 10,
  SQLITE_CORRUPT: 11,
  /** The disk is full. */
  SQLITE_FULL: 13,
  SQLITE_CANTOPEN: 14,
  /** The locks of the write-ahead log could not be had. */
  SQLITE_PROTOCOL: 15,
  /** The disk cannot store files of this size. */
  SQLITE_NOLFS: 22,
  /** The file is not a database. */
  SQLITE_NOTADB: 26,
} as const;

type UnavailableCode = keyof typeof UNAVAILABLE;

const CODES = Object.keys(UNAVAILABLE) as UnavailableCode[];

/** An extended code that the driver does not know has a number instead of a name. Its low byte is the primary code. */
const UNNAMED = 'UNKNOWN_SQLITE_ERROR_';
const PRIMARY_MASK = 0xff;

function unavailableCode(error: unknown): UnavailableCode | undefined {
  if (!(error instanceof Database.SqliteError)) return undefined;
  const { code } = error;
  if (code.startsWith(UNNAMED)) {
    const primary = Number(code.slice(UNNAMED.length)) & PRIMARY_MASK;
    return CODES.find((name) => UNAVAILABLE[name] === primary);
  }
  return CODES.find((name) => code === name || code.startsWith(`${name}_`));
}

export function isUnavailable(error: unknown): error is Error {
  return unavailableCode(error) !== undefined;
}

/** Whether another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return unavailableCode(error) === 'SQLITE_BUSY';
}

export function unavailableInstead<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (isUnavailable(error)) throw new StoreUnavailable(`SQLite: ${error.message}.`, { cause: error });
    throw error;
  }
}

/** An error in a form that threads can exchange. */
export interface Failure {
  readonly failed: string;
  /** Whether the disk or the file is at fault. */
  readonly unavailable: boolean;
}

export function failureOf(error: unknown): Failure {
  return {
    failed: error instanceof Error ? error.message : String(error),
    unavailable: isUnavailable(error),
  };
}

/** `what` names the work that failed, if the store is not at fault. */
export function errorOf({ failed, unavailable }: Failure, what: string): Error {
  return unavailable ? new StoreUnavailable(`SQLite: ${failed}.`) : new Error(`${what} failed: ${failed}.`);
}

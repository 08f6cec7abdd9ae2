/**
 * Copies the data of a SQLite file into an empty PostgreSQL database. Every row is copied unchanged, with ids,
 * partitions and sealed bytes. A service on PostgreSQL then continues where the old one stopped, and also finds
 * claims of dead processes.
 *
 * There is one transaction on each side. That of SQLite keeps commands from writing; the service must be stopped,
 * and the caller holds its directory lock. That of PostgreSQL commits everything or nothing. It locks the table of
 * projects, so that no node creates its first project. Before the commit each table is compared by a summary
 * (`summary.ts`), and any difference ends the move.
 *
 * Rows are copied in pages, in the order of their keys. The next page is read while one is written.
 *
 * If the answer to the commit is lost, the outcome is looked up. Locking the table of projects waits for the
 * transaction that holds it, so the result is final.
 */
import type { Client } from 'pg';
import { StoreUnavailable } from '#src/ports/store.ts';
import { pause, type Timers } from '#src/ports/system.ts';
import { isUnavailable } from '#src/store/postgres/errors.ts';
import type { Db } from '#src/store/sqlite/connection.ts';
import { pagesOf } from './pages.ts';
import { RunningSummary, storedSummary } from './summary.ts';
import { TABLES, type Table } from './tables.ts';

export interface MoveDependencies {
  /** The file has at least one project. */
  readonly source: Db;
  /** Opens a connection to a database whose schema is up to date. */
  readonly connect: () => Promise<Client>;
  readonly timers: Timers;
  /** Called from time to time. */
  readonly progress: (progress: Progress) => void;
  /** Called before the commit. From here on all data may be stored, even if an error follows. */
  readonly committing: () => void;
  /** Called when it is known that nothing was stored. */
  readonly undone: () => void;
}

export interface Progress {
  readonly table: string;
  /** Rows of this table so far. */
  readonly rows: number;
}

/** The number of rows of each table. */
export type Moved = ReadonlyMap<string, number>;
export type MoveRefusal = 'target_is_not_empty';

const COMMIT_ATTEMPTS_MAX = 30;
const COMMIT_PAUSE_MS = 1_000;

/** A move may take hours, so the limits of the server are removed. */
const NO_TIME_LIMITS = `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = 0`;
/** Others can read, but not write. */
const LOCK_PROJECTS = 'LOCK TABLE projects IN SHARE ROW EXCLUSIVE MODE';
const ANY_PROJECT = 'SELECT 1 FROM projects LIMIT 1';
/** The next project gets partitions after the existing ones. */
const CONTINUE_NUMBERS = `SELECT setval(pg_get_serial_sequence('partitions', 'partition'), max(partition))
  FROM partitions`;

export async function move(dependencies: MoveDependencies): Promise<Moved | MoveRefusal> {
  const { source } = dependencies;
  source.exec('BEGIN IMMEDIATE');
  try {
    return await moveInto(await dependencies.connect(), dependencies);
  } finally {
    source.exec('ROLLBACK');
  }
}

async function moveInto(client: Client, dependencies: MoveDependencies): Promise<Moved | MoveRefusal> {
  try {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
    await client.query(NO_TIME_LIMITS);
    await client.query(LOCK_PROJECTS);
    if ((await client.query(ANY_PROJECT)).rows.length > 0) return 'target_is_not_empty';
    const moved = new Map<string, number>();
    for (const table of TABLES) moved.set(table.name, await moveTable(client, table, dependencies));
    await client.query(CONTINUE_NUMBERS);
    await commit(client, dependencies);
    await analyze(client);
    return moved;
  } finally {
    // This rolls back what was not committed.
    await client.end().catch(() => undefined);
  }
}

async function moveTable(
  client: Client,
  table: Table,
  { source, progress }: MoveDependencies,
): Promise<number> {
  const given = new RunningSummary();
  let written: Promise<unknown> = Promise.resolve();
  for (const { arrays, rows } of pagesOf(source, table)) {
    for (const row of rows) given.add(row);
    await written;
    progress({ table: table.name, rows: given.rows });
    written = client.query(table.insert, [...arrays]);
    // The result is awaited with the next page. Until then an error without a handler would end the process.
    written.catch(() => undefined);
  }
  await written;
  const stored = await storedSummary(client, table);
  if (stored.rows !== given.rows || stored.sum !== given.sum) {
    throw new StoreUnavailable(
      `The table ${table.name} has other rows than were written: ${stored.rows} stored, ${given.rows} written.`,
    );
  }
  return given.rows;
}

async function commit(client: Client, dependencies: MoveDependencies): Promise<void> {
  dependencies.committing();
  try {
    await client.query('COMMIT');
  } catch (error) {
    if (isUnavailable(error) && (await isCommitted(dependencies))) return;
    dependencies.undone();
    throw error;
  }
}

async function isCommitted({ connect, timers }: MoveDependencies): Promise<boolean> {
  for (let attempts = 1; attempts <= COMMIT_ATTEMPTS_MAX; attempts++) {
    try {
      return await holdsProject(await connect());
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await pause(timers, COMMIT_PAUSE_MS);
    }
  }
  throw new StoreUnavailable(
    'The connection was lost during the commit, and it is not known whether the data was stored. Run the same command again: if it refuses because the database has a project, everything has been moved.',
  );
}

async function holdsProject(client: Client): Promise<boolean> {
  try {
    await client.query('BEGIN');
    await client.query(LOCK_PROJECTS);
    return (await client.query(ANY_PROJECT)).rows.length > 0;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Collects statistics, so that the first queries get good plans. The server would do this later by itself. */
async function analyze(client: Client): Promise<void> {
  for (const { name } of TABLES) await client.query(`ANALYZE ${name}`).catch(() => undefined);
}

/**
 * Copies all that a SQLite file holds into an empty PostgreSQL: every row as it is, with its ids, its numbers
 * and its sealed bytes, so that whoever goes on there finds what was left here, claims of a dead process too.
 *
 * There is one transaction on each side. That of SQLite keeps commands from writing meanwhile; the service has to
 * be stopped, and whoever calls this holds its directory. That of PostgreSQL makes it all or nothing, and holds
 * the table of projects, so that no node makes its first one meanwhile. Before it is committed, each table is
 * summed up on both sides (`summary.ts`), and any difference ends it.
 *
 * Rows go over in pages, in the order of their keys; while one is written the next one is made ready.
 *
 * A commit whose answer is lost is looked up: to get the table of projects is to wait for the transaction that
 * holds it, so whatever is found then is final.
 */
import type { Client } from 'pg';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Timers } from '#src/ports/system.ts';
import { isUnavailable } from '#src/store/postgres/faults.ts';
import type { Db } from '#src/store/sqlite/connection.ts';
import { pagesOf } from './pages.ts';
import { RunningSummary, storedSummary } from './summary.ts';
import { TABLES, type Table } from './tables.ts';

export interface MoveDependencies {
  /** Has at least one project. */
  readonly source: Db;
  /** Opens a connection to a database whose schema is up to date. */
  readonly connect: () => Promise<Client>;
  readonly timers: Timers;
  /** Told now and then how far it is. */
  readonly progress: (progress: Progress) => void;
  /** From here on it may be that everything is there, whatever is heard of it. */
  readonly committing: () => void;
  /** It has turned out that nothing is. */
  readonly undone: () => void;
}

export interface Progress {
  readonly table: string;
  /** Of this table. */
  readonly rows: number;
}

/** How many rows each table had. */
export type Moved = ReadonlyMap<string, number>;
export type MoveRefusal = 'target_is_not_empty';

const COMMIT_ATTEMPTS_MAX = 30;
const COMMIT_PAUSE_MS = 1_000;

/** Whatever the server is set to: it may take hours. */
const UNHURRIED = `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = 0`;
/** Lets others read, and nobody write. */
const HOLD_PROJECTS = 'LOCK TABLE projects IN SHARE ROW EXCLUSIVE MODE';
const ANY_PROJECT = 'SELECT 1 FROM projects LIMIT 1';
/** The next project gets the numbers after those that are taken. */
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
    await client.query(UNHURRIED);
    await client.query(HOLD_PROJECTS);
    if ((await client.query(ANY_PROJECT)).rows.length > 0) return 'target_is_not_empty';
    const moved = new Map<string, number>();
    for (const table of TABLES) moved.set(table.name, await moveTable(client, table, dependencies));
    await client.query(CONTINUE_NUMBERS);
    await commit(client, dependencies);
    await analyze(client);
    return moved;
  } finally {
    // What was not committed is undone by this.
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
    // It is awaited with the next page; unheard until then, it would end the process.
    written.catch(() => undefined);
  }
  await written;
  const stored = await storedSummary(client, table);
  if (stored.rows !== given.rows || stored.sum !== given.sum) {
    throw new StoreUnavailable(
      `The table ${table.name} has other rows than were written: ${stored.rows}, not ${given.rows}, or not the same.`,
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
      await new Promise<void>((resolve) => void timers.after(COMMIT_PAUSE_MS, resolve));
    }
  }
  throw new StoreUnavailable(
    'The database went away at the very end. Run the same again: if it is refused because the database has a project, everything has been moved.',
  );
}

async function holdsProject(client: Client): Promise<boolean> {
  try {
    await client.query('BEGIN');
    await client.query(HOLD_PROJECTS);
    return (await client.query(ANY_PROJECT)).rows.length > 0;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** So that the first questions are planned well; the server would do it by itself, but later. */
async function analyze(client: Client): Promise<void> {
  for (const { name } of TABLES) await client.query(`ANALYZE ${name}`).catch(() => undefined);
}

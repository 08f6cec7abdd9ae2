/** The SQL statements of this folder. SQLite and PostgreSQL both accept them. */
import Database from 'better-sqlite3';
import { query } from '../../test/postgres/databases.ts';
import type { SchedStore } from '../sched/service.ts';
import { fileOf, flushFile } from '../stored/filled-stores.ts';

const BUSY_MS_MAX = 30_000;

/** Returns the rows, if there are any. The service may run meanwhile. */
export async function runStatement(store: SchedStore, sql: string): Promise<readonly unknown[]> {
  if (store.kind === 'postgres') return query(store.url, sql);
  const db = new Database(fileOf(store.directory), { fileMustExist: true, timeout: BUSY_MS_MAX });
  try {
    const statement = db.prepare(sql);
    if (statement.reader) return statement.all();
    statement.run();
    return [];
  } finally {
    db.close();
  }
}

/** The store does its maintenance now. Otherwise it would do it during the measurement. */
export async function flushStore(store: SchedStore): Promise<void> {
  if (store.kind === 'postgres') {
    for (const table of ['schedules', 'deliveries']) await query(store.url, `VACUUM (ANALYZE) ${table}`);
    await query(store.url, 'CHECKPOINT');
    return;
  }
  const file = fileOf(store.directory);
  const db = new Database(file, { fileMustExist: true });
  try {
    db.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    db.close();
  }
  flushFile(file);
}

/** Counts the attempts of all customers that were closed as `interrupted`. */
export async function interruptedIn(store: SchedStore): Promise<number> {
  const rows = await runStatement(
    store,
    "SELECT count(*) AS found FROM attempts WHERE error = 'interrupted'",
  );
  return numberOf(rows, 'found');
}

/** Counts the deliveries of a customer that have not ended. */
export async function waitingIn(store: SchedStore, partition: number): Promise<number> {
  const rows = await runStatement(
    store,
    `SELECT count(*) AS found FROM deliveries
     WHERE partition = ${partition} AND status IN ('scheduled', 'retry_scheduled', 'claimed')`,
  );
  return numberOf(rows, 'found');
}

export async function partitionOf(store: SchedStore, project: string): Promise<number> {
  const rows = await runStatement(
    store,
    `SELECT partition AS found FROM partitions
     WHERE mode = 'test' AND project_id = (SELECT id FROM projects WHERE name = '${project}')`,
  );
  return numberOf(rows, 'found');
}

/** PostgreSQL returns large numbers as text. */
function numberOf(rows: readonly unknown[], column: string): number {
  const [row] = rows as readonly Readonly<Record<string, string | number>>[];
  const value = row?.[column];
  if (value === undefined) throw new Error(`The store has no ${column}.`);
  return Number(value);
}

/**
 * Moves the due instants of a customer's schedules and deliveries, as if they had been created for the new instants.
 * Distances between them stay. The service must not run meanwhile.
 */
export async function shiftDueInstants(store: SchedStore, partition: number, byMs: number): Promise<void> {
  const moved = (column: string) => `${column} = ${column} + CAST(${byMs} AS bigint)`;
  await runStatement(store, `UPDATE schedules SET ${moved('fire_at')} WHERE partition = ${partition}`);
  const columns = ['occurrence', 'scheduled_for', 'due_at'].map(moved);
  await runStatement(store, `UPDATE deliveries SET ${columns.join(', ')} WHERE partition = ${partition}`);
  await flushStore(store);
}

/** The table of `sched reseal` has every column that can hold a sealed value, in both stores. */
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { connect } from '#src/store/postgres/connect.ts';
import { migrate as migratePostgres } from '#src/store/postgres/schema-version.ts';
import { SEALED_COLUMNS } from '#src/store/sql/sealed-columns.ts';
import { migrate as migrateSqlite } from '#src/store/sqlite/connection.ts';
import { systemTimers } from '#src/system/timers.ts';
import { addressOf } from '#test/postgres/contract-databases.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { START } from '#test/store-contract/builders.ts';

/** Binary columns that are not sealed: digests of labels, and zeros that reserve space on the disk. */
const NOT_SEALED = ['schedule_labels.digest', 'disk_probe.bytes'];

const sealed = Object.values(SEALED_COLUMNS).map(({ table, column }) => `${table}.${column}`);

interface Column {
  readonly place: string;
  readonly isKey: boolean;
}

function expectAllKnown(bytes: readonly string[], keys: ReadonlyMap<string, readonly string[]>): void {
  const notSealed = NOT_SEALED.filter((place) => bytes.includes(place));
  expect([...bytes].toSorted()).toEqual([...sealed, ...notSealed].toSorted());
  // Reading in the order of a key that is not unique would skip rows.
  for (const { table, key } of Object.values(SEALED_COLUMNS)) {
    expect(key).toEqual(expect.arrayContaining([...(keys.get(table) ?? ['a primary key'])]));
  }
}

function keysOf(columns: readonly Column[]): ReadonlyMap<string, readonly string[]> {
  const keys = columns.filter(({ isKey }) => isKey).map(({ place }) => place.split('.'));
  const byTable = Map.groupBy(keys, ([table = '']) => table);
  return new Map([...byTable].map(([table, rows]) => [table, rows.map(([, column = '']) => column)]));
}

test('SQLite', () => {
  using db = closing(new Database(':memory:'));
  migrateSqlite(db.value, START);
  const columns = db.value
    .prepare<[], Column & { readonly type: string }>(
      `SELECT t.name || '.' || c.name AS place, c.type, c.pk > 0 AS isKey
       FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`,
    )
    .all();
  const bytes = columns.filter(({ type }) => type === 'BLOB').map(({ place }) => place);
  expectAllKnown(bytes, keysOf(columns));
});

test('PostgreSQL', async () => {
  await using database = await createDatabase(await sharedPostgres());
  const client = await connect(addressOf(database.url), { timers: systemTimers });
  try {
    await migratePostgres(client, START, async () => {});
    const { rows } = await client.query<Column & { readonly type: string }>(
      `SELECT c.table_name || '.' || c.column_name AS place, c.data_type AS type, EXISTS (
           SELECT 1 FROM information_schema.table_constraints p
           JOIN information_schema.key_column_usage k USING (constraint_name, table_name)
           WHERE p.constraint_type = 'PRIMARY KEY' AND p.table_name = c.table_name
             AND k.column_name = c.column_name) AS "isKey"
       FROM information_schema.columns c WHERE c.table_schema = current_schema()`,
    );
    const bytes = rows.filter(({ type }) => type === 'bytea').map(({ place }) => place);
    expectAllKnown(bytes, keysOf(rows));
  } finally {
    await client.end();
  }
});

function closing<T extends { close(): unknown }>(value: T): Disposable & { readonly value: T } {
  return { value, [Symbol.dispose]: () => void value.close() };
}

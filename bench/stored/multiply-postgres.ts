/** Multiplies rows in PostgreSQL. The server does the work, so no child process is needed. */
import { Client } from 'pg';
import {
  conditionOf,
  type Multiplication,
  type MultipliedTable,
  multiplyingStatement,
  requireCountable,
  tablesOf,
  templateOf,
} from './multiply.ts';

/** Settings of this session only: indexes are sorted in memory, and commits do not wait for the disk. */
const SESSION = [
  "SET maintenance_work_mem = '512MB'",
  "SET work_mem = '64MB'",
  'SET synchronous_commit = off',
  'SET max_parallel_maintenance_workers = 2',
];

interface Constraint {
  readonly name: string;
  readonly definition: string;
}

export async function multiplyPostgres(url: string, multiplication: Multiplication): Promise<void> {
  requireCountable(multiplication);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const setting of SESSION) await client.query(setting);
    for (const table of tablesOf(multiplication)) await multiplyTable(client, table, multiplication);
    // A database that was filled over months would have been vacuumed and analysed too.
    await client.query('VACUUM (ANALYZE)');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

async function multiplyTable(
  client: Client,
  table: MultipliedTable,
  multiplication: Multiplication,
): Promise<void> {
  const condition = conditionOf(multiplication, table);
  const read = async <T extends object>(sql: string) => (await client.query<T>(sql, [table])).rows;
  const columns = await read<{ readonly name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
  );
  const keys = await read<Constraint>(
    `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
     WHERE conrelid = $1::text::regclass AND contype IN ('p', 'u')`,
  );
  const indexes = await read<Constraint>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid = $1::text::regclass
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
  );
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  for (const { name } of keys) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  await client.query(
    `CREATE TEMP TABLE ${templateOf(table)} AS SELECT * FROM ${table} WHERE ${condition} ORDER BY 1, 2`,
  );
  await client.query(`DELETE FROM ${table} WHERE ${condition}`);
  const series = `generate_series(0, ${multiplication.copies - 1}) AS copies (copy)`;
  const names = columns.map(({ name }) => name);
  await client.query(multiplyingStatement(multiplication, table, names, series));
  for (const { name, definition } of keys) {
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
  }
  for (const { definition } of indexes) await client.query(definition);
}

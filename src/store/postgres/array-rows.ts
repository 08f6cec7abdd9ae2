/**
 * Rows are passed as arrays, one for each column. Each array is cast to the type that the schema gives its column. A
 * name has the same type in every table, so the name is enough.
 */
import { type Migration, sqlOf } from '#src/store/sql/migration.ts';
import type { Parameter } from '#src/store/sql/steps.ts';
import { MIGRATIONS } from './migrations.ts';
import type { SqlValue } from './parameter-encoding.ts';

/** The parameters of each row. */
export type ParameterRows = readonly (readonly Parameter[])[];

/** Parameters that are not columns, and the column that they are compared with or stored in. */
const COLUMN_OF: Readonly<Record<string, string>> = {
  was: 'revision',
  was_state: 'state',
  was_check_at: 'check_at',
  now: 'expires_at',
  batch_max: 'attempt_count',
  position: 'attempt_count',
  after_id: 'id',
  notifies_from: 'notify',
  notifies_until: 'notify',
  status_1: 'status',
  status_2: 'status',
  status_3: 'status',
  unattempted_to: 'status',
  attempted_to: 'status',
};

const TABLE = /^CREATE TABLE \w+ \(\n(.*?)\n\)/gms;
const COLUMN = /^ {2}([a-z_]+) (text|bigint|integer|bytea)\b/gm;
const ADDED = /\bADD COLUMN ([a-z_]+) (text|bigint|integer|bytea)\b/g;

/** Reads the type of each column from the statements that create it. */
export function columnTypes(migrations: readonly Migration[]): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const sql of migrations.map(sqlOf)) {
    const tables = Array.from(sql.matchAll(TABLE), ([, body = '']) => body);
    const columns = [...tables.flatMap((body) => [...body.matchAll(COLUMN)]), ...sql.matchAll(ADDED)];
    for (const [, column = '', type = ''] of columns) {
      if ((types.get(column) ?? type) !== type) throw new Error(`${column} has two types in the schema.`);
      types.set(column, type);
    }
  }
  return types;
}

let types: ReadonlyMap<string, string> | null = null;

export function typeOf(column: string): string {
  types ??= columnTypes(MIGRATIONS);
  const type = types.get(COLUMN_OF[column] ?? column);
  if (type === undefined) throw new Error(`The schema has no column ${column}.`);
  return type;
}

/** `unnest($1::bigint[], …) AS t (partition, …)` */
export function rows(columns: readonly string[], from = 1): string {
  const arrays = columns.map((column, index) => `$${index + from}::${typeOf(column)}[]`);
  return `unnest(${arrays.join(', ')}) AS t (${columns.join(', ')})`;
}

/** The arrays for `rows`. */
export function columnsOf(all: ParameterRows): SqlValue[] {
  const [first = []] = all;
  return first.map((_, column) => all.map((row) => row[column] ?? null));
}

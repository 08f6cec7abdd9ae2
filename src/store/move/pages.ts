/** Reads the rows of a SQLite table in pages of limited size, encoded for PostgreSQL. */
import { encodeText } from '#src/store/postgres/parameter-encoding.ts';
import type { Db } from '#src/store/sqlite/connection.ts';
import { columnsOf, type Row, type Table, type Value } from './tables.ts';

/** The rows, and the values of each column as an array. */
export interface Page {
  readonly arrays: readonly (readonly Value[])[];
  readonly rows: readonly (readonly Value[])[];
}

const PAGE_ROWS_MAX = 1_000;
/** Large payloads reach this limit first. A single row may be larger. */
const PAGE_CHARACTERS_MAX = 4_000_000;

export function* pagesOf(db: Db, table: Table): Generator<Page> {
  let rows: (readonly Value[])[] = [];
  let characters = 0;
  for (const row of db.prepare<[], Row>(selectOf(table)).iterate()) {
    const values = valuesOf(table, row);
    rows.push(values);
    for (const value of values) characters += lengthOf(value);
    if (rows.length === PAGE_ROWS_MAX || characters >= PAGE_CHARACTERS_MAX) {
      yield pageOf(table, rows);
      rows = [];
      characters = 0;
    }
  }
  if (rows.length > 0) yield pageOf(table, rows);
}

function selectOf({ name, columns, keyColumns }: Table): string {
  return `SELECT ${columns.join(', ')} FROM ${name} ORDER BY ${columns.slice(0, keyColumns).join(', ')}`;
}

function valuesOf({ columns, added }: Table, row: Row): readonly Value[] {
  const own = columns.map((column) => row[column] ?? null);
  return [...own, ...(added?.of(row) ?? [])].map((value) =>
    typeof value === 'string' ? encodeText(value) : value,
  );
}

function pageOf(table: Table, rows: readonly (readonly Value[])[]): Page {
  return { rows, arrays: columnsOf(table).map((_, index) => rows.map((row) => row[index] ?? null)) };
}

function lengthOf(value: Value): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 1;
}

import type { SealedColumn } from '#src/store/sql/sealed-columns.ts';

export interface Statement {
  readonly sql: string;
  /** When the statement held: always, if it changed one row, found a row, or found none. */
  readonly holds: 'always' | 'changed_one' | 'found' | 'found_none';
}

export function insertInto(table: string, ...columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}

/** Replaces a row, if its revision is still the one that was read. */
export function replaceIn(table: string, columns: readonly string[]): string {
  const assignments = columns.map((column) => `${column} = ?`);
  return `UPDATE ${table} SET ${assignments.join(', ')} WHERE partition = ? AND id = ? AND revision = ?`;
}

/** Replaces a sealed value, if it is still the one that was read. */
export function resealIn({ table, key, column }: SealedColumn): Statement {
  const which = key.map((part) => `${part} = ?`).join(' AND ');
  return {
    sql: `UPDATE ${table} SET ${column} = ? WHERE ${which} AND ${column} = ?`,
    holds: 'changed_one',
  };
}

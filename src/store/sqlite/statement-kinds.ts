export interface Statement {
  readonly sql: string;
  /** When it did what it was for: it changed one row, found a row, or found none. */
  readonly holds: 'always' | 'changed_one' | 'found' | 'found_none';
}

export function insertInto(table: string, ...columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}

/** Replaces a row that still has the revision it was read with. */
export function replaceIn(table: string, columns: readonly string[]): string {
  const assignments = columns.map((column) => `${column} = ?`);
  return `UPDATE ${table} SET ${assignments.join(', ')} WHERE partition = ? AND id = ? AND revision = ?`;
}

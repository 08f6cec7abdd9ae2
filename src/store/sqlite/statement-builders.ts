const LOCK = / FOR (NO KEY UPDATE|UPDATE|SHARE|KEY SHARE)$/;

/**
 * The text of a shared statement or query for SQLite. It takes `?` where they have `$1`, which works because each
 * parameter is used once and in order. A single writer needs no locks.
 */
export function forSqlite(sql: string): string {
  return sql.replace(LOCK, '').replaceAll(/\$\d+/g, '?');
}

export function insertInto(table: string, ...columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}

/** Replaces a row, if its revision is still the one that was read. `also`: assignments without parameters. */
export function replaceIn(table: string, columns: readonly string[], ...also: readonly string[]): string {
  const assignments = [...columns.map((column) => `${column} = ?`), ...also];
  return `UPDATE ${table} SET ${assignments.join(', ')} WHERE partition = ? AND id = ? AND revision = ?`;
}

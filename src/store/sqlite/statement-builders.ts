import type { ConditionSyntax, Described } from '#src/store/sql/hot-statements.ts';

const LOCK = / FOR (NO KEY UPDATE|UPDATE|SHARE|KEY SHARE)$/;

/**
 * The text of a shared statement or query for SQLite. It takes `?` where they have `$1`, which works because each
 * parameter is used once and in order. A single writer needs no locks.
 *
 * SQLite plans by the value of a parameter that is a limit, so it would prepare the statement again for every run. A
 * page of schedules then takes 0.6 ms instead of 0.07 ms. It does not look at the value of a sum.
 */
export function forSqlite(sql: string): string {
  return sql.replace(LOCK, '').replaceAll(/\$\d+/g, '?').replaceAll('LIMIT ?', 'LIMIT ? + 0');
}

export function indexedBy(index: string): string {
  return `INDEXED BY ${index}`;
}

export function tellsOf(notification: string, of: string): string {
  return `${notification}.partition = ${of}.partition AND ${notification}.notification_of = ${of}.id`;
}

const OF_CONDITIONS: ConditionSyntax = { indexedBy, tellsOf };

const AT_REVISION = 'partition = ? AND id = ? AND revision = ?';

/** Makes the text of a statement that `hot-statements.ts` describes. */
export function textOf(statement: Described): string {
  const { kind, table } = statement;
  switch (kind) {
    case 'insert':
      return `${insertInto(table, statement.columns)} ${statement.conflict}`;
    case 'replace': {
      const { columns, also, same, condition } = statement;
      const assignments = columns.map((column) => `${column} = ?`);
      if (also !== undefined) assignments.push(also);
      const conditions = [AT_REVISION];
      if (same !== undefined) conditions.push(`${same} IS ?`);
      if (condition !== undefined) conditions.push(condition(table, OF_CONDITIONS));
      return `UPDATE ${table} SET ${assignments.join(', ')} WHERE ${conditions.join(' AND ')}`;
    }
    case 'remove': {
      const { columns, compare } = statement;
      const compared = compare === undefined ? '' : ` AND ${compare[0]} ${compare[1]} ?`;
      return `DELETE FROM ${table} WHERE ${equal(columns)}${compared}`;
    }
    case 'removeRevision': {
      const { condition } = statement;
      const more = condition === undefined ? '' : ` AND ${condition(table, OF_CONDITIONS)}`;
      return `DELETE FROM ${table} WHERE ${AT_REVISION}${more}`;
    }
    case 'check':
      return `SELECT 1 FROM ${table} WHERE ${equal(statement.columns)}`;
  }
}

export function insertInto(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}

function equal(columns: readonly string[]): string {
  return columns.map((column) => `${column} = ?`).join(' AND ');
}

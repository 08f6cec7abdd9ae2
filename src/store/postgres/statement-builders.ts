/**
 * Builds statements, each for any number of rows. A parameter is an array with one value per row, and `unnest` turns
 * the arrays into rows.
 *
 * A statement that may fail for a row returns the rows for which it held, by the columns of `key`. With `none` it
 * returns those for which it did not hold. Checks lock the rows that they find, so the result is still true at the
 * commit.
 */
import type { Statement as SharedStatement } from '#src/store/sql/statements.ts';
import { rows } from './array-rows.ts';
import type { PlacedText, Placement } from './placement.ts';

export interface Statement extends PlacedText {
  readonly holds: 'always' | 'each' | 'none';
  /** Positions of the parameters that identify a row. */
  readonly key: readonly number[];
  /** Positions of the parameters that a result row repeats. Default: the key. */
  readonly match?: readonly number[];
  /** Verbs that write rows with the same table and key do not share a transaction. */
  readonly table: string;
  readonly access: 'read' | 'write';
  /**
   * Whether rows are found other than by a whole key. A plan that was made for small tables would then be bad later.
   */
  readonly scans?: true;
  /** Locks the rows before several statements change their table (see `stages.ts`). */
  readonly lock?: Statement;
  /** Whether the rows are always locked before the statement. */
  readonly locksFirst?: true;
  /** Whether the text is that of every store: its parameters are the values of one row, not arrays. */
  readonly isShared?: true;
}

const HOLDS = { always: 'always', one_row: 'each', no_row: 'none' } as const;

/** A shared statement as this store runs it. Such statements are rare, so their plans are not kept. */
export function sharedStatement({ sql, holds }: SharedStatement): Statement {
  const isWrite = !sql.startsWith('SELECT');
  return {
    ...PLAIN,
    sql: isWrite && holds !== 'always' ? `${sql} RETURNING 1` : sql,
    holds: HOLDS[holds],
    scans: true,
    isShared: true,
    key: [],
    table: '',
  };
}

/** The defaults of most statements: a write that always holds. */
export const PLAIN = { holds: 'always', access: 'write' } as const;

interface Replacing {
  /** Further assignments, without parameters. */
  readonly also?: string;
  /** Parameters of the condition, after those of every replacement. */
  readonly guard?: readonly string[];
  readonly condition?: string;
}

export function statementBuilders({ forAll, forEachPartition }: Placement) {
  function insert(table: string, columns: readonly string[], conflict = ''): Statement {
    return {
      sql: `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM ${rows(columns)}${conflict}`,
      ...PLAIN,
      key: positionsOf(columns, ['partition', 'id']),
      table,
    };
  }

  /** Inserts rows that do not exist yet. */
  function insertEach(
    table: string,
    columns: readonly string[],
    key: readonly string[],
    conflict: string,
  ): Statement {
    const { sql, ...statement } = insert(table, columns, ` ${conflict} RETURNING ${key.join(', ')}`);
    return { ...statement, sql, holds: 'each', key: positionsOf(columns, key) };
  }

  /** Replaces rows that meet the condition, if their revision is still the one that was read. */
  function replace(table: string, columns: readonly string[], more: Replacing = {}): Statement {
    const { also, guard = [], condition = 'true' } = more;
    const all = [...columns, 'partition', 'id', 'was', ...guard];
    const assignments = columns.map((column) => `${column} = t.${column}`);
    if (also !== undefined) assignments.push(also);
    return {
      ...forAll(
        all,
        (within) => `UPDATE ${table} AS r SET ${assignments.join(', ')} FROM ${rows(all)}
         WHERE r.partition = t.partition AND r.id = t.id AND r.revision = t.was${within} AND ${condition}
         RETURNING r.partition, r.id`,
      ),
      holds: 'each',
      key: positionsOf(all, ['partition', 'id']),
      table,
      access: 'write',
      lock: lock(table),
    };
  }

  /** Locks rows as a write would, without changing them. */
  function lock(table: string): Statement {
    return {
      ...forEachPartition(
        ({ from, partitionOf }) => `SELECT r.partition, r.id FROM ${from(['partition', 'id'])}
         JOIN ${table} AS r ON r.partition = ${partitionOf('t')} AND r.id = t.id FOR NO KEY UPDATE OF r`,
      ),
      holds: 'each',
      key: [0, 1],
      table,
      access: 'write',
    };
  }

  function remove(table: string, columns: readonly string[], condition = matching(columns)): Statement {
    return {
      ...forAll(
        columns,
        (within) => `DELETE FROM ${table} AS r USING ${rows(columns)} WHERE ${condition}${within}`,
      ),
      ...PLAIN,
      key: columns.map((_, index) => index),
      table,
    };
  }

  /** Finds rows with these values, and locks them against changes until the end of the transaction. */
  function check(table: string, columns: readonly string[]): Statement {
    const [, ...rest] = columns;
    // Two verbs may check one row for different values. The result repeats the values, so each verb knows its own.
    const found = columns.map((column) => `r.${column}`).join(', ');
    return {
      match: columns.map((_, position) => position),
      ...forEachPartition(
        ({ from, partitionOf }) => `SELECT ${found} FROM ${from(columns)}
         JOIN ${table} AS r ON r.partition = ${partitionOf('t')} AND ${matching(rest)} FOR SHARE OF r`,
      ),
      holds: 'each',
      key: positionsOf(columns, ['partition', 'id']),
      table,
      access: 'read',
    };
  }

  return { insert, insertEach, replace, lock, remove, check };
}

function matching(columns: readonly string[]): string {
  return columns.map((column) => `r.${column} = t.${column}`).join(' AND ');
}

export function positionsOf(columns: readonly string[], key: readonly string[]): readonly number[] {
  return key.map((column) => columns.indexOf(column)).filter((index) => index >= 0);
}

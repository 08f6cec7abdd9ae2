/**
 * The kinds of statements there are, each for any number of rows at once: a parameter is an array with a value for
 * each row, and `unnest` makes rows of them again.
 *
 * A statement that may fail for a row returns the rows for which it held (or, for `none`, did not), by the
 * columns that `key` names. Checks lock what they found until the end of the transaction: what was found is
 * then still so when it is committed.
 *
 * Citus locks rows of one partition at a time only: there a check is asked for each partition, by `routed`.
 */
import type { SealedColumn } from '#src/store/sql/sealed-columns.ts';
import { rows } from './array-rows.ts';

export interface Statement {
  /** Run in this order, with the same parameters; the last one answers. */
  readonly sql: readonly string[];
  /** The same for rows of one partition, which is the first parameter, a single value. */
  readonly routed: string | null;
  readonly holds: 'always' | 'each' | 'none';
  /** Which parameters tell a row from the others. */
  readonly key: readonly number[];
  /** Which parameters a row of the answer repeats; the key, where nothing else is said. */
  readonly match?: readonly number[];
  /** What the row belongs to: rows of the same table and key are not written together. */
  readonly table: string;
  readonly access: 'read' | 'write';
  /** Whether rows are looked for otherwise than by a whole key: then a plan made for small tables is no good later. */
  readonly scans?: true;
  /** Locks rows that it changes, where others of their table are changed along with them (see `waves.ts`). */
  readonly lock?: Statement;
  /** Which parameter is the partition, where each that occurs has to be named once more; else null. */
  readonly spread: number | null;
}

/** What most statements are; a write that always holds. */
export const PLAIN = { routed: null, holds: 'always', access: 'write', spread: null } as const;

/** `distributed`: by Citus. */
export function statementBuilders(distributed: boolean) {
  const spreadOf = (columns: readonly string[]) => {
    const position = columns.indexOf('partition');
    return distributed && position >= 0 ? position : null;
  };
  /** Lets Citus see which shards are meant: by a last parameter with every partition once. */
  const within = (columns: readonly string[]) =>
    spreadOf(columns) === null ? '' : ` AND r.partition = ANY($${columns.length + 1}::bigint[])`;

  function insert(table: string, columns: readonly string[], conflict = ''): Statement {
    return {
      sql: [
        `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM ${rows(columns)}${conflict}`,
      ],
      ...PLAIN,
      key: positionsOf(columns, ['partition', 'id']),
      table,
    };
  }

  /** Inserts what is not there yet. */
  function insertEach(
    table: string,
    columns: readonly string[],
    key: readonly string[],
    conflict: string,
  ): Statement {
    const { sql, ...statement } = insert(table, columns, ` ${conflict} RETURNING ${key.join(', ')}`);
    return { ...statement, sql, holds: 'each', key: positionsOf(columns, key) };
  }

  /** Replaces rows that still have the revision they were read with, and meet the condition. */
  function replace(table: string, columns: readonly string[], condition = 'true'): Statement {
    const all = [...columns, 'partition', 'id', 'was'];
    const assignments = columns.map((column) => `${column} = t.${column}`);
    return {
      sql: [
        `UPDATE ${table} AS r SET ${assignments.join(', ')} FROM ${rows(all)}
         WHERE r.partition = t.partition AND r.id = t.id AND r.revision = t.was${within(all)} AND ${condition}
         RETURNING r.partition, r.id`,
      ],
      routed: null,
      holds: 'each',
      key: positionsOf(all, ['partition', 'id']),
      table,
      access: 'write',
      lock: lock(table),
      spread: spreadOf(all),
    };
  }

  /** Takes the rows, as a write would, and leaves them as they are. */
  function lock(table: string): Statement {
    return {
      sql: [
        `SELECT r.partition, r.id FROM ${rows(['partition', 'id'])}
         JOIN ${table} AS r ON ${matching(['partition', 'id'])} FOR NO KEY UPDATE OF r`,
      ],
      routed: `SELECT r.partition, r.id FROM ${table} AS r JOIN ${rows(['id'], 2)} ON ${matching(['id'])}
         WHERE r.partition = $1::bigint FOR NO KEY UPDATE OF r`,
      holds: 'each',
      key: [0, 1],
      table,
      access: 'write',
      spread: null,
    };
  }

  function remove(table: string, columns: readonly string[], condition = matching(columns)): Statement {
    return {
      sql: [`DELETE FROM ${table} AS r USING ${rows(columns)} WHERE ${condition}${within(columns)}`],
      routed: null,
      holds: 'always',
      key: columns.map((_, index) => index),
      table,
      access: 'write',
      spread: spreadOf(columns),
    };
  }

  /** Finds rows with these values and keeps them as they are until the end of the transaction. */
  function check(table: string, columns: readonly string[]): Statement {
    const [, ...rest] = columns;
    // Two may ask for the same row with different values: the answer is to the one that asked for what is there.
    const found = columns.map((column) => `r.${column}`).join(', ');
    return {
      match: columns.map((_, position) => position),
      sql: [
        `SELECT ${found} FROM ${rows(columns)} JOIN ${table} AS r ON ${matching(columns)} FOR SHARE OF r`,
      ],
      routed: `SELECT ${found} FROM ${table} AS r JOIN ${rows(rest, 2)} ON ${matching(rest)}
         WHERE r.partition = $1::bigint FOR SHARE OF r`,
      holds: 'each',
      key: positionsOf(columns, ['partition', 'id']),
      table,
      access: 'read',
      spread: null,
    };
  }

  /** Replaces sealed values that are still as they were read. It is rare, so no plan of it is kept. */
  function reseal({ table, key, column }: SealedColumn): Statement {
    const all = ['sealed', ...key, 'was_sealed'];
    return {
      ...PLAIN,
      sql: [
        `UPDATE ${table} AS r SET ${column} = t.sealed FROM ${rows(all)}
         WHERE ${matching(key)} AND r.${column} = t.was_sealed${within(all)}
         RETURNING ${key.map((part) => `r.${part}`).join(', ')}`,
      ],
      holds: 'each',
      scans: true,
      key: positionsOf(all, key),
      table,
      spread: spreadOf(all),
    };
  }

  return { spreadOf, within, insert, insertEach, replace, lock, remove, check, reseal };
}

function matching(columns: readonly string[]): string {
  return columns.map((column) => `r.${column} = t.${column}`).join(' AND ');
}

export function positionsOf(columns: readonly string[], key: readonly string[]): readonly number[] {
  return key.map((column) => columns.indexOf(column)).filter((index) => index >= 0);
}

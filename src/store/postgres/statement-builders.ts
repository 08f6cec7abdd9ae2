/**
 * Builds statements, each for any number of rows. A parameter is an array with one value per row, and `unnest` turns
 * the arrays into rows.
 *
 * A statement that may fail for a row returns the rows for which it held, by the columns of `key`. With `no_row` it
 * returns those for which it did not hold. Checks lock the rows that they find, so the result is still true at the
 * commit.
 */
import type {
  Check,
  Described,
  Insert,
  Remove,
  RemoveRevision,
  Replace,
} from '#src/store/sql/hot-statements.ts';
import type { Statement as SharedStatement } from '#src/store/sql/statements.ts';
import { rows } from './array-rows.ts';
import { chosenByPlanner, type PlacedText, type Placement } from './placement.ts';

/** A hot statement; `hot-statements.ts` says when it holds. */
export type Text = Omit<Statement, 'holds'>;

export interface Statement extends PlacedText {
  /** `one_row` and `no_row` are about each row of the parameters. */
  readonly holds: SharedStatement['holds'];
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

/** A shared statement as this store runs it. Such statements are rare, so their plans are not kept. */
export function sharedStatement({ sql, holds }: SharedStatement): Statement {
  const isWrite = !sql.startsWith('SELECT');
  return {
    sql: isWrite && holds !== 'always' ? `${sql} RETURNING 1` : sql,
    holds,
    scans: true,
    isShared: true,
    key: [],
    table: '',
    access: 'write',
  };
}

/** Columns of a delivery that only this store has (see `verbs.ts`). They follow from its target. */
export const TARGET_KEY = ['slot', 'endpoint_digest'] as const;

/** A statement that writes the target of a delivery takes the values of these columns too, after all others. */
function withTargetKey(table: string, columns: readonly string[]): readonly string[] {
  return table === 'deliveries' && columns.includes('url') ? [...columns, ...TARGET_KEY] : columns;
}

export function insertRows(table: string, columns: readonly string[], rest = ''): string {
  const names = columns.join(', ');
  return `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${rows(columns)} ${rest}`;
}

export function matching(columns: readonly string[]): string {
  return columns.map((column) => `r.${column} = t.${column}`).join(' AND ');
}

export function positionsOf(columns: readonly string[], key: readonly string[]): readonly number[] {
  return key.map((column) => columns.indexOf(column));
}

const ROW = ['partition', 'id'];
const REVISION = [...ROW, 'was'];
const AT_REVISION = `${matching(ROW)} AND r.revision = t.was`;
const FOUND = 'RETURNING r.partition, r.id';

/** Makes the statements that `hot-statements.ts` describes. */
export function statementMaker(placement: Placement): (described: Described) => Text {
  return (described) => {
    switch (described.kind) {
      case 'insert':
        return insert(described);
      case 'replace':
        return replace(placement, described);
      case 'remove':
        return remove(placement, described);
      case 'removeRevision':
        return removeRevision(placement, described);
      case 'check':
        return check(placement, described);
    }
  };
}

function insert({ table, columns, key, conflict, holds }: Insert): Text {
  const all = withTargetKey(table, columns);
  const rest = holds === 'always' ? conflict : `${conflict} RETURNING ${key.join(', ')}`;
  return { sql: insertRows(table, all, rest), key: positionsOf(all, key), table, access: 'write' };
}

function replace(placement: Placement, { table, columns, also, same, condition }: Replace): Text {
  const changed = withTargetKey(table, columns);
  const all = [...changed, ...REVISION, ...(same === undefined ? [] : [same])];
  const assignments = changed.map((column) => `${column} = t.${column}`);
  if (also !== undefined) assignments.push(also);
  const conditions = [
    ...(same === undefined ? [] : [`r.${same} IS NOT DISTINCT FROM t.${same}`]),
    ...(condition === undefined ? [] : [condition('r', chosenByPlanner)]),
  ];
  return {
    ...placement.forAll(
      all,
      (within) => `UPDATE ${table} AS r SET ${assignments.join(', ')} FROM ${rows(all)}
         WHERE ${[`${AT_REVISION}${within}`, ...conditions].join(' AND ')} ${FOUND}`,
    ),
    key: positionsOf(all, ROW),
    table,
    access: 'write',
    lock: lock(placement, table),
  };
}

function remove(placement: Placement, { table, columns, compare, key, isOld }: Remove): Text {
  const all = compare === undefined ? columns : [...columns, compare[2]];
  const compared = compare === undefined ? '' : ` AND r.${compare[0]} ${compare[1]} t.${compare[2]}`;
  return {
    ...deletion(placement, table, all, `${matching(columns)}${compared}`),
    key: positionsOf(all, key),
    table: isOld ? `old ${table}` : table,
    access: 'write',
    ...(isOld ? { scans: true } : {}),
  };
}

/** The rows are locked before a condition about other tables, so it sees the rows of earlier transactions. */
function removeRevision(placement: Placement, { table, condition }: RemoveRevision): Text {
  const rest = condition === undefined ? '' : `AND ${condition('r', chosenByPlanner)}`;
  return {
    ...deletion(placement, table, REVISION, AT_REVISION, `${rest} ${FOUND}`),
    key: positionsOf(REVISION, ROW),
    table,
    access: 'write',
    lock: lock(placement, table),
    ...(condition === undefined ? {} : { scans: true, locksFirst: true }),
  };
}

export function deletion(
  { forAll }: Placement,
  table: string,
  columns: readonly string[],
  condition: string,
  rest = '',
): PlacedText {
  return forAll(
    columns,
    (within) => `DELETE FROM ${table} AS r USING ${rows(columns)} WHERE ${condition}${within} ${rest}`,
  );
}

/** Locks rows as a write would, without changing them. */
function lock({ forEachPartition }: Placement, table: string): Statement {
  return {
    ...forEachPartition(
      ({ from, partitionOf }) => `SELECT r.partition, r.id FROM ${from(ROW)}
         JOIN ${table} AS r ON r.partition = ${partitionOf('t')} AND r.id = t.id FOR NO KEY UPDATE OF r`,
    ),
    holds: 'one_row',
    key: [0, 1],
    table,
    access: 'write',
  };
}

/** Locks the rows that it finds against changes until the end of the transaction. */
function check({ forEachPartition }: Placement, { table, columns }: Check): Text {
  const [, ...rest] = columns;
  // Two verbs may check one row for different values. The result repeats the values, so each verb knows its own.
  const found = columns.map((column) => `r.${column}`).join(', ');
  return {
    ...forEachPartition(
      ({ from, partitionOf }) => `SELECT ${found} FROM ${from(columns)}
         JOIN ${table} AS r ON r.partition = ${partitionOf('t')} AND ${matching(rest)} FOR SHARE OF r`,
    ),
    key: positionsOf(columns, ROW),
    match: columns.map((_, position) => position),
    table,
    access: 'read',
  };
}

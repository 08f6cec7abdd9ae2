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
  ConditionSyntax,
  Described,
  Insert,
  Remove,
  RemoveRevision,
  Replace,
} from '#src/store/sql/hot-statements.ts';
import type { Statement as SharedStatement } from '#src/store/sql/statements.ts';
import { chosenByPlanner, type PlacedText, type Placement, type RowSource } from './placement.ts';

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
export function sharedStatement({ sharedText }: Placement, { sql, holds }: SharedStatement): Statement {
  const isWrite = !sql.startsWith('SELECT');
  return {
    ...sharedText(isWrite && holds !== 'always' ? `${sql} RETURNING 1` : sql),
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

/** The condition that these columns of the row `r` have the values of the parameters. */
export function matching(columns: readonly string[], { value }: RowSource): string {
  return columns.map((column) => `r.${column} = ${value(column)}`).join(' AND ');
}

/** The tables of a statement: the rows of its parameters, if they are one, and others. */
export function tables({ table }: RowSource, ...others: readonly string[]): string {
  return (table === null ? others : [table, ...others]).join(', ');
}

/** The rows of the parameters in a statement that changes `r`, after this word. */
export function rowsIn(word: 'FROM' | 'USING', { table }: RowSource): string {
  return table === null ? '' : `${word} ${table}`;
}

export function positionsOf(columns: readonly string[], key: readonly string[]): readonly number[] {
  return key.map((column) => columns.indexOf(column));
}

const ROW = ['partition', 'id'];
const REVISION = [...ROW, 'was'];

function atRevision(source: RowSource): string {
  return `${matching(ROW, source)} AND r.revision = ${source.value('was')}`;
}

const FOUND = 'RETURNING r.partition, r.id';

/** Makes the statements that `hot-statements.ts` describes. */
export function statementMaker(placement: Placement): (described: Described) => Text {
  return (described) => {
    switch (described.kind) {
      case 'insert':
        return insert(placement, described);
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

/** A range, because with equality the planner may read all notifications at once. */
export function tellsOf(notification: string, of: string): string {
  const key = `${notification}.notification_of || '/' || ${notification}.id`;
  return `${notification}.partition = ${of}.partition AND ${notification}.notification_of IS NOT NULL
      AND ${key} >= ${of}.id || '/' AND ${key} < ${of}.id || '0'`;
}

const OF_CONDITIONS: ConditionSyntax = { indexedBy: chosenByPlanner, tellsOf };

function insert(placement: Placement, { table, columns, key, conflict, holds }: Insert): Text {
  const all = withTargetKey(table, columns);
  const rest = holds === 'always' ? conflict : `${conflict} RETURNING ${key.join(', ')}`;
  return {
    ...placement.insertText(table, all, rest),
    key: positionsOf(all, key),
    table,
    access: 'write',
  };
}

function replace(placement: Placement, { table, columns, also, same, condition }: Replace): Text {
  const changed = withTargetKey(table, columns);
  const all = [...changed, ...REVISION, ...(same === undefined ? [] : [same])];
  return {
    ...placement.text(all, (source) => {
      const assignments = changed.map((column) => `${column} = ${source.value(column)}`);
      if (also !== undefined) assignments.push(also);
      const conditions = [
        atRevision(source),
        ...(same === undefined ? [] : [`r.${same} IS NOT DISTINCT FROM ${source.value(same)}`]),
        ...(condition === undefined ? [] : [condition('r', OF_CONDITIONS)]),
      ];
      return `UPDATE ${table} AS r SET ${assignments.join(', ')} ${rowsIn('FROM', source)}
         WHERE ${conditions.join(' AND ')} ${FOUND}`;
    }),
    key: positionsOf(all, ROW),
    table,
    access: 'write',
    lock: lock(placement, table),
  };
}

function remove(placement: Placement, { table, columns, compare, key, isOld }: Remove): Text {
  const all = compare === undefined ? columns : [...columns, compare[2]];
  return {
    ...deletion(placement, table, all, (source) => {
      const compared =
        compare === undefined ? '' : ` AND r.${compare[0]} ${compare[1]} ${source.value(compare[2])}`;
      return `${matching(columns, source)}${compared}`;
    }),
    key: positionsOf(all, key),
    table: isOld ? `old ${table}` : table,
    access: 'write',
    ...(isOld ? { scans: true } : {}),
  };
}

/** The rows are locked before a condition about other tables, so it sees the rows of earlier transactions. */
function removeRevision(placement: Placement, { table, condition }: RemoveRevision): Text {
  const rest = condition === undefined ? '' : ` AND ${condition('r', OF_CONDITIONS)}`;
  return {
    ...deletion(placement, table, REVISION, (source) => `${atRevision(source)}${rest} ${FOUND}`),
    key: positionsOf(REVISION, ROW),
    table,
    access: 'write',
    lock: lock(placement, table),
    ...(condition === undefined ? {} : { scans: true, locksFirst: true }),
  };
}

/** Removes the rows `r` that meet the condition. */
export function deletion(
  { text }: Placement,
  table: string,
  columns: readonly string[],
  condition: (source: RowSource) => string,
): PlacedText {
  return text(
    columns,
    (source) => `DELETE FROM ${table} AS r ${rowsIn('USING', source)} WHERE ${condition(source)}`,
  );
}

/** Locks rows as a write would, without changing them. */
function lock({ text }: Placement, table: string): Statement {
  return {
    ...text(
      ROW,
      (source) => `SELECT r.partition, r.id FROM ${tables(source, `${table} AS r`)}
         WHERE ${matching(ROW, source)} FOR NO KEY UPDATE OF r`,
    ),
    holds: 'one_row',
    key: [0, 1],
    table,
    access: 'write',
  };
}

/** Locks the rows that it finds against changes until the end of the transaction. */
function check({ text }: Placement, { table, columns }: Check): Text {
  // Two verbs may check one row for different values. The result repeats the values, so each verb knows its own.
  const found = columns.map((column) => `r.${column}`).join(', ');
  return {
    ...text(
      columns,
      (source) => `SELECT ${found} FROM ${tables(source, `${table} AS r`)}
         WHERE ${matching(columns, source)} FOR SHARE OF r`,
    ),
    key: positionsOf(columns, ROW),
    match: columns.map((_, position) => position),
    table,
    access: 'read',
  };
}

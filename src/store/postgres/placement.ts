/**
 * A placement says where the rows of customers are stored, and how statements find them. On one server there is little
 * to say. `citus.ts` is the same for a cluster whose workers share the rows.
 */
import type { Partition } from '#src/domain/project.ts';
import type { OldestStatsQueries } from '#src/store/sql/dialect.ts';
import { oldestStats } from '#src/store/sql/stats-retention.ts';
import { columnsOf, type ParameterRows, rows } from './array-rows.ts';
import { type DueScans, slotDueScans } from './due-reads.ts';
import type { SqlValue } from './parameter-encoding.ts';
import type { Reader } from './read-pool.ts';
import { type NumberRow, numberOfWriter } from './transaction-numbers.ts';

/** PostgreSQL cannot be told which index to use. `plans.test.ts` checks that it is the right one. */
export function chosenByPlanner(): string {
  return '';
}

/** The rows of a statement's parameters, as parts of its text. */
export interface RowSource {
  /** The value of this column in a row. `alias`: a table that repeats the columns of the rows. */
  readonly value: (column: string, alias?: string) => string;
  /** The rows as a table `t`; null if there is only one row, and its values are parameters. */
  readonly table: string | null;
}

/** Rows that are a table in the text. */
export interface TableSource extends RowSource {
  readonly table: string;
}

export interface PlacedText {
  readonly sql: string;
  /** The query for these rows. Default: the text with an array for each parameter. */
  readonly queryFor?: (rows: ParameterRows) => PlacedQuery;
  /** The position of the partition among the parameters, if all rows of a transaction must be of one partition. */
  readonly partitionAt?: number;
}

export interface PlacedQuery {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

export interface Placement {
  /** Settings of every session. */
  readonly settings: readonly string[];
  /** Whether the server may keep the plans of statements. */
  readonly cachesPlans: boolean;
  /** Whether a transaction with the checks of all its statements can be sent at once. */
  readonly checksAtOnce: boolean;
  /** How many connections share the transactions of API writes, of claims and settlements, and of upkeep. */
  readonly writers: Readonly<Record<'api' | 'firing' | 'maintenance', number>>;
  /** A text for rows with these columns. */
  readonly text: (columns: readonly string[], text: (source: RowSource) => string) => PlacedText;
  /** The same, but the rows are always a table. */
  readonly tableText: (columns: readonly string[], text: (source: TableSource) => string) => PlacedText;
  /** A text that inserts rows, and ends with `rest`. */
  readonly insertText: (table: string, columns: readonly string[], rest: string) => PlacedText;
  /** A text of every store (see `store/sql/statements.ts`). */
  readonly sharedText: (sql: string) => PlacedText;
  /** The row for the number of a transaction that is about this partition, or about none. */
  readonly numberRow: (writer: string, partition: Partition | null) => NumberRow;
  /** Whether a query or a transaction can be about only one customer. */
  readonly worksByCustomer: boolean;
  /** Splits a list into parts that one query can look up. */
  together<Item extends { readonly partition: Partition }>(
    items: readonly Item[],
  ): readonly (readonly Item[])[];
  /** Joins the row with this whole key. */
  readonly rowOf: (table: string, alias: string, condition: string) => string;
  readonly dueScans: (reader: Reader) => DueScans;
  readonly oldestStats: OldestStatsQueries;
}

/** The rows of the parameters, as a table with an array for each column. */
export function arraySource(columns: readonly string[]): TableSource {
  return { value: (column, alias = 't') => `${alias}.${column}`, table: rows(columns) };
}

/** Inserts these rows, and ends with `rest`. */
export function insertion(
  source: TableSource,
  table: string,
  columns: readonly string[],
  rest: string,
): string {
  const values = columns.map((column) => source.value(column)).join(', ');
  return `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values} FROM ${source.table} ${rest}`;
}

export const ONE_SERVER: Placement = {
  settings: [],
  cachesPlans: true,
  checksAtOnce: true,
  writers: { api: 1, firing: 1, maintenance: 1 },
  text: (columns, text) => ({ sql: text(arraySource(columns)) }),
  tableText: (columns, text) => ({ sql: text(arraySource(columns)) }),
  insertText: (table, columns, rest) => ({ sql: insertion(arraySource(columns), table, columns, rest) }),
  sharedText: (sql) => ({ sql }),
  numberRow: numberOfWriter,
  worksByCustomer: false,
  together: (items) => (items.length === 0 ? [] : [items]),
  // A subquery of its own. If the planner may choose the join, it sometimes takes the partition from one table and
  // the id from another, and scans a whole partition.
  rowOf: (table, alias, condition) =>
    `CROSS JOIN LATERAL (SELECT * FROM ${table} ${alias} WHERE ${condition} OFFSET 0) ${alias}`,
  dueScans: slotDueScans,
  oldestStats: oldestStats(chosenByPlanner),
};

/** The query of a text for these rows. */
export function queryOf({ sql, queryFor }: PlacedText, all: ParameterRows): PlacedQuery {
  return queryFor?.(all) ?? { sql, parameters: columnsOf(all) };
}

/**
 * The texts of statements about the rows of one partition, for Citus. It must see in the text, or in a parameter, which
 * partition a statement is about. Planning takes most of the time of a statement, so a few rows have another text than
 * many.
 */
import { columnsOf, type ParameterRows, rows, typeOf } from './array-rows.ts';
import {
  arraySource,
  insertion,
  type PlacedQuery,
  type PlacedText,
  type RowSource,
  type TableSource,
} from './placement.ts';

export const PARTITION = 'partition';

/**
 * Up to this number of values, rows are inserted as `VALUES`. Citus copies rows of arrays to the worker, which takes it
 * as long for two rows as for sixteen.
 */
const VALUES_MAX = 120;

/**
 * The text for a single row, whose values are parameters. Citus is twice as fast without a table of parameters. Only
 * the columns that the text names are passed.
 */
function oneRowText(columns: readonly string[], textFor: (source: RowSource) => string) {
  const named: string[] = [];
  const value = (column: string) => {
    if (!named.includes(column)) named.push(column);
    return `$${named.indexOf(column) + 1}::${typeOf(column)}`;
  };
  const sql = textFor({ value, table: null });
  const positions = named.map((column) => columns.indexOf(column));
  return (row: ParameterRows[number]): PlacedQuery => ({
    sql,
    parameters: positions.map((position) => row[position] ?? null),
  });
}

/** Several rows of one partition, which is the first parameter. Citus sees by it which shard the statement is about. */
function rowsOfPartition(columns: readonly string[]): TableSource {
  const others = columns.filter((column) => column !== PARTITION);
  return {
    value: (column, alias = 't') => (column === PARTITION ? '$1::bigint' : `${alias}.${column}`),
    table: rows(others, 2),
  };
}

function rowsQuery(sql: string, partitionAt: number, all: ParameterRows): PlacedQuery {
  const others = all.map((row) => row.toSpliced(partitionAt, 1));
  return { sql, parameters: [all[0]?.[partitionAt] ?? null, ...columnsOf(others)] };
}

export function tableText(columns: readonly string[], text: (source: TableSource) => string): PlacedText {
  const partitionAt = columns.indexOf(PARTITION);
  if (partitionAt < 0) return { sql: text(arraySource(columns)) };
  const sql = text(rowsOfPartition(columns));
  return { sql, partitionAt, queryFor: (all) => rowsQuery(sql, partitionAt, all) };
}

export function rowText(columns: readonly string[], textFor: (source: RowSource) => string): PlacedText {
  const many = tableText(columns, textFor);
  const { partitionAt } = many;
  if (partitionAt === undefined) return many;
  const queryForOne = oneRowText(columns, textFor);
  return {
    ...many,
    queryFor: (all) => {
      const [first = []] = all;
      return all.length === 1 ? queryForOne(first) : rowsQuery(many.sql, partitionAt, all);
    },
  };
}

/** Inserts rows, and ends with `rest`. */
export function insertText(table: string, columns: readonly string[], rest: string): PlacedText {
  const many = tableText(columns, (source) => insertion(source, table, columns, rest));
  const { partitionAt } = many;
  if (partitionAt === undefined) return many;
  const types = columns.map(typeOf);
  const valuesText = (count: number) => {
    const values = Array.from({ length: count }, (_, row) => {
      const ofRow = types.map((type, column) => `$${row * types.length + column + 1}::${type}`);
      return `(${ofRow.join(', ')})`;
    });
    return `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values.join(', ')} ${rest}`;
  };
  const texts = Array.from({ length: Math.max(Math.floor(VALUES_MAX / columns.length), 1) }, (_, index) =>
    valuesText(index + 1),
  );
  return {
    ...many,
    queryFor: (all) => {
      const sql = texts[all.length - 1];
      return sql === undefined ? rowsQuery(many.sql, partitionAt, all) : { sql, parameters: all.flat() };
    },
  };
}

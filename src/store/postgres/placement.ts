/**
 * A placement says where the rows of customers are stored, and how queries find them. On one server there is nothing
 * to say. `citus.ts` is the same for a cluster whose workers share the rows.
 */
import type { OldestStatsQueries } from '#src/store/sql/dialect.ts';
import { oldestStats } from '#src/store/sql/stats-retention.ts';
import { type ParameterRows, rows } from './array-rows.ts';
import { type DueScans, slotDueScans } from './due-reads.ts';
import type { SqlValue } from './parameter-encoding.ts';
import type { Reader } from './read-pool.ts';

/** PostgreSQL cannot be told which index to use. `plans.test.ts` checks that it is the right one. */
export function chosenByPlanner(): string {
  return '';
}

/** The rows of a statement's parameters, as a source in its text. */
export interface RowSource {
  readonly from: (columns: readonly string[]) => string;
  /** The partition of a row of this alias. */
  readonly partitionOf: (alias: string) => string;
}

export interface PlacedText {
  readonly sql: string;
  /** The queries for these rows. Default: the text once, with an array for each parameter. */
  readonly queriesFor?: (rows: ParameterRows) => readonly PlacedQuery[];
}

export interface PlacedQuery {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

export interface Placement {
  /** Whether the server may keep the plans of statements. */
  readonly cachesPlans: boolean;
  /** Whether a transaction with the checks of all its statements can be sent at once. */
  readonly checksAtOnce: boolean;
  /** Joins the row with this whole key. */
  readonly rowOf: (table: string, alias: string, condition: string) => string;
  /** A condition for the partitions of the parameter at this position. */
  readonly within: (alias: string, position: number) => string;
  /** The parameter for `within`, if it is needed. */
  routing<Partition>(partitions: readonly Partition[]): readonly (readonly Partition[])[];
  /** A text for rows of all partitions. The condition that is passed in belongs to the table `r`. */
  readonly forAll: (columns: readonly string[], text: (within: string) => string) => PlacedText;
  /** A text that locks rows or has a subquery. The first of its columns is the partition. */
  readonly forEachPartition: (text: (source: RowSource) => string) => PlacedText;
  readonly dueScans: (reader: Reader) => DueScans;
  readonly oldestStats: OldestStatsQueries;
}

const ALL_PARTITIONS: RowSource = { from: rows, partitionOf: (alias) => `${alias}.partition` };

export const ONE_SERVER: Placement = {
  cachesPlans: true,
  checksAtOnce: true,
  // A subquery of its own. If the planner may choose the join, it sometimes takes the partition from one table and
  // the id from another, and scans a whole partition.
  rowOf: (table, alias, condition) =>
    `CROSS JOIN LATERAL (SELECT * FROM ${table} ${alias} WHERE ${condition} OFFSET 0) ${alias}`,
  within: () => '',
  routing: () => [],
  forAll: (_, text) => ({ sql: text('') }),
  forEachPartition: (text) => ({ sql: text(ALL_PARTITIONS) }),
  dueScans: slotDueScans,
  oldestStats: oldestStats(chosenByPlanner),
};

/**
 * Where the rows of customers are stored, and how queries find them there. On one server there is nothing to say.
 * `citus.ts` is the same for a cluster whose workers share the rows.
 */
import { type DueScans, SlotDueScans } from './due-scans.ts';
import type { Reader } from './read-pool.ts';
import { OLDEST_STATS, type OldestStatsQueries } from './retention-queries.ts';

export interface Placement {
  /** Whether the server may keep the plans of statements. */
  readonly cachesPlans: boolean;
  /** Whether a transaction with the checks of all its statements can be sent at once. */
  readonly checksAtOnce: boolean;
  /** Joins the row with this whole key. */
  rowOf(table: string, alias: string, condition: string): string;
  /** A condition for the partitions of the parameter at this position. */
  within(alias: string, position: number): string;
  /** The parameter for `within`, if it is needed. */
  routing<Partition>(partitions: readonly Partition[]): readonly (readonly Partition[])[];
  dueScans(reader: Reader): DueScans;
  readonly oldestStats: OldestStatsQueries;
}

export const ONE_SERVER: Placement = {
  cachesPlans: true,
  checksAtOnce: true,
  // A subquery of its own. If the planner may choose the join, it sometimes takes the partition from one table and
  // the id from another, and scans a whole partition.
  rowOf: (table, alias, condition) =>
    `CROSS JOIN LATERAL (SELECT * FROM ${table} ${alias} WHERE ${condition} OFFSET 0) ${alias}`,
  within: () => '',
  routing: () => [],
  dueScans: (reader) => new SlotDueScans(reader),
  oldestStats: OLDEST_STATS,
};

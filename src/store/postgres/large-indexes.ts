/**
 * Indexes on tables that may have many rows. Building one in the transaction of its migration would stop all writes to
 * its table, so it is built after the migration, beside running nodes. A build that was interrupted leaves an index
 * behind that is not valid. It is built again at the next start.
 */
import type { Queryable } from './connect.ts';
import { codeOf, isTemporary } from './errors.ts';
import type { LargeIndex, PostgresMigration } from './migrations.ts';

export function indexesOf(migrations: readonly PostgresMigration[]): readonly LargeIndex[] {
  return migrations.flatMap(({ indexes = [] }) => indexes);
}

interface FoundIndex {
  readonly name: string;
  readonly is_valid: boolean | null;
  /** Another node is building it. */
  readonly is_in_progress: boolean;
}

const FIND = `SELECT wanted.name, i.indisvalid AS is_valid, EXISTS (
    SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid) AS is_in_progress
  FROM unnest($1::text[]) AS wanted (name) LEFT JOIN pg_index i ON i.indexrelid = to_regclass(wanted.name)`;

/** The error codes of two nodes that build the same index: duplicate_table and unique_violation. */
const BUILT_ELSEWHERE: ReadonlySet<unknown> = new Set(['42P07', '23505']);

const PAUSE_MS = 1_000;
const ATTEMPTS_MAX = 30;

/**
 * Builds the indexes that are missing, unless another node is building some: it builds all. Each statement is sent alone,
 * because it cannot be in a transaction.
 */
export async function buildIndexes(
  client: Queryable,
  wanted: readonly LargeIndex[],
  pause: (ms: number) => Promise<void>,
): Promise<void> {
  for (let attempts = 1; attempts <= ATTEMPTS_MAX; attempts++) {
    const { rows } = await client.query(FIND, [wanted.map(({ name }) => name)]);
    const found = rows as readonly FoundIndex[];
    const missing = found.filter((index) => index.is_valid !== true);
    if (missing.length === 0 || missing.some((index) => index.is_in_progress)) return;
    try {
      for (const { name, is_valid } of missing) {
        const index = wanted.find((one) => one.name === name);
        if (is_valid === false) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
        await client.query(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON ${index?.on}`);
      }
    } catch (error) {
      // Another node began at the same time. Of two builds, one may be ended as a deadlock.
      if (!BUILT_ELSEWHERE.has(codeOf(error)) && !isTemporary(error)) throw error;
      await pause(PAUSE_MS);
    }
  }
}

/** Builds the indexes of a database without rows, in the transaction that creates its tables. */
export async function createIndexes(client: Queryable, wanted: readonly LargeIndex[]): Promise<void> {
  for (const { name, on } of wanted) await client.query(`CREATE INDEX ${name} ON ${on}`);
}

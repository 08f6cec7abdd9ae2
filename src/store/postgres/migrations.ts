/**
 * Tables are created in the first schema of the connection's search path.
 *
 * During a rolling upgrade, nodes of the previous version work with the new schema. `worksWith` names the oldest
 * schema version whose programs still can. A migration is one transaction beside running nodes, so it must not lock
 * a table for long.
 */
import type { Migration } from '#src/store/sql/migration.ts';

/** The expressions of the indexes `schedules_by_state` and `deliveries_by_status`. */
export const STATE_KEY = "state || '/' || kind || '/' || id";
export const STATUS_KEY = "status || '/' || id";

export interface PostgresMigration extends Migration {
  /** The oldest schema version whose programs work with the migrated database. */
  readonly worksWith: number;
}

export const MIGRATIONS: readonly PostgresMigration[] = [
  { version: 1, name: 'schema.sql', worksWith: 1, sql: new URL('./schema.sql', import.meta.url) },
];

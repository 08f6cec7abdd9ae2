/**
 * Tables are created in the first schema of the connection's search path.
 *
 * During a rolling upgrade, nodes of the previous version work with the new schema. `worksWith` names the oldest
 * schema version whose programs still can. A migration is one transaction beside running nodes, so it must not lock
 * a table for long.
 */
import type { Migration } from '#src/store/sql/migration.ts';
import { BREAKER_NOT_CLOSED } from '#src/store/sql/rows.ts';

/** The expressions of the indexes `schedules_by_state` and `deliveries_by_status`. */
export const STATE_KEY = "state || '/' || kind || '/' || id";
export const STATUS_KEY = "status || '/' || id";
/** Text that is indexed is compared by bytes. */
export const OUTCOME_KEY = 'outcome COLLATE "C"';
/** Of the lists of an endpoint profile. */
export const ENDPOINT_STATE_KEY = "endpoint_id || '/' || state || '/' || kind || '/' || id";
export const ENDPOINT_STATUS_KEY = "endpoint_id || '/' || status || '/' || id";
export const ENDPOINT_OUTCOME_KEY = "endpoint_id || '/' || outcome";
/** Of the replays of a delivery. */
export const REPLAY_KEY = "replay_of || '/' || id";
/** The key of a notification among those of a delivery. */
export const NOTIFICATION_KEY = "notification_of || '/' || id";

/** An index on a table that may have many rows. */
export interface LargeIndex {
  readonly name: string;
  /** The table and the columns. */
  readonly on: string;
}

export interface PostgresMigration extends Migration {
  /** The oldest schema version whose programs work with the migrated database. */
  readonly worksWith: number;
  /** The first version of the program that has this schema. */
  readonly since: string;
  /** Where there may be rows, they are built after the migration, beside running nodes. */
  readonly indexes?: readonly LargeIndex[];
}

const INDEXES_2: readonly LargeIndex[] = [
  { name: 'attempts_by_time', on: `attempts (partition, (${OUTCOME_KEY}), finished_at, id)` },
  {
    name: 'attempts_of_endpoint',
    on: `attempts (partition, (${ENDPOINT_OUTCOME_KEY}), finished_at, id) WHERE endpoint_id IS NOT NULL`,
  },
  {
    name: 'deliveries_of_endpoint',
    on: `deliveries (partition, (${ENDPOINT_STATUS_KEY})) WHERE endpoint_id IS NOT NULL`,
  },
  {
    name: 'deliveries_replays',
    on: `deliveries (partition, (${REPLAY_KEY})) WHERE replay_of IS NOT NULL`,
  },
  {
    name: 'schedules_of_endpoint',
    on: `schedules (partition, (${ENDPOINT_STATE_KEY})) WHERE endpoint_id IS NOT NULL`,
  },
];

const INDEXES_3: readonly LargeIndex[] = [
  {
    name: 'deliveries_notifications',
    on: `deliveries (partition, (${NOTIFICATION_KEY})) WHERE notification_of IS NOT NULL`,
  },
  {
    name: 'schedules_notifying',
    on: `schedules (partition, notify) WHERE notify IS NOT NULL AND state IN ('active', 'paused')`,
  },
  { name: 'gates_open', on: `gates (partition, saved_at) WHERE ${BREAKER_NOT_CLOSED}` },
];

export const MIGRATIONS: readonly PostgresMigration[] = [
  {
    version: 1,
    name: 'schema.sql',
    worksWith: 1,
    since: '0.1.0',
    sql: new URL('./schema.sql', import.meta.url),
  },
  {
    version: 2,
    name: 'schema-2.sql',
    worksWith: 1,
    since: '0.2.0',
    sql: new URL('./schema-2.sql', import.meta.url),
    indexes: INDEXES_2,
  },
  {
    version: 3,
    name: 'schema-3.sql',
    worksWith: 1,
    since: '0.3.0',
    sql: new URL('./schema-3.sql', import.meta.url),
    indexes: INDEXES_3,
  },
];

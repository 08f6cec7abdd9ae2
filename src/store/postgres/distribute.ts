/**
 * Citus distribution. Tables with customers' data are distributed by partition. Small tables that every query needs
 * are copied to every server. Tables of nodes and users stay on the coordinator.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Queryable } from './connect.ts';

const DISTRIBUTED = [
  'deliveries',
  'schedules',
  'schedule_labels',
  'payloads',
  'attempts',
  'receipts',
  'endpoint_profiles',
  'endpoint_profile_versions',
  'endpoint_secrets',
  'gates',
  'stats',
  'endpoint_stats',
  'breaker_resets',
  'replay_jobs',
  'replay_items',
  'sweeps',
] as const;
const [FIRST] = DISTRIBUTED;

const COPIED = ['projects', 'partitions', 'api_keys', 'signing_secrets'] as const;

export async function isDistributed(client: Queryable): Promise<boolean> {
  if (!(await hasCitus(client))) return false;
  const spread = await tablesOfCitus(client);
  return DISTRIBUTED.every((table) => spread.has(table));
}

/**
 * Runs before a transaction changes the schema, and returns whether the database is distributed. New tables must
 * then be distributed in the same transaction, or some would be distributed and some not. Citus allows this only if
 * all statements of the transaction use the same connections, so this sets sequential mode.
 */
export async function isToBeDistributed(client: Queryable): Promise<boolean> {
  if (!(await hasCitus(client)) || !(await tablesOfCitus(client)).has(FIRST)) return false;
  await client.query("SET LOCAL citus.multi_shard_modify_mode = 'sequential'");
  return true;
}

async function tablesOfCitus(client: Queryable): Promise<ReadonlySet<string>> {
  const { rows } = await client.query(
    `SELECT name FROM unnest($1::text[]) AS name
     JOIN pg_dist_partition p ON p.logicalrelid = to_regclass(name)`,
    [[...DISTRIBUTED, ...COPIED]],
  );
  return new Set((rows as readonly { readonly name: string }[]).map(({ name }) => name));
}

/** Distributes the tables over the workers. Tables that are distributed already are left as they are. */
export async function distribute(client: Queryable): Promise<void> {
  if (!(await hasCitus(client))) {
    throw new StoreUnavailable('The database has no citus extension: run CREATE EXTENSION citus first.');
  }
  const spread = await tablesOfCitus(client);
  for (const table of COPIED) {
    if (!spread.has(table)) await client.query('SELECT create_reference_table($1)', [table]);
  }
  for (const table of DISTRIBUTED) {
    if (spread.has(table)) continue;
    await client.query(
      table === FIRST
        ? 'SELECT create_distributed_table($1, $2)'
        : 'SELECT create_distributed_table($1, $2, colocate_with => $3)',
      table === FIRST ? [table, 'partition'] : [table, 'partition', FIRST],
    );
  }
}

async function hasCitus(client: Queryable): Promise<boolean> {
  const { rows } = await client.query("SELECT 1 FROM pg_extension WHERE extname = 'citus'");
  return rows.length > 0;
}

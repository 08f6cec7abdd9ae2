/**
 * Citus: the tables of customers' data are spread by the partition, those that every node reads whole are
 * copied to every server, and what nodes tell each other and what is known of people stays where they connect to.
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
  'endpoints',
  'endpoint_versions',
  'endpoint_secrets',
  'gates',
  'tallies',
  'endpoint_tallies',
  'gate_orders',
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
 * Before a transaction changes the schema: answers whether the database was spread, by this schema or an older one.
 * What is added to one that was has to be spread in the same transaction, or some of its tables would be here and
 * some elsewhere; and Citus does that only where every change before it went by the same connections.
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

/** Spreads the tables over the workers; those that are spread already are left as they are. */
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

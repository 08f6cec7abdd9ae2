/**
 * A Citus cluster: several servers that share the rows. What differs there is in this file, and the texts of
 * statements are in `citus-texts.ts`.
 *
 * Tables with customers' data are distributed by partition. Small tables that every query needs are copied to every
 * server. Tables of nodes and users stay on the coordinator. A query is fast if Citus sees in its text and its
 * parameters which partitions it is about.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { OldestStatsQueries } from '#src/store/sql/dialect.ts';
import { PAST_EVERY_ENDPOINT_DIGEST } from '#src/store/sql/digests.ts';
import { DUE_COLUMNS, type DueRow } from '#src/store/sql/due-rows.ts';
import { BEFORE_EVERY_DELIVERY, BEFORE_EVERY_PARTITION } from '#src/store/sql/page-bounds.ts';
import { insertText, PARTITION, rowText, tableText } from './citus-texts.ts';
import type { Queryable } from './connect.ts';
import { type DueScans, WAITING_ANYWHERE } from './due-reads.ts';
import { ONE_SERVER, type PlacedText, type Placement } from './placement.ts';
import type { Reader } from './read-pool.ts';
import type { SlotRow } from './slot-scans.ts';
import { numberOfWriter, numberTexts } from './transaction-numbers.ts';

export const DISTRIBUTED = [
  'deliveries',
  'schedules',
  'schedule_labels',
  'payloads',
  'earlier_payloads',
  'names',
  'attempts',
  'attempt_responses',
  'receipts',
  'endpoint_profiles',
  'endpoint_profile_versions',
  'endpoint_secrets',
  'gates',
  'stats',
  'endpoint_stats',
  'replay_jobs',
  'replay_items',
  'alert_channels',
  'alert_conditions',
  'alert_incidents',
  'alert_messages',
  'sweeps',
  'partition_writers',
] as const;
const [FIRST] = DISTRIBUTED;

/** Small tables that are read far more often than they are changed. */
export const COPIED = ['projects', 'partitions', 'api_keys', 'signing_secrets', 'breaker_resets'] as const;

/**
 * Citus cannot jump to the first row of each partition. It reads all old rows, and an hour of endpoint stats is
 * removed at once.
 */
const OLDEST_STATS: OldestStatsQueries = {
  stats: `SELECT t.partition, min(t.at) AS at FROM partitions p JOIN stats t ON t.partition = p.partition
    WHERE t.span_ms = $1 AND t.at < $2 GROUP BY t.partition LIMIT $3`,
  endpointStats: `SELECT t.partition, min(t.at) AS at, '${PAST_EVERY_ENDPOINT_DIGEST}' AS up_to
    FROM partitions p JOIN endpoint_stats t ON t.partition = p.partition
    WHERE $1::bigint IS NOT NULL AND t.at < $2 GROUP BY t.partition LIMIT $3`,
};

const TABLE = /^(?:INSERT INTO|UPDATE|DELETE FROM|SELECT 1 FROM) (\w+)/;
const INSERTED = /^INSERT INTO \w+ \(([^)]*)\)/;
const COMPARED = /\bpartition = \$(\d+)/;

function sharedText(sql: string): PlacedText {
  const table = TABLE.exec(sql)?.[1] ?? '';
  if (!DISTRIBUTED.some((one) => one === table)) return { sql };
  const inserted = INSERTED.exec(sql)?.[1]?.split(', ').indexOf(PARTITION);
  const partitionAt = inserted ?? Number(COMPARED.exec(sql)?.[1]) - 1;
  return { sql, partitionAt };
}

const NUMBER_IN_PARTITION = numberTexts('partition_writers', [PARTITION, 'writer']);

export const CITUS: Placement = {
  // A query of all shards uses one connection to each worker. By default it opens up to 16, and each of them is slow
  // until it has cached what it needs.
  settings: ['citus.max_adaptive_executor_pool_size=1'],
  cachesPlans: false,
  // A statement with its check takes Citus twice as long as one without.
  checksAtOnce: false,
  // Many transactions are short of time for a commit on a worker's disk, not of processor time.
  writers: { api: 8, firing: 16, maintenance: 4 },
  text: rowText,
  tableText,
  insertText,
  sharedText,
  // The number is stored beside the rows. Only one worker commits, so the number and the rows are stored together.
  numberRow: (writer, partition) =>
    partition === null ? numberOfWriter(writer) : { ...NUMBER_IN_PARTITION, parameters: [partition, writer] },
  worksByCustomer: true,
  together: (items) => [...Map.groupBy(items, ({ partition }) => partition).values()],
  // Citus cannot run a subquery for each row.
  rowOf: (table, alias, condition) => `JOIN ${table} ${alias} ON ${condition}`,
  dueScans: citusDueScans,
  oldestStats: OLDEST_STATS,
};

export async function placementOf(client: Queryable): Promise<Placement> {
  return (await isDistributed(client)) ? CITUS : ONE_SERVER;
}

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
  for (const sql of INDEXES) await client.query(sql);
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

/**
 * Citus cannot scan each slot of a shard by itself, so one index has the due work of a shard in the order of time. It
 * replaces those that begin with the slot.
 */
const INDEXES = [
  'DROP INDEX IF EXISTS deliveries_due_of_slot',
  'DROP INDEX IF EXISTS deliveries_due_of_slot_and_partition',
  `CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (due_at, id) INCLUDE (slot, partition)
    WHERE ${WAITING_ANYWHERE}`,
];

async function hasCitus(client: Queryable): Promise<boolean> {
  const { rows } = await client.query("SELECT 1 FROM pg_extension WHERE extname = 'citus'");
  return rows.length > 0;
}

const DUE = `SELECT ${DUE_COLUMNS} FROM deliveries
  WHERE ${WAITING_ANYWHERE} AND (due_at, id) > ($1, $2) AND due_at <= $3 AND slot = ANY($5::integer[])
  ORDER BY due_at, id LIMIT $4`;

/** Reads all due rows, but no others. */
const CUSTOMERS = `SELECT partition FROM deliveries
  WHERE ${WAITING_ANYWHERE} AND due_at <= $1 AND partition > $2 GROUP BY partition ORDER BY partition LIMIT $3`;

const DUE_OF_CUSTOMER = `SELECT ${DUE_COLUMNS}, slot FROM deliveries
  WHERE ${WAITING_ANYWHERE} AND partition = $1 AND (due_at, id) > ($2, $3) AND due_at <= $4
  ORDER BY due_at, id LIMIT $5`;

/**
 * Citus cannot scan several slots or customers separately in one statement. Each worker finds due rows of all
 * customers, and each customer takes a statement of its own.
 */
function citusDueScans(reader: Reader): DueScans {
  return {
    ofSlots: (slots, { dueAt, id }, until, limit) =>
      reader.query<DueRow>(DUE, dueAt, id, until, limit, [...slots]),
    customers: async (_slots, after, until, limit) => {
      const from = after?.partition ?? BEFORE_EVERY_PARTITION;
      const rows = await reader.query<Pick<DueRow, 'partition'>>(CUSTOMERS, until, from, limit);
      return rows.map(({ partition }) => ({ partition, slot: null, after: null }));
    },
    ofCustomers: async (cursors, until, limitEach) => {
      const found = cursors.map(({ partition, after }) => {
        const { dueAt, id } = after ?? BEFORE_EVERY_DELIVERY;
        return reader.query<SlotRow>(DUE_OF_CUSTOMER, partition, dueAt, id, until, limitEach);
      });
      return (await Promise.all(found)).flat();
    },
  };
}

/** Runs the whole contract on Citus, and checks that rows are stored on the workers. Needs SCHED_TEST_CITUS_URL. */
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { sqlOf } from '#src/store/sql/migration.ts';
import { systemTimers } from '#src/system/timers.ts';
import { CITUS_URL, createCitusDatabase } from '#test/postgres/citus.ts';
import { addressOf, openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { START } from '#test/store-contract/builders.ts';
import { storeContract } from '#test/store-contract/store-contract.ts';
import { CITUS, COPIED, DISTRIBUTED, distribute, isDistributed } from './citus.ts';
import { connect } from './connect.ts';
import { MIGRATIONS, type PostgresMigration } from './migrations.ts';
import { migrate } from './schema-version.ts';

test('a statement for all rows names each partition once, and one that locks runs once for each', () => {
  const rows = [
    [1, 'a'],
    [2, 'b'],
    [1, 'c'],
  ];
  const all = CITUS.forAll(['partition', 'id'], (within) => `text${within}`);
  const parameters = [
    [1, 2, 1],
    ['a', 'b', 'c'],
    [1, 2],
  ];
  expect(all.queriesFor?.(rows)).toEqual([{ sql: 'text AND r.partition = ANY($3::bigint[])', parameters }]);
  expect(CITUS.forAll(['id'], (within) => `text${within}`)).toEqual({ sql: 'text' });

  const each = CITUS.forEachPartition(
    ({ from, partitionOf }) => `${from(['partition', 'id'])} ${partitionOf('t')}`,
  );
  const sql = 'unnest($2::text[]) AS t (id) $1::bigint';
  expect(each.queriesFor?.(rows)).toEqual([
    { sql, parameters: [1, ['a', 'c']] },
    { sql, parameters: [2, ['b']] },
  ]);
});

test('every table of customers is distributed or copied', async () => {
  await using database = await createDatabase(await sharedPostgres());
  const client = await connect(addressOf(database.url), { timers: systemTimers });
  try {
    await migrate(client, START, () => Promise.resolve());
    const { rows } = await client.query<{ name: string }>(
      `SELECT table_name::text AS name FROM information_schema.columns
       WHERE table_schema = current_schema() AND column_name = 'partition'`,
    );
    // Projects have no partition, but partitions refer to them.
    expect(new Set([...rows.map(({ name }) => name), 'projects'])).toEqual(
      new Set([...DISTRIBUTED, ...COPIED]),
    );
  } finally {
    await client.end();
  }
});

if (CITUS_URL === '') {
  test.skip('Citus: skipped, because SCHED_TEST_CITUS_URL is not set');
} else {
  storeContract('the PostgreSQL store on Citus', async () => {
    const database = await createCitusDatabase();
    await distributed(database.url);
    return openedIn(database);
  });

  test('tables of customers are on the workers, others are on all servers or on the coordinator', async () => {
    await using database = await createCitusDatabase();
    await distributed(database.url);
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query(
      'SELECT table_name::text AS name, citus_table_type AS type FROM citus_tables',
    );
    await client.end();
    const types = Object.fromEntries(rows.map(({ name, type }) => [name, type]));
    expect(types).toMatchObject({
      deliveries: 'distributed',
      attempts: 'distributed',
      projects: 'reference',
    });
    expect(types).not.toHaveProperty('slots');
    expect(types).not.toHaveProperty('users');
  });

  test('in a database that an earlier version distributed, tables of later versions are distributed too', async () => {
    await using database = await createCitusDatabase();
    const client = await connect(addressOf(database.url), { timers: systemTimers });
    try {
      const pause = () => Promise.resolve();
      await migrate(client, START, pause, BEFORE);
      for (const table of ['projects', 'partitions', 'api_keys', 'signing_secrets']) {
        await client.query('SELECT create_reference_table($1)', [table]);
      }
      for (const table of FIRST_SPREAD) {
        await client.query('SELECT create_distributed_table($1, $2)', [table, 'partition']);
      }
      await client.query(
        "INSERT INTO attempts VALUES (1, 'dlv_1', 1, 'att_1', 'success', 200, 1, 2, 3, 4, NULL)",
      );
      expect(await isDistributed(client)).toBe(false);
      await migrate(client, START, pause, AFTER);
      expect(await isDistributed(client)).toBe(true);
      const { rows } = await client.query('SELECT id, more FROM attempts');
      expect(rows).toEqual([{ id: 'att_1', more: null }]);
      await migrate(client, START, pause, AFTER);
    } finally {
      await client.end();
    }
  });
}

const FIRST_SPREAD = [
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
];

/** The schema of an earlier version, without a table that the next version adds. */
const BEFORE: readonly PostgresMigration[] = MIGRATIONS.map((migration) => ({
  ...migration,
  sql: `${sqlOf(migration)}; ALTER TABLE sweeps RENAME TO taken_away`,
}));
const AFTER: readonly PostgresMigration[] = [
  ...BEFORE,
  {
    version: BEFORE.length + 1,
    name: 'the next schema',
    worksWith: 1,
    sql: 'ALTER TABLE taken_away RENAME TO sweeps; ALTER TABLE attempts ADD COLUMN more text',
  },
];

async function distributed(url: string): Promise<void> {
  const client = await connect(addressOf(url), { timers: systemTimers });
  try {
    await migrate(client, START, () => Promise.resolve());
    await distribute(client);
  } finally {
    await client.end();
  }
}

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

test('a statement names its partition once, and has no table of parameters for a single row', () => {
  const { queryFor, partitionAt } = CITUS.text(
    ['id', 'partition'],
    ({ table, value }) => `${table}: ${value('id')} ${value('partition')}`,
  );
  expect(partitionAt).toBe(1);
  expect(queryFor?.([['a', 7]])).toEqual({ sql: 'null: $1::text $2::bigint', parameters: ['a', 7] });
  expect(
    queryFor?.([
      ['a', 7],
      ['b', 7],
    ]),
  ).toEqual({ sql: 'unnest($2::text[]) AS t (id): t.id $1::bigint', parameters: [7, ['a', 'b']] });
  expect(CITUS.text(['slot'], ({ table }) => `${table}`)).toEqual({
    sql: 'unnest($1::integer[]) AS t (slot)',
  });
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

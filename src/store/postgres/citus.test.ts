/** Runs the whole contract on Citus, and checks that rows are stored on the workers. Needs SCHED_TEST_CITUS_URL. */
import { Client } from 'pg';

import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { systemTimers } from '#src/system/timers.ts';
import { CITUS_URL, createCitusDatabase } from '#test/postgres/citus.ts';
import { addressOf, openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { createDistributedDatabase } from '#test/postgres/distributed-database.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { START } from '#test/store-contract/builders.ts';
import { storeContract } from '#test/store-contract/store-contract.ts';
import { CITUS, COPIED, DISTRIBUTED, isDistributed } from './citus.ts';
import { connect } from './connect.ts';
import { MIGRATIONS } from './migrations.ts';
import { arrayTypesOf, encodeParameters, type SqlValue } from './parameter-encoding.ts';
import { ReconnectingClient } from './reconnecting-client.ts';
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

test('a few rows are inserted as values, and many as arrays', () => {
  const { queryFor } = CITUS.insertText('payloads', ['partition', 'schedule_id'], 'ON CONFLICT DO NOTHING');
  const rowsOf = (count: number) => Array.from({ length: count }, (_, n) => [7, `sch_${n}`]);
  expect(queryFor?.(rowsOf(2))).toEqual({
    sql: 'INSERT INTO payloads (partition, schedule_id) VALUES ($1::bigint, $2::text), ($3::bigint, $4::text) ON CONFLICT DO NOTHING',
    parameters: [7, 'sch_0', 7, 'sch_1'],
  });
  expect(queryFor?.(rowsOf(60))?.parameters).toHaveLength(120);
  expect(queryFor?.(rowsOf(61))).toEqual({
    sql: 'INSERT INTO payloads (partition, schedule_id) SELECT $1::bigint, t.schedule_id FROM unnest($2::text[]) AS t (schedule_id) ON CONFLICT DO NOTHING',
    parameters: [7, rowsOf(61).map(([, id]) => id)],
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
  const sent = recordedQueries();

  storeContract('the PostgreSQL store on Citus', async () => openedIn(await createDistributedDatabase()));

  test('every query of the contract is about one shard, except a few that are rare', async () => {
    await using database = await createDistributedDatabase();
    const client = await connect(addressOf(database.url), { timers: systemTimers });
    const spread: string[] = [];
    for (const [sql, parameters] of sent) {
      const values = encodeParameters(parameters, arrayTypesOf(sql));
      const explained = `EXPLAIN (COSTS off) ${withoutInsert(sql)}`;
      const { rows } = await client.query<Record<string, string>>(explained, values);
      const plan = rows.flatMap((row) => Object.values(row)).join('\n');
      const tasks = Array.from(plan.matchAll(/Task Count: (\d+)/g), ([, count]) => Number(count));
      if (Math.max(0, ...tasks) > 1) spread.push(sql.replaceAll(/\s+/g, ' '));
    }
    await client.end();
    expect(sent.size).toBeGreaterThan(100);
    expect(spread.filter((sql) => !SPREAD.some((text) => text.test(sql)))).toEqual([]);
  });

  test('tables of customers are on the workers, others are on all servers or on the coordinator', async () => {
    await using database = await createDistributedDatabase();
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
      await migrate(client, START, pause, MIGRATIONS.slice(0, 1));
      for (const table of COPIED) {
        await client.query('SELECT create_reference_table($1)', [table]);
      }
      for (const table of DISTRIBUTED.filter((one) => !SINCE_VERSION_2.has(one))) {
        await client.query('SELECT create_distributed_table($1, $2)', [table, 'partition']);
      }
      await client.query(
        "INSERT INTO attempts VALUES (1, 'dlv_1', 1, 'att_1', 'success', 200, 1, 2, 3, 4, NULL)",
      );
      expect(await isDistributed(client)).toBe(false);
      await migrate(client, START, pause);
      expect(await isDistributed(client)).toBe(true);
      const { rows } = await client.query('SELECT id, endpoint_id FROM attempts');
      expect(rows).toEqual([{ id: 'att_1', endpoint_id: null }]);
      const invalid = await client.query(
        `SELECT nodeport FROM run_command_on_workers('SELECT count(*) FROM pg_index WHERE NOT indisvalid') WHERE result <> '0'`,
      );
      expect(invalid.rows).toEqual([]);
      await migrate(client, START, pause);
    } finally {
      await client.end();
    }
  });
}

/** The queries that every worker answers. None of them is part of a create, a change or a delivery. */
const SPREAD: readonly RegExp[] = [
  // Due work, a few times a second.
  /^SELECT partition(, id, due_at, .*)? FROM deliveries WHERE status IN \('scheduled', 'retry_scheduled'\)/,
  // Attempts that a crash interrupted.
  /JOIN deliveries d ON d\.status = 'claimed'/,
  // Work in the background that is to be continued.
  /FROM sweeps w \) AS ranked/,
  /FROM replay_jobs WHERE state IN/,
  /^SELECT DISTINCT partition FROM alert_(conditions|messages)/,
  // Retention.
  /FROM deliveries WHERE finalized_at </,
  /FROM earlier_payloads e WHERE e\.check_at <=/,
  /FROM schedules s WHERE \(s\.ended_at, s\.id\) >/,
  /FROM receipts WHERE expires_at <=/,
  /FROM gates WHERE saved_at </,
  /FROM replay_jobs WHERE ended_at/,
  /FROM alert_(incidents|messages) WHERE ended_at/,
  /^SELECT t\.partition, min\(t\.at\)/,
  // `sched reseal`.
  /^SELECT .* AS head, length\(/,
];

/** Citus does not explain an insert of selected rows with parameters. Such rows go to the shard of their partition. */
function withoutInsert(sql: string): string {
  return sql.replace(/^INSERT INTO \w+ \([^)]*\)\s+(SELECT\b.*?)(ON CONFLICT.*)?$/s, '$1');
}

/** Records each query that any store sends until the last test, with parameters of it. */
function recordedQueries(): ReadonlyMap<string, readonly SqlValue[]> {
  const sent = new Map<string, readonly SqlValue[]>();
  const spy = vi.spyOn(ReconnectingClient.prototype, 'send');
  afterEach(() => {
    for (const [sql, parameters = []] of spy.mock.calls) {
      if (/^(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(sql)) sent.set(sql, parameters);
    }
    spy.mockClear();
  });
  afterAll(() => spy.mockRestore());
  return sent;
}

const SINCE_VERSION_2: ReadonlySet<string> = new Set([
  'names',
  'earlier_payloads',
  'attempt_responses',
  'alert_channels',
  'alert_conditions',
  'alert_incidents',
  'alert_messages',
]);

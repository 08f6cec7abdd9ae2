/** Indexes that a migration adds to tables with rows. */
import { Client } from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { START } from '#test/store-contract/builders.ts';
import { indexesOf } from './large-indexes.ts';
import { MIGRATIONS, type PostgresMigration } from './migrations.ts';
import { migrate } from './schema-version.ts';

const WANTED = indexesOf(MIGRATIONS).map(({ name }) => name);
const [FIRST, ...LATER] = MIGRATIONS;
if (FIRST === undefined) throw new Error('There is a first schema.');
const BEFORE: readonly PostgresMigration[] = [FIRST];

const databases: TestDatabase[] = [];
afterAll(() => Promise.all(databases.map((one) => one.drop())));

async function connected(database: TestDatabase): Promise<Client> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function newDatabase(): Promise<TestDatabase> {
  const database = await createDatabase(await sharedPostgres());
  databases.push(database);
  return database;
}

async function neverPause(): Promise<void> {
  throw new Error('The migration should not wait.');
}

interface Found {
  readonly name: string;
  readonly valid: boolean;
}

async function found(client: Client): Promise<readonly Found[]> {
  const { rows } = await client.query<Found>(
    `SELECT c.relname AS name, i.indisvalid AS valid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relname = ANY($1) ORDER BY c.relname`,
    [WANTED],
  );
  return rows;
}

const ALL = WANTED.toSorted().map((name) => ({ name, valid: true }));

/** The statements that a migration sends. */
function recording(client: Client): { readonly sent: string[]; readonly query: Client['query'] } {
  const sent: string[] = [];
  const query = ((sql: string, values?: unknown[]) => {
    sent.push(sql);
    return client.query(sql, values);
  }) as Client['query'];
  return { sent, query };
}

describe('the indexes of large tables', () => {
  it('are there from the beginning in a new database', async () => {
    const client = await connected(await newDatabase());
    const recorded = recording(client);
    await migrate(recorded, START, neverPause);
    expect(await found(client)).toEqual(ALL);
    expect(recorded.sent.join()).not.toContain('CONCURRENTLY');
  });

  it('are built after the migration of a database with rows, while its tables are written', async () => {
    const database = await newDatabase();
    const client = await connected(database);
    await migrate(client, START, neverPause, BEFORE);
    await client.query(
      `INSERT INTO attempts (partition, delivery_id, attempt_no, id, outcome, due_at, fired_at, finished_at, egress_ms)
       SELECT 1, 'dlv_' || i, 1, 'att_' || i, 'success', i, i, i, 0 FROM generate_series(1, 1000) i`,
    );
    // A concurrent build waits for transactions that began before it, and holds up no writer meanwhile.
    const writer = await connected(database);
    await writer.query('BEGIN');
    await writer.query('UPDATE attempts SET egress_ms = 1 WHERE attempt_no = 1');
    const migrated = migrate(client, START, wait);
    await writer.query('COMMIT');
    await migrated;
    expect(await found(client)).toEqual(ALL);
    expect(LATER).not.toEqual([]);
  });

  it('are built again at the next start if a build was interrupted', async () => {
    const database = await newDatabase();
    const client = await connected(database);
    await migrate(client, START, neverPause);
    await client.query('DROP INDEX attempts_by_time');
    await client.query(
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'deliveries_replays'::regclass",
    );
    await migrate(client, START, neverPause);
    expect(await found(client)).toEqual(ALL);
  });

  it('are built once by nodes that start together', async () => {
    const database = await newDatabase();
    const clients = await Promise.all(Array.from({ length: 4 }, () => connected(database)));
    const [client] = clients;
    if (client === undefined) throw new Error('There are clients.');
    await migrate(client, START, neverPause, BEFORE);
    await Promise.all(clients.map((one) => migrate(one, START, wait)));
    expect(await found(client)).toEqual(ALL);
  });
});

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

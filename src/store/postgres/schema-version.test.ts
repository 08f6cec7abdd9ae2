import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { SLOTS } from '#src/domain/slot.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { createDatabase, execute, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { START } from '#test/store-contract/builders.ts';
import { columnTypes, typeOf } from './array-rows.ts';
import type { Queryable } from './connect.ts';
import { MIGRATIONS, type PostgresMigration } from './migrations.ts';
import { migrate, refuseOlderPrograms, requireCurrent, SCHEMA_VERSION } from './schema-version.ts';

let server: string;
let database: TestDatabase;
beforeAll(async () => {
  server = await sharedPostgres();
});
beforeEach(async () => {
  database = await createDatabase(server);
});
const databases: TestDatabase[] = [];
beforeEach(() => void databases.push(database));
afterAll(() => Promise.all(databases.map((one) => one.drop())));

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: database.url });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function neverPause(): Promise<void> {
  throw new Error('The migration should not wait.');
}

async function rowsOf(client: Queryable, sql: string): Promise<readonly object[]> {
  return (await client.query(sql)).rows;
}

const APPLIED = 'SELECT version, name, works_with FROM schema_versions ORDER BY version';
const ALL = MIGRATIONS.map(({ version, name, worksWith }) => ({ version, name, works_with: worksWith }));

/** The migrations of a later version of the program. */
function next(worksWith: number, sql: string): readonly PostgresMigration[] {
  const version = SCHEMA_VERSION + 1;
  return [...MIGRATIONS, { version, name: 'the next schema', since: '99.0.0', worksWith, sql }];
}

/** A connection that records its statements. */
function recording(client: Client): Queryable & { readonly statements: string[] } {
  const statements: string[] = [];
  return {
    statements,
    query: (sql, values) => {
      statements.push(sql);
      return client.query(sql, values);
    },
  };
}

describe('the schema', () => {
  it('is created in an empty database, with all slots free', async () => {
    const client = await connected();
    await expect(requireCurrent(client)).rejects.toThrow(
      `The database has schema version 0, this version of Sched needs ${SCHEMA_VERSION}: run \`sched migrate\`.`,
    );
    await migrate(client, START, neverPause);
    await requireCurrent(client);
    expect(await rowsOf(client, APPLIED)).toEqual(ALL);
    expect(await rowsOf(client, 'SELECT DISTINCT owner, epoch::integer FROM slots')).toEqual([
      { owner: null, epoch: 0 },
    ]);
    expect(await rowsOf(client, 'SELECT count(*)::integer, max(slot) FROM slots')).toEqual([
      { count: SLOTS, max: SLOTS - 1 },
    ]);
  });

  it('is created once by nodes that start together', async () => {
    const clients = await Promise.all(Array.from({ length: 6 }, connected));
    await Promise.all(clients.map((client) => migrate(client, START, neverPause)));
    const [client] = clients;
    expect(client && (await rowsOf(client, APPLIED))).toEqual(ALL);
  });

  it('that is up to date is not changed', async () => {
    const client = await connected();
    await migrate(client, START, neverPause);
    const reading = recording(client);
    await migrate(reading, START, neverPause);
    expect(reading.statements.filter((sql) => !/^\s*SELECT/.test(sql))).toEqual([]);
    expect(reading.statements.join()).not.toContain('pg_advisory');
  });

  it('is numbered from 1 without gaps', () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });

  it('has the partition first in the primary key and in every unique index of customers’ tables', async () => {
    const client = await connected();
    await migrate(client, START, neverPause);
    const unique = await client.query<{ table: string; name: string; first: string }>(
      `SELECT t.relname AS "table", c.relname AS name, a.attname AS first
       FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
       JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
       WHERE i.indisunique AND t.relnamespace = 'public'::regnamespace`,
    );
    const shared = ['projects', 'partitions', 'api_keys', 'signing_secrets'];
    const ofNodes = ['nodes', 'slots', 'writers', 'schema_versions', 'trusted_time'];
    const ofPeople = ['users', 'invitations', 'sessions', 'failure_counts', 'audit'];
    const others = new Set([...shared, ...ofNodes, ...ofPeople]);
    const ofCustomers = unique.rows.filter(({ table }) => !others.has(table));
    expect(ofCustomers).toHaveLength(26);
    expect(ofCustomers.filter(({ first }) => first !== 'partition')).toEqual([]);
  });

  it('gives every column the type that arrays of its values are cast to', async () => {
    const client = await connected();
    const more =
      'CREATE TABLE more (\n  remark text NOT NULL\n); ALTER TABLE nodes ADD COLUMN started_at bigint';
    const later = next(1, more);
    await migrate(client, START, neverPause, later);
    const { rows } = await client.query<{ name: string; type: string }>(
      `SELECT DISTINCT a.attname AS name, format_type(a.atttypid, NULL) AS type FROM pg_attribute a
       JOIN pg_class t ON t.oid = a.attrelid AND t.relkind = 'r' AND t.relnamespace = 'public'::regnamespace
       WHERE a.attnum > 0 AND t.relname <> 'schema_versions'`,
    );
    const found = new Map(rows.map(({ name, type }) => [name, type]));
    expect(rows).toHaveLength(found.size);
    expect(columnTypes(later)).toEqual(found);
    expect(() => columnTypes(next(1, 'ALTER TABLE nodes ADD COLUMN slot text'))).toThrow(
      'slot has two types',
    );
    expect(() => typeOf('no_column')).toThrow('The schema has no column no_column.');
  });

  it('compares all indexed text by bytes', async () => {
    const client = await connected();
    await migrate(client, START, neverPause);
    const { rows } = await client.query(
      `SELECT DISTINCT i.indexrelid::regclass::text AS index FROM pg_index i
       JOIN pg_class t ON t.oid = i.indrelid AND t.relnamespace = 'public'::regnamespace,
       unnest(i.indcollation) AS used JOIN pg_collation c ON c.oid = used WHERE c.collname <> 'C'`,
    );
    expect(rows).toEqual([]);
  });
});

describe('a later schema', () => {
  it('is migrated to with the rows that are there, and only what is missing is applied', async () => {
    const client = await connected();
    await migrate(client, START, neverPause);
    await client.query(
      "INSERT INTO nodes (node, lease_until, is_stopping, program_version) VALUES ('node_1', 1, 0, '1.0.0')",
    );
    const later = next(1, 'ALTER TABLE nodes ADD COLUMN more text');
    await migrate(client, START, neverPause, later);
    await migrate(client, START, neverPause, later);
    expect(await rowsOf(client, 'SELECT node, more FROM nodes')).toEqual([{ node: 'node_1', more: null }]);
    const added = { version: SCHEMA_VERSION + 1, name: 'the next schema', works_with: 1 };
    expect(await rowsOf(client, APPLIED)).toEqual([...ALL, added]);
  });

  it('can be used by an older program if `works_with` allows it', async () => {
    const client = await connected();
    await migrate(client, START, neverPause, next(SCHEMA_VERSION, 'ALTER TABLE nodes ADD COLUMN more text'));
    await requireCurrent(client);
    await migrate(client, START, neverPause);
  });

  it('is refused if `works_with` does not allow it', async () => {
    const client = await connected();
    await migrate(client, START, neverPause, next(SCHEMA_VERSION + 1, 'ALTER TABLE nodes DROP COLUMN node'));
    const refusal = `The database has schema version ${SCHEMA_VERSION + 1}, this version of Sched knows ${SCHEMA_VERSION}. Run a newer Sched.`;
    await expect(requireCurrent(client)).rejects.toThrow(new StoreUnavailable(refusal));
    await expect(migrate(client, START, neverPause)).rejects.toThrow(new StoreUnavailable(refusal));
  });

  it('is refused by older programs once they would not know what was written, also after the next migration', async () => {
    const client = await connected();
    const reader = { query: (sql: string, ...values: unknown[]) => client.query(sql, values) } as never;
    await migrate(client, START, neverPause);
    await refuseOlderPrograms(reader, '0.1.0');
    expect(await rowsOf(client, APPLIED)).toEqual(ALL);
    await refuseOlderPrograms(reader, '0.2.7');
    await migrate(client, START, neverPause, next(1, 'ALTER TABLE nodes ADD COLUMN more text'));
    const older = MIGRATIONS.filter(({ version }) => version === 1);
    await expect(migrate(client, START, neverPause, older)).rejects.toThrow(
      `The database has schema version ${SCHEMA_VERSION + 1}, this version of Sched knows 1. Run a newer Sched.`,
    );
    await migrate(client, START, neverPause);
  });

  it('does not block users of a table: it waits, and runs again later', async () => {
    const [client, user] = [await connected(), await connected()];
    await migrate(client, START, neverPause);
    await user.query('BEGIN');
    await user.query('SELECT * FROM nodes');
    const pauses: number[] = [];
    const pause = async (ms: number) => {
      pauses.push(ms);
      expect(await rowsOf(user, 'SELECT 1 AS one FROM slots LIMIT 1')).toEqual([{ one: 1 }]);
      if (pauses.length === 2) await user.query('COMMIT');
    };
    await migrate(client, START, pause, next(1, 'ALTER TABLE nodes ADD COLUMN more text'));
    expect(pauses).toHaveLength(2);
    expect(await rowsOf(client, APPLIED)).toHaveLength(MIGRATIONS.length + 1);
  });

  it('that fails changes nothing', async () => {
    const client = await connected();
    await migrate(client, START, neverPause);
    const broken = next(1, 'ALTER TABLE nodes ADD COLUMN more text; SELECT 1 / 0');
    await expect(migrate(client, START, neverPause, broken)).rejects.toThrow('division by zero');
    expect(await rowsOf(client, APPLIED)).toEqual(ALL);
    expect(await rowsOf(client, "SELECT 1 FROM pg_attribute WHERE attname = 'more'")).toEqual([]);
  });
});

describe('a database is refused', () => {
  it.for([
    ['of another program', 'CREATE TABLE schema_versions (id integer)'],
    ['that has a table of ours from elsewhere', 'CREATE TABLE schedules (id integer)'],
  ] as const)('%s', async ([, sql]) => {
    const client = await connected();
    await client.query(sql);
    await expect(migrate(client, START, neverPause)).rejects.toThrow(
      new StoreUnavailable(
        'The database has tables of another program. Give Sched a database or a schema of its own.',
      ),
    );
    expect(await rowsOf(client, "SELECT to_regclass('deliveries') AS made")).toEqual([{ made: null }]);
  });

  it('of an earlier version of Sched, which stays as it was', async () => {
    const client = await connected();
    await client.query(
      `CREATE TABLE migrations (
         version integer PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL, works_with integer NOT NULL
       );
       INSERT INTO migrations VALUES (1, 'the first schema', 1, 1), (4, 'the perimeter', 1, 4);
       CREATE TABLE projects (id text PRIMARY KEY)`,
    );
    const refusal = new StoreUnavailable(
      'The database was made by an earlier version of Sched, and this version cannot migrate it. Give Sched an empty database or schema, or run the earlier version.',
    );
    await expect(migrate(client, START, neverPause)).rejects.toThrow(refusal);
    await expect(requireCurrent(client)).rejects.toThrow(refusal);
    const tables = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1";
    expect(await rowsOf(client, tables)).toEqual([{ name: 'migrations' }, { name: 'projects' }]);
    await client.query('CREATE SCHEMA empty; SET search_path = empty, public');
    await migrate(client, START, neverPause);
    await requireCurrent(client);
    expect(await rowsOf(client, tables)).toEqual([{ name: 'migrations' }, { name: 'projects' }]);
  });

  it('that is not UTF-8', async () => {
    const name = `${database.name}_latin`;
    await execute(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING LATIN1 LOCALE 'C'`);
    onTestFinished(() => execute(server, `DROP DATABASE ${name} WITH (FORCE)`));
    const client = new Client({ connectionString: database.url.replace(database.name, name) });
    await client.connect();
    try {
      const refusal = new StoreUnavailable('The database has the encoding LATIN1, Sched needs UTF8.');
      await expect(migrate(client, START, neverPause)).rejects.toThrow(refusal);
      await expect(requireCurrent(client)).rejects.toThrow(refusal);
    } finally {
      await client.end();
    }
  });

  it('whose search path has no schema', async () => {
    const client = await connected();
    await client.query('SET search_path = nowhere');
    await expect(migrate(client, START, neverPause)).rejects.toThrow(
      new StoreUnavailable("No schema on the connection's search path exists: create it first."),
    );
  });

  it('on a server that is too old', async () => {
    const old: Queryable = {
      query: async () => ({ rows: [{ version: 130_012, encoding: 'UTF8', schema: 'public' }] }),
    };
    await expect(requireCurrent(old)).rejects.toThrow(
      new StoreUnavailable('The server is PostgreSQL 13, Sched needs 14 or newer.'),
    );
  });
});

it('the schema of the search path is used', async () => {
  const client = await connected();
  await client.query('CREATE SCHEMA apart');
  await client.query('SET search_path = apart');
  await migrate(client, START, neverPause);
  await requireCurrent(client);
  expect(await rowsOf(client, "SELECT to_regclass('public.deliveries') AS elsewhere")).toEqual([
    { elsewhere: null },
  ]);
});

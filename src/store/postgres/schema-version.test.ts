import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import type { Partition } from '#src/domain/project.ts';
import { SLOTS, slotOf } from '#src/domain/slot.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { createDatabase, execute, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { START } from '#test/store-contract/builders.ts';
import type { Queryable } from './connect.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';
import { migrate, requireCurrent, SCHEMA_VERSION } from './schema-version.ts';

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

const APPLIED = 'SELECT version, name, works_with FROM migrations ORDER BY version';
const ALL = MIGRATIONS.map(({ version, name, worksWith }) => ({ version, name, works_with: worksWith }));

/** The migrations of a later version of the program. */
function next(worksWith: number, sql: string): readonly Migration[] {
  const version = SCHEMA_VERSION + 1;
  return [...MIGRATIONS, { version, name: 'the next schema', worksWith, sql }];
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
    const ofNodes = ['nodes', 'slots', 'writers', 'migrations', 'trusted_time'];
    const ofPeople = ['users', 'invitations', 'sessions', 'login_failures', 'audit'];
    const others = new Set([...shared, ...ofNodes, ...ofPeople]);
    const ofCustomers = unique.rows.filter(({ table }) => !others.has(table));
    expect(ofCustomers).toHaveLength(17);
    expect(ofCustomers.filter(({ first }) => first !== 'partition')).toEqual([]);
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

describe('labels of the second schema', () => {
  it('get state and kind of their schedule, and rows without a schedule are gone', async () => {
    const client = await connected();
    await migrate(client, START, neverPause, MIGRATIONS.slice(0, 2));
    await client.query(
      `INSERT INTO schedules (partition, id, state, kind, header_names, metadata, pending_id, created_at,
         updated_at, revision)
       VALUES (1, 'sch_1', 'paused', 'recurring', '[]', '[]', 'dlv_1', 1, 1, 1),
         (2, 'sch_2', 'completed', 'one_shot', '[]', '[]', 'dlv_2', 1, 1, 1)`,
    );
    await client.query(
      `INSERT INTO schedule_labels (partition, digest, schedule_id)
       VALUES (1, 'a', 'sch_1'), (1, 'b', 'sch_1'), (2, 'a', 'sch_2'), (2, 'a', 'sch_1')`,
    );
    await migrate(client, START, neverPause);
    const labels = `SELECT partition::integer, encode(digest, 'escape') AS digest, state, kind, schedule_id
      FROM schedule_labels ORDER BY partition, digest`;
    expect(await rowsOf(client, labels)).toEqual([
      { partition: 1, digest: 'a', state: 'paused', kind: 'recurring', schedule_id: 'sch_1' },
      { partition: 1, digest: 'b', state: 'paused', kind: 'recurring', schedule_id: 'sch_1' },
      { partition: 2, digest: 'a', state: 'completed', kind: 'one_shot', schedule_id: 'sch_2' },
    ]);
  });
});

describe('deliveries of the second schema', () => {
  it('to an endpoint with a long key are found by the new slot of the key', async () => {
    const client = await connected();
    await migrate(client, START, neverPause, MIGRATIONS.slice(0, 2));
    const urls = {
      short: 'https://example.com/',
      long: `https://example.com/${'a'.repeat(600)}`,
      encoded: `https://example.com/${'ö'.repeat(100)}`,
    };
    const insert = (partition: number, id: string, url: string, finalizedAt: number | null) =>
      client.query(
        `INSERT INTO deliveries (partition, id, schedule_id, status, occurrence, scheduled_for, due_at, booked,
           attempt_count, idempotency_key, url, method, retry_policy, created_at, finalized_at, revision, slot,
           endpoint_key)
         VALUES ($1, $2, 'sch_' || $2, 'scheduled', 1, 1, 1, 0, 0, $2, $3, 'POST', '{}', 1, $4, 1, -1, 'as before')`,
        [partition, id, url, finalizedAt],
      );
    for (const partition of [1, 2]) {
      for (const [name, url] of Object.entries(urls))
        await insert(partition, `${partition} ${name}`, url, null);
    }
    await insert(1, 'ended', urls.long, 1);
    await migrate(client, START, neverPause);
    const slots = await rowsOf(client, 'SELECT id, slot FROM deliveries WHERE slot <> -1 ORDER BY id');
    const expected = (['encoded', 'long'] as const).map((name) => {
      const endpoint = endpointKeyOf({ endpointId: null, url: urls[name] });
      return [1, 2].map((partition) => ({
        id: `${partition} ${name}`,
        slot: slotOf(partition as Partition, endpoint),
      }));
    });
    expect(slots).toEqual(expected.flat().toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    const digests = 'SELECT count(DISTINCT endpoint_key)::integer AS count FROM deliveries WHERE slot <> -1';
    expect(await rowsOf(client, digests)).toEqual([{ count: 2 }]);
  });
});

describe('a later schema', () => {
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

  it('does not block users of a table: it gives up, and tries again later', async () => {
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
    ['of another program', 'CREATE TABLE migrations (id integer)'],
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

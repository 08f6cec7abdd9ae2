import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { editProfile } from '#src/domain/endpoint-profile.ts';
import type { EndpointId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { connector } from '#src/store/postgres/connect.ts';
import { MIGRATIONS } from '#src/store/postgres/migrations.ts';
import { openPostgres } from '#src/store/postgres/open-postgres.ts';
import { migrate } from '#src/store/postgres/schema-version.ts';
import { sqlOf } from '#src/store/sql/migration.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { type Db, openForReading, openForWriting } from '#src/store/sqlite/connection.ts';
import { DATABASE_FILE, openSqlite } from '#src/store/sqlite/open-sqlite.ts';
import { systemTimers } from '#src/system/timers.ts';
import { CITUS_URL } from '#test/postgres/citus.ts';
import { addressOf } from '#test/postgres/contract-databases.ts';
import { createDatabase, execute, query, type TestDatabase } from '#test/postgres/databases.ts';
import { createDistributedDatabase } from '#test/postgres/distributed-database.ts';
import { startProxy } from '#test/postgres/proxy.ts';
import { olderPostgres, sharedPostgres } from '#test/postgres/shared.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import * as arbitrary from '#test/store-contract/arbitraries.ts';
import { DAY_MS, FAILURE, HOUR_MS, HOURLY, START, SUCCESS } from '#test/store-contract/builders.ts';
import { addScheduleWithEveryStatus } from '#test/store-contract/every-status.ts';
import { readEverything } from '#test/store-contract/everything.ts';
import { type AnyStore, type Fixture, pendingOf, Suite } from '#test/store-contract/fixture.ts';
import { type Moved, type MoveRefusal, move, type Progress } from './move.ts';
import { columnsOf, TABLES } from './tables.ts';

/** Tables that belong to a running process or to the file itself. */
const LEFT_BEHIND = [
  'breaker_resets',
  'heartbeat',
  'failure_counts',
  'nodes',
  'disk_probe',
  'schema_versions',
  'sessions',
  'slots',
];
const ONLY_THERE = [
  'breaker_resets',
  'failure_counts',
  'nodes',
  'partition_writers',
  'schema_versions',
  'sessions',
  'slots',
  'writers',
];

const older = await olderPostgres();
const directory = temporaryDirectory();
const path = join(directory, DATABASE_FILE);
const fixtures: Fixture[] = [];
let opened: SqlStore;

/** Everything that a store can hold, in two projects. */
beforeAll(async () => {
  opened = await openSqlite({ directory, now: START, exclusive: true });
  const suite = new Suite(async () => ({
    store: opened,
    reopen: async () => opened,
    close: async () => opened.close(),
  }));
  await suite.start();
  for (let project = 0; project < 2; project++) {
    const fixture = await suite.fixture();
    fixtures.push(fixture);
    await addScheduleWithEveryStatus(fixture);
    await fillControl(fixture);
    await fillProfiles(fixture);
    await fillSchedules(fixture);
    await fixture.addClaim(await fixture.addSchedule(), 'a-node-that-died');
  }
  fillDashboard();
});
afterAll(() => opened.close());

async function fillControl({ store, project, ids, now }: Fixture): Promise<void> {
  for (const [index, mode] of (['test', 'live', 'live'] as const).entries()) {
    const partition = project.partitions[mode];
    await store.addKey({
      id: ids.mint('key', now),
      partition,
      mode,
      hash: `hash of ${project.name} ${index}`,
      hint: 'abcd',
      createdAt: now,
      revokedAt: index === 2 ? now : null,
      lastUsedAt: null,
    });
    await store.addSecret(
      {
        id: ids.mint('sec', now),
        partition,
        sealed: Uint8Array.of(index, 255),
        createdAt: now,
        expiresAt: null,
      },
      instant(now + DAY_MS),
    );
  }
}

async function fillProfiles(fixture: Fixture): Promise<void> {
  for (const contents of fc.sample(arbitrary.profileContents, { numRuns: 10, seed: 1 })) {
    const profile = fixture.profile(contents);
    await fixture.store.addProfile({ profile, headers: Uint8Array.of(1), receipt: fixture.receipt() });
    const edited = editProfile(profile, { timeout: '9s' }, fixture.tick());
    await fixture.store.replaceProfile({ profile: edited, headers: null, receipt: null });
    await addEndpointSecret(fixture, profile.id);
    const addition = fixture.scheduleOn(edited, { timing: HOURLY });
    await fixture.store.addSchedule(addition);
    await fixture.store.saveGates([fixture.gate(endpointKeyOf(addition.pending.target))]);
  }
}

async function addEndpointSecret(
  { store, partition, ids, now }: Fixture,
  endpointId: EndpointId,
): Promise<void> {
  const owner = { partition, endpointId };
  const sealed = Uint8Array.of(7, 255);
  const aloneFrom = instant(now + DAY_MS);
  const added = { ...owner, id: ids.mint('sec', now), sealed, createdAt: now, expiresAt: null, aloneFrom };
  await store.changeEndpointSecrets({ ...owner, before: [], ended: [], added });
}

async function fillSchedules(fixture: Fixture): Promise<void> {
  const whatever = fc.record({
    constants: arbitrary.scheduleConstants,
    changes: arbitrary.scheduleChanges,
    pending: arbitrary.deliveryChanges,
    payload: fc.option(arbitrary.bytes),
    receipt: fc.option(arbitrary.receiptContents),
  });
  const samples = fc.sample(whatever, { numRuns: 60, seed: 2 });
  for (const { constants, changes, pending, payload, receipt } of samples) {
    const made = fixture.schedule();
    await fixture.store.addSchedule({
      schedule: { ...made.schedule, ...constants, ...changes },
      pending: { ...made.pending, ...pending },
      payload,
      profile: null,
      receipt: receipt === null ? null : fixture.receipt(receipt),
    });
  }
  const made = fixture.schedule();
  // PostgreSQL cannot store this text as it is.
  await fixture.addMade({ ...made, pending: { ...made.pending, error: 'a\0b', idempotencyKey: '\u0001c' } });
  const failing = await fixture.addSchedule({ timing: HOURLY, metadata: [['name', 'value']] });
  fixture.tick(HOUR_MS);
  await fixture.fire(await fixture.fire(pendingOf(failing), FAILURE), SUCCESS);
}

/** Adds more rows and more bytes than one page has. */
function fillPages(partition: number): void {
  const db = openForWriting(path);
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
     INSERT INTO receipts SELECT ?, 'many-' || i, 'f', 201, '{}', 1, 2 FROM n`,
  ).run(partition);
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
     INSERT INTO payloads (partition, schedule_id, sealed) SELECT ?, 'sch_large_' || i, randomblob(256 * 1024) FROM n`,
  ).run(partition);
  db.close();
}

/** The other tests are about what surrounds the rows, so they move fewer of them. */
function emptyPages(): void {
  const db = openForWriting(path);
  db.exec(
    "DELETE FROM receipts WHERE key LIKE 'many-%'; DELETE FROM payloads WHERE schedule_id LIKE 'sch_large_%'",
  );
  db.close();
}

/** Rows of the dashboard's tables. Each column that may be null has both a null and a value. */
function fillDashboard(): void {
  const db = openForWriting(path);
  db.exec('INSERT INTO trusted_time (one, seen_at, trusted_at) VALUES (1, 2000000000000, 1999999999999)');
  for (const { name, columns } of TABLES.filter((table) => countIn(db, table.name) === 0)) {
    const types = db
      .prepare('SELECT name, type, "notnull" AS needed FROM pragma_table_info(?)')
      .all(name) as {
      readonly name: string;
      readonly type: string;
      readonly needed: number;
    }[];
    const byName = new Map(types.map((column) => [column.name, column]));
    const add = db.prepare(
      `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    );
    for (let row = 1; row <= 3; row++) {
      const values = columns.map((column, index) => {
        const { type, needed } = byName.get(column) ?? { type: 'TEXT', needed: 1 };
        if (row === 2 && needed === 0 && index > 0) return null;
        if (type === 'BLOB') return Buffer.from([row, index]);
        return type === 'INTEGER'
          ? row * (/version|no$|code$|count$|^is_|^enabled$/.test(column) ? 1 : 1e12) + index
          : `${column} ${row} \u0001 é`;
      });
      add.run(...values);
    }
  }
  db.exec('UPDATE api_keys SET last_used_at = created_at + 1 WHERE revoked_at IS NULL');
  db.close();
}

/** The callbacks of the last move. */
let callbacks: string[] = [];

async function moveTo(url: string, progress: (progress: Progress) => void = () => {}) {
  callbacks = [];
  const connect = connector(addressOf(url), { timers: systemTimers });
  const client = await connect();
  await migrate(client, START, () => Promise.resolve());
  await client.end();
  const source = openForWriting(path);
  try {
    const committing = () => void callbacks.push('committing');
    const undone = () => void callbacks.push('undone');
    return await move({ source, connect, timers: systemTimers, progress, committing, undone });
  } finally {
    source.close();
  }
}

function rowsMoved(moved: Moved | MoveRefusal): Readonly<Record<string, number>> {
  if (typeof moved === 'string') throw new Error(`The move was refused: ${moved}.`);
  return Object.fromEntries(moved);
}

function rowsHere(): Readonly<Record<string, number>> {
  const db = openForReading(path);
  const counts = TABLES.map(({ name }) => [name, countIn(db, name)]);
  db.close();
  return Object.fromEntries(counts);
}

function countIn(db: Db, table: string): number {
  return Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
}

async function rowsThere(url: string): Promise<Readonly<Record<string, number>>> {
  const counts = TABLES.map(({ name }) => `(SELECT count(*)::integer FROM ${name}) AS ${name}`);
  const [row] = await query(url, `SELECT ${counts.join(', ')}`);
  return row as Readonly<Record<string, number>>;
}

const NOTHING = Object.fromEntries(TABLES.map(({ name }) => [name, 0]));

async function openIn({ url }: TestDatabase): Promise<SqlStore> {
  const address = addressOf(url);
  const clock = { now: () => START };
  return openPostgres({ address, clock, timers: systemTimers, node: 'next', migrate: false });
}

function everythingIn(store: AnyStore) {
  const keys = [...Array.from({ length: 200 }, (_, index) => `key-${index}`), 'many-1', 'many-2500'];
  const partitions = fixtures.flatMap(({ partition, neighbour }) => [partition, neighbour]);
  return Promise.all(partitions.map((partition) => readEverything(store, partition, keys)));
}

async function expectEverythingIn(database: TestDatabase): Promise<void> {
  const store = await openIn(database);
  try {
    expect(await store.listProjects()).toEqual(await opened.listProjects());
    expect(await everythingIn(store)).toEqual(await everythingIn(opened));
    const lost = await store.listLostClaims([], 1_000);
    expect(lost.map(({ delivery }) => delivery.id).toSorted()).toEqual(
      (await opened.listLostClaims([], 1_000)).map(({ delivery }) => delivery.id).toSorted(),
    );
    expect(lost.map(({ delivery }) => delivery.claim?.node)).toContain('a-node-that-died');
  } finally {
    await store.close();
  }
}

describe('all data is moved', () => {
  beforeAll(() => fillPages(fixtures[0]?.partition ?? 0));
  afterAll(emptyPages);

  async function movesTo(database: TestDatabase): Promise<void> {
    const seen: Progress[] = [];
    const rows = rowsMoved(await moveTo(database.url, (progress) => seen.push(progress)));
    expect(rows).toEqual(rowsHere());
    expect(await rowsThere(database.url)).toEqual(rows);
    expect(Object.values(rows).every((count) => count > 0)).toBe(true);
    await expectEverythingIn(database);
    const pages = (name: string) => seen.filter(({ table }) => table === name).length;
    expect({ receipts: pages('receipts') > 1, payloads: pages('payloads') > 1 }).toEqual({
      receipts: true,
      payloads: true,
    });
  }

  test('on PostgreSQL', async () => {
    await using database = await createDatabase(await sharedPostgres());
    await movesTo(database);
  });

  if (older === undefined)
    test.skip('skipped, because no older PostgreSQL is installed and SCHED_TEST_DATABASE_URL is not set');
  else
    test('on an older PostgreSQL', async () => {
      await using database = await createDatabase(older);
      await movesTo(database);
    });

  test.runIf(CITUS_URL !== '')('on Citus', async () => {
    await using database = await createDistributedDatabase();
    await movesTo(database);
  });
});

test('a project that is added after a move gets the next partitions', async () => {
  await using database = await createDatabase(await sharedPostgres());
  await moveTo(database.url);
  const store = await openIn(database);
  const made = await store.addProject({
    id: fixtures[0]?.ids.mint('prj', START) ?? ('prj_' as never),
    name: 'the-next-one',
    pinnedVersion: '2026-01-01',
    createdAt: START,
  });
  await store.close();
  if (made === 'taken') throw new Error('The name is taken.');
  const taken = (await opened.listProjects()).flatMap(({ partitions }) => Object.values(partitions));
  expect(Math.min(...Object.values(made.partitions))).toBe(Math.max(...taken) + 1);
});

describe('no table or column is missed', () => {
  test('every table of SQLite is moved or listed as left behind', () => {
    const db = openForReading(path);
    const names = db.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    );
    expect(names.pluck().all().map(String).toSorted()).toEqual(
      [...LEFT_BEHIND, ...TABLES.map(({ name }) => name)].toSorted(),
    );
    for (const { name, columns } of TABLES) {
      const found = db.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(name);
      expect(found.map(String).toSorted(), name).toEqual(columns.toSorted());
    }
    db.close();
  });

  test('every column of PostgreSQL gets a value', async () => {
    await using database = await createDatabase(await sharedPostgres());
    for (const migration of MIGRATIONS) await execute(database.url, sqlOf(migration));
    const rows = await query(
      database.url,
      `SELECT table_name::text AS name, array_agg(column_name::text ORDER BY column_name) AS columns
       FROM information_schema.columns WHERE table_schema = 'public' GROUP BY 1`,
    );
    const found = new Map(
      (rows as { name: string; columns: string[] }[]).map(({ name, columns }) => [name, columns]),
    );
    for (const table of TABLES) {
      expect(found.get(table.name)?.toSorted(), table.name).toEqual(columnsOf(table).toSorted());
      found.delete(table.name);
    }
    for (const name of found.keys()) expect(ONLY_THERE).toContain(name);
  });
});

describe('all or nothing', () => {
  test('a database with a project is not changed', async () => {
    await using database = await createDatabase(await sharedPostgres());
    await moveTo(database.url);
    const before = await rowsThere(database.url);
    expect(await moveTo(database.url)).toBe('target_is_not_empty');
    expect(await rowsThere(database.url)).toEqual(before);
  });

  test.each(['INSERT INTO schedules', 'INSERT INTO gates', 'SELECT setval', 'COMMIT'])(
    'a connection that is cut at %s leaves nothing behind, and the next move succeeds',
    async (step) => {
      await using database = await createDatabase(await sharedPostgres());
      await using proxy = await startProxy(Number(new URL(database.url).port));
      // The schema is created before, so that only the move is cut.
      expect(await rowsThereAfterMigration(database)).toEqual(NOTHING);
      proxy.interfere((sql) => (sql.startsWith(step) ? 'lose it' : 'pass'));
      await expect(moveTo(proxy.through(database.url))).rejects.toThrow();
      expect(proxy.lost).toBe(1);
      expect(callbacks).toEqual(step === 'COMMIT' ? ['committing', 'undone'] : []);
      expect(await rowsThere(database.url)).toEqual(NOTHING);
      proxy.interfere(() => 'pass');
      expect(rowsMoved(await moveTo(proxy.through(database.url)))).toEqual(rowsHere());
    },
  );

  test('a commit whose answer is lost is found to be stored', async () => {
    await using database = await createDatabase(await sharedPostgres());
    await using proxy = await startProxy(Number(new URL(database.url).port));
    await rowsThereAfterMigration(database);
    proxy.interfere((sql) => (sql === 'COMMIT' ? 'lose the answer' : 'pass'));
    expect(rowsMoved(await moveTo(proxy.through(database.url)))).toEqual(rowsHere());
    expect(proxy.lost).toBe(1);
    expect(callbacks).toEqual(['committing']);
    expect(await rowsThere(database.url)).toEqual(rowsHere());
  });

  test.each([
    ['changed', 'BEGIN NEW.sealed = NEW.sealed || NEW.sealed; RETURN NEW; END'],
    ['left out', 'BEGIN RETURN NULL; END'],
  ])('rows that are %s during the move are detected', async (_, body) => {
    await using database = await createDatabase(await sharedPostgres());
    await rowsThereAfterMigration(database);
    await execute(
      database.url,
      `CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ ${body} $$;
       CREATE TRIGGER meddle BEFORE INSERT ON payloads FOR EACH ROW EXECUTE FUNCTION meddle()`,
    );
    await expect(moveTo(database.url)).rejects.toThrow(/table payloads has other rows/);
    expect(await rowsThere(database.url)).toEqual(NOTHING);
  });

  test('nothing else can write to either database during the move', async () => {
    await using database = await createDatabase(await sharedPostgres());
    await using proxy = await startProxy(Number(new URL(database.url).port));
    await rowsThereAfterMigration(database);
    const committing = new Promise<void>((resolve) => {
      proxy.interfere((sql) => {
        if (sql !== 'COMMIT') return 'pass';
        resolve();
        return 'stall it';
      });
    });
    const moving = moveTo(proxy.through(database.url));
    await Promise.race([committing, moving]);
    const db = openForWriting(path);
    db.pragma('busy_timeout = 0');
    expect(() => db.exec('BEGIN IMMEDIATE')).toThrow(/locked/);
    db.close();
    const insert = "INSERT INTO projects VALUES ('prj_1', 'default', '2026-01-01', 1)";
    await expect(execute(database.url, `SET lock_timeout = 100; ${insert}`)).rejects.toThrow(/lock timeout/);
    proxy.resume();
    expect(rowsMoved(await moving)).toEqual(rowsHere());
  });
});

async function rowsThereAfterMigration({ url }: TestDatabase): Promise<Readonly<Record<string, number>>> {
  const client = await connector(addressOf(url), { timers: systemTimers })();
  await migrate(client, START, () => Promise.resolve());
  await client.end();
  return rowsThere(url);
}

/** Opening the file: cases that are refused, the setup of a new file, and opening by several processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { SLOTS } from '#src/domain/slot.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Migration } from '#src/store/sql/migration.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { START } from '#test/store-contract/builders.ts';
import { APPLICATION_ID, migrate, openForWriting } from './connection.ts';
import { MIGRATIONS } from './migrations.ts';
import { DATABASE_FILE, openSqlite } from './open-sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'sched-opening-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let directories = 0;
function freshDirectory(): string {
  directories += 1;
  const directory = join(root, String(directories));
  mkdirSync(directory);
  return directory;
}

function open(directory: string, exclusive = true): Promise<SqlStore> {
  return openSqlite({ directory, now: START, exclusive });
}

/** Runs SQL on the file of a closed store. */
function onFile<T>(directory: string, run: (db: Database.Database) => T): T {
  const db = new Database(join(directory, DATABASE_FILE));
  try {
    return run(db);
  } finally {
    db.close();
  }
}

async function created(): Promise<string> {
  const directory = freshDirectory();
  await (await open(directory)).close();
  return directory;
}

describe('a new database', () => {
  test('is created with its directory, readable by its owner only', async () => {
    const directory = join(freshDirectory(), 'deep', 'data');
    const store = await open(directory);
    await store.check(START);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    for (const file of [DATABASE_FILE, `${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`]) {
      expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
    }
    await store.close();
  });

  test('records each migration once', async () => {
    const directory = await created();
    const recorded = () =>
      onFile(directory, (db) => ({
        migrations: db.prepare('SELECT * FROM schema_versions ORDER BY version').all(),
        version: db.pragma('user_version', { simple: true }),
        schema: db.prepare('SELECT sql FROM sqlite_schema ORDER BY name').pluck().all(),
      }));
    const first = recorded();
    expect(first.migrations).toEqual(
      MIGRATIONS.map(({ version, name }) => ({ version, name, applied_at: START })),
    );
    expect(first.version).toBe(MIGRATIONS.at(-1)?.version);
    const later = instant(START + 1_000);
    await (await openSqlite({ directory, now: later, exclusive: true })).close();
    expect(recorded()).toEqual(first);
  });

  test('has migrations numbered from 1 without gaps', () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });

  test('has all slots, and nobody owns them', async () => {
    const directory = await created();
    const slots =
      'SELECT count(*) AS count, max(slot) AS last, count(owner) AS owned, max(epoch) AS epoch FROM slots';
    const expected = { count: SLOTS, last: SLOTS - 1, owned: 0, epoch: 0 };
    expect(onFile(directory, (db) => db.prepare(slots).get())).toEqual(expected);
  });

  test('is written through a log that is synced before the answer', async () => {
    const directory = await created();
    const path = join(directory, DATABASE_FILE);
    expect(onFile(directory, (db) => db.pragma('journal_mode', { simple: true }))).toBe('wal');
    // This setting belongs to one connection, and the writing thread opens its own by the same function.
    const db = openForWriting(path);
    expect(db.pragma('synchronous', { simple: true })).toBe(2);
    db.close();
    const careless = openForWriting(path, false);
    expect(careless.pragma('synchronous', { simple: true })).toBe(0);
    careless.close();
    const store = await open(directory);
    await store.check(START);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    await store.close();
  });
});

describe('a later schema', () => {
  const version = MIGRATIONS.length + 1;
  const next = (sql: string): readonly Migration[] => [
    ...MIGRATIONS,
    { version, name: 'the next schema', sql },
  ];

  function migrated(directory: string, migrations: readonly Migration[]): void {
    onFile(directory, (db) => migrate(db, START, migrations));
  }

  test('is migrated to with the rows that are there, and then refused by an older program', async () => {
    const directory = await created();
    onFile(directory, (db) =>
      db.exec(
        "INSERT INTO nodes (node, lease_until, is_stopping, program_version) VALUES ('node_1', 1, 0, '1.0.0')",
      ),
    );
    const later = next('ALTER TABLE nodes ADD COLUMN more TEXT');
    migrated(directory, later);
    migrated(directory, later);
    const nodes = onFile(directory, (db) => db.prepare('SELECT node, more FROM nodes').all());
    expect(nodes).toEqual([{ node: 'node_1', more: null }]);
    await expect(open(directory)).rejects.toThrow(
      `The database has schema version ${version}, this version of Sched knows ${version - 1}. Run a newer Sched.`,
    );
  });

  test('of version 2 keeps the rows of version 1, and tells the profile of each attempt', async () => {
    const directory = freshDirectory();
    onFile(directory, (db) => {
      migrate(db, START, MIGRATIONS.slice(0, 1));
      db.exec(
        `INSERT INTO endpoint_profiles VALUES (1, 'ep_1', 1, 0, 1, 1, 1);
         INSERT INTO deliveries (partition, id, schedule_id, status, occurrence, scheduled_for, reserved,
           attempt_count, idempotency_key, url, method, endpoint_id, payload_bytes, retry_policy, created_at, revision)
         SELECT 1, 'dlv_' || value, 'sch_' || value, 'succeeded', value, value, 0, 1, 'key', 'https://a.example', 'POST',
           CASE WHEN value > 1 THEN 'ep_1' END, 3, '{}', 1, 1 FROM json_each('[1, 2, 3]');
         INSERT INTO attempts SELECT 1, id, 1, 'att', 'success', 200, 1, 1, 1, 0, NULL, NULL FROM deliveries;
         INSERT INTO payloads VALUES (1, 'sch_1', x'0102')`,
      );
    });
    onFile(directory, (db) => migrate(db, START));
    const found = onFile(directory, (db) => ({
      attempts: db.prepare('SELECT endpoint_id FROM attempts ORDER BY delivery_id').pluck().all(),
      payload: db.prepare('SELECT version, since_id FROM payloads').get(),
      versions: db.prepare('SELECT DISTINCT payload_version FROM deliveries').pluck().all(),
      occurrences: db.prepare('SELECT occurrence FROM deliveries ORDER BY id').pluck().all(),
    }));
    expect(found).toEqual({
      attempts: [null, 'ep_1', 'ep_1'],
      payload: { version: 1, since_id: '' },
      versions: [1],
      occurrences: [1, 2, 3],
    });
  });

  test('that fails changes nothing', async () => {
    const directory = await created();
    const broken = next('ALTER TABLE nodes ADD COLUMN more TEXT; DROP TABLE missing');
    expect(() => migrated(directory, broken)).toThrow('no such table: missing');
    await (await open(directory)).close();
    const columns = onFile(directory, (db) =>
      db.prepare("SELECT name FROM pragma_table_info('nodes')").pluck().all(),
    );
    expect(columns).not.toContain('more');
  });
});

describe('the store refuses to open, and does not change,', () => {
  async function expectRefusal(directory: string, message: RegExp): Promise<void> {
    const before = readFileSync(join(directory, DATABASE_FILE));
    await expect(open(directory)).rejects.toThrow(StoreUnavailable);
    await expect(open(directory)).rejects.toThrow(message);
    expect(readFileSync(join(directory, DATABASE_FILE)).equals(before)).toBe(true);
  }

  test('a database of a newer version', async () => {
    const directory = await created();
    onFile(directory, (db) => db.pragma('user_version = 1000'));
    await expectRefusal(
      directory,
      /schema version 1000, this version of Sched knows \d+\. Run a newer Sched/,
    );
    onFile(directory, (db) => db.pragma(`user_version = ${MIGRATIONS.length}`));
    await (await open(directory)).close();
  });

  test('a database of an older version, if it may not migrate', async () => {
    const directory = await created();
    onFile(directory, (db) => db.pragma('user_version = 0'));
    const beside = () => openSqlite({ directory, now: START, exclusive: false, migrate: false });
    const before = readFileSync(join(directory, DATABASE_FILE));
    await expect(beside()).rejects.toThrow(StoreUnavailable);
    await expect(beside()).rejects.toThrow(
      /schema version 0, this version of Sched needs \d+: run `sched migrate`/,
    );
    expect(readFileSync(join(directory, DATABASE_FILE)).equals(before)).toBe(true);
    onFile(directory, (db) => db.pragma(`user_version = ${MIGRATIONS.length}`));
    await (await beside()).close();
  });

  test('a database that an earlier version of Sched made', async () => {
    const directory = freshDirectory();
    onFile(directory, (db) => {
      db.exec(
        `CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;
         INSERT INTO migrations VALUES (1, 'the first schema', 1);
         CREATE TABLE projects (id TEXT PRIMARY KEY) STRICT`,
      );
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma('user_version = 1');
      db.pragma('journal_mode = WAL');
    });
    const refusal =
      /^The database was made by an earlier version of Sched, and this version cannot migrate it\. Set SCHED_DATA_DIR to an empty directory, or run the earlier version\.$/;
    await expectRefusal(directory, refusal);
    const beside = openSqlite({ directory, now: START, exclusive: false, migrate: false });
    await expect(beside).rejects.toThrow(refusal);
  });

  test('a database of another program', async () => {
    const directory = freshDirectory();
    onFile(directory, (db) => db.exec('CREATE TABLE theirs (a INTEGER); INSERT INTO theirs VALUES (1)'));
    await expectRefusal(directory, /belongs to another program/);
    expect(onFile(directory, (db) => db.prepare('SELECT a FROM theirs').pluck().all())).toEqual([1]);
  });

  test('a file that is not a database', async () => {
    const directory = freshDirectory();
    writeFileSync(join(directory, DATABASE_FILE), 'no database, '.repeat(1_000));
    await expectRefusal(directory, /not a database/);
  });

  test('a directory that cannot be created', async () => {
    const file = join(freshDirectory(), 'file');
    writeFileSync(file, '');
    await expect(open(join(file, 'data'))).rejects.toThrow(StoreUnavailable);
    await expect(open(join(file, 'data'))).rejects.toThrow(/data directory .* cannot be created/);
  });
});

describe('one data directory', () => {
  test('is used by one service at a time', async () => {
    const directory = freshDirectory();
    const first = await open(directory);
    await expect(open(directory)).rejects.toThrow(StoreUnavailable);
    await expect(open(directory)).rejects.toThrow(
      `The data directory ${directory} is in use by another Sched. Stop it, or choose another directory`,
    );
    await first.check(START);
    await first.close();
    await (await open(directory)).close();
  });

  test('is shared with the command line, and each sees what the other writes', async () => {
    const directory = freshDirectory();
    const service = await open(directory);
    const commandLine = await open(directory, false);
    const project = { pinnedVersion: '2026-11-15', createdAt: START };
    const mine = await service.addProject({ ...project, id: 'prj_1' as never, name: 'of-the-service' });
    const theirs = await commandLine.addProject({
      ...project,
      id: 'prj_2' as never,
      name: 'of-the-command-line',
    });
    expect(await commandLine.findProject('of-the-service')).toEqual(mine);
    expect(await service.findProject('of-the-command-line')).toEqual(theirs);
    await expect(open(directory)).rejects.toThrow(StoreUnavailable);

    const writes = [service, commandLine].flatMap((store) =>
      Array.from({ length: 50 }, (_, i) => store.check(instant(START + i))),
    );
    await Promise.all(writes);
    await commandLine.close();
    await service.check(START);
    await service.close();
  });

  test('is free again after its service was killed', async () => {
    const directory = freshDirectory();
    const script = join(root, 'hold.mjs');
    writeFileSync(
      script,
      `import { openSqlite } from '${new URL('./open-sqlite.ts', import.meta.url).href}';
       const store = await openSqlite({ directory: process.argv[2], now: 0, exclusive: true });
       await store.check(0);
       process.stdout.write('open');`,
    );
    const child = spawn(process.execPath, [script, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    try {
      expect(String(await Promise.race([once(child.stdout, 'data'), exited]))).toBe('open');
      await expect(open(directory)).rejects.toThrow(/in use by another Sched/);
    } finally {
      child.kill('SIGKILL');
      await exited;
    }
    await (await open(directory)).close();
  });
});

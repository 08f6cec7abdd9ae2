/** Retires a master key while the real service runs: every value is resealed, and the old key can be removed. */
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { given, SETTINGS, startService, TEST_KEY } from '#test/delivery/harness.ts';
import { waitForEnd } from '#test/delivery/waits.ts';
import { Api } from '#test/e2e/client.ts';
import { createdProfile, patchedProfile, rescheduled } from '#test/e2e/expectations.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { headerOf, type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { verify } from '#test/receiver/verify.ts';
import { runCommand, type ServiceInThread, startInThread } from './run-command.ts';
import { temporaryDirectory } from './sched-process.ts';

type Row = Readonly<Record<string, unknown>>;

/** The raw rows of a store, SQLite or PostgreSQL. */
interface Raw extends AsyncDisposable {
  readonly dataDir: string;
  /** The settings of a process that uses this store. */
  readonly env: Readonly<Record<string, string>>;
  /** Each parameter is a `?`. */
  run(sql: string, ...parameters: readonly unknown[]): Promise<readonly Row[]>;
  tables(): Promise<readonly string[]>;
}

async function sqlite(): Promise<Raw> {
  const dataDir = temporaryDirectory();
  const run = async (sql: string, ...parameters: readonly unknown[]) => {
    const db = new Database(join(dataDir, 'sched.db'));
    try {
      const statement = db.prepare<unknown[], Row>(sql);
      if (statement.reader) return statement.all(...parameters);
      statement.run(...parameters);
      return [];
    } finally {
      db.close();
    }
  };
  const tables = async () =>
    (await run("SELECT name FROM sqlite_schema WHERE type = 'table'")).map(({ name }) => String(name));
  return { dataDir, env: { SCHED_DATABASE_URL: '' }, run, tables, [Symbol.asyncDispose]: async () => {} };
}

async function postgres(): Promise<Raw> {
  const database = await createDatabase(await sharedPostgres());
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const run = async (sql: string, ...parameters: readonly unknown[]) => {
    let count = 0;
    return (
      await client.query<Row>(
        sql.replaceAll('?', () => `$${++count}`),
        [...parameters],
      )
    ).rows;
  };
  const tables = async () =>
    (await run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).map(({ tablename }) =>
      String(tablename),
    );
  return {
    dataDir: temporaryDirectory(),
    env: { SCHED_DATABASE_URL: database.url },
    run,
    tables,
    async [Symbol.asyncDispose]() {
      await client.end();
      await database.drop();
    },
  };
}

/** The vault writes this name of the key into every sealed value. */
function idOf(key: Uint8Array): Buffer {
  return createHash('sha256').update('sched master key id').update(key).digest().subarray(0, 8);
}

/** Counts the values that name this key. */
async function namedIn(raw: Raw, key: Uint8Array): Promise<ReadonlyMap<string, number>> {
  const id = idOf(key);
  const written = [id.toString('hex'), id.toString('base64').slice(0, 10)];
  const found = new Map<string, number>();
  for (const table of await raw.tables()) {
    for (const row of await raw.run(`SELECT * FROM ${table}`)) {
      for (const [column, value] of Object.entries(row)) {
        const names = Buffer.isBuffer(value)
          ? value.includes(id)
          : written.some((text) => String(value).includes(text));
        const place = `${table}.${column}`;
        if (names) found.set(place, (found.get(place) ?? 0) + 1);
      }
    }
  }
  return found;
}

/** Writes the keys to files, as Docker and Kubernetes mount them. */
function keyFiles(key: Uint8Array, previous: Uint8Array | null): Readonly<Record<string, string>> {
  const fileOf = (bytes: Uint8Array) => {
    const path = join(temporaryDirectory(), 'key');
    writeFileSync(path, `${Buffer.from(bytes).toString('base64')}\n`, { mode: 0o644 });
    return path;
  };
  return {
    SCHED_MASTER_KEY: '',
    SCHED_MASTER_KEY_FILE: fileOf(key),
    ...(previous === null ? {} : { SCHED_MASTER_KEY_PREVIOUS_FILE: fileOf(previous) }),
  };
}

/** A service in the thread of the tests. `reseal` itself runs beside one in a process. */
function start(raw: Raw, keys: Readonly<Record<string, string>>): Promise<ServiceInThread> {
  return startInThread({ dataDir: raw.dataDir, env: { ...SETTINGS, ...raw.env, ...keys } });
}

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver[Symbol.asyncDispose]());

/** Creates a secret of an endpoint profile with the command line, and returns it. */
async function addEndpointSecret(raw: Raw, endpointId: string, key: Uint8Array): Promise<string> {
  const env = { ...raw.env, ...keyFiles(key, null) };
  const args = ['secret', 'create', '--endpoint', endpointId, '--overlap', '0', '--json'];
  const { code, stdout } = await runCommand(args, { dataDir: raw.dataDir, env });
  expect(code).toBe(0);
  return JSON.parse(stdout)[0].secret;
}

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', postgres],
] as const)('on %s', (_, open) => {
  test('every kind of value is resealed beside the service, and is sent without the old key', async () => {
    await using raw = await open();
    const [old, key] = [randomBytes(32), randomBytes(32)];
    const hook = receiver.hook();
    let shown: Awaited<ReturnType<typeof given>>;
    let secret: string;
    {
      await using sched = await start(raw, keyFiles(old, null));
      const api = Api.at(() => sched.url).as(TEST_KEY);
      const profile = await createdProfile(api, { url: hook.url, headers: { 'x-profile': 'first' } });
      await patchedProfile(api, profile.id, { timeout: '7s' });
      shown = await given(api, {
        endpoint_id: profile.id,
        delay: '1h',
        headers: { 'x-own': 'mine' },
        body: 'sealed',
      });
      secret = await addEndpointSecret(raw, profile.id, old);
      await sched.stop();
    }
    const sealedWith = new Map([
      ['payloads.sealed', 1],
      ['endpoint_profile_versions.sealed_headers', 2],
      ['signing_secrets.sealed', 2],
      ['endpoint_secrets.sealed', 1],
    ]);
    expect(await namedIn(raw, old)).toEqual(sealedWith);
    {
      const env = { ...raw.env, ...keyFiles(key, old) };
      await using sched = await startService(raw.dataDir, env);
      const { code, stdout, stderr } = await runCommand(['reseal', '--json'], { dataDir: raw.dataDir, env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const counts = (resealed: number) => ({ resealed, already: 0, unreadable: 0, changed: 0 });
      expect(JSON.parse(stdout)).toMatchObject({
        columns: {
          payloads: counts(1),
          profile_headers: counts(2),
          signing_secrets: counts(2),
          endpoint_secrets: counts(1),
        },
        total: counts(6),
        unreadable: [],
      });
      expect(await namedIn(raw, old)).toEqual(new Map());
      expect(await namedIn(raw, key)).toEqual(sealedWith);

      const again = await runCommand(['reseal'], { dataDir: raw.dataDir, env });
      expect(again.code).toBe(0);
      expect(again.stdout).toMatch(/^payloads +0 +1 +0 +0$/m);
      expect(again.stdout).toContain('Remove the previous key only when all nodes run with the current one.');
      const audited = await raw.run("SELECT actor, outcome FROM audit WHERE action = 'master_key.reseal'");
      const done = { actor: 'command line', outcome: 'done' };
      expect(audited).toEqual([done, done]);
      await sched.stop();
    }
    await using sched = await start(raw, keyFiles(key, null));
    const api = Api.at(() => sched.url).as(TEST_KEY);
    await rescheduled(api, shown.id, { delay: '1s' });
    expect((await waitForEnd(api, shown.pending.id)).delivery.status).toBe('succeeded');
    const request = await hook.arrived();
    expect([headerOf(request, 'x-profile'), headerOf(request, 'x-own'), request.body.toString()]).toEqual([
      'first',
      'mine',
      'sealed',
    ]);
    expect(verify(request, secret)).toBe('verified');
  });

  test('values that cannot be opened are named, the exit code is 1, and the output says to keep the previous keys', async () => {
    await using raw = await open();
    const key = randomBytes(32);
    const env = { ...raw.env, ...keyFiles(key, null) };
    await using sched = await start(raw, env);
    const api = Api.at(() => sched.url).as(TEST_KEY);
    const { id } = await given(api, { endpoint: 'https://example.com/', delay: '1h', body: 'hidden' });
    const [row] = await raw.run('SELECT partition, sealed FROM payloads');
    const spoiled = Buffer.from(row?.sealed as Uint8Array);
    idOf(randomBytes(32)).copy(spoiled, 1);
    await raw.run('UPDATE payloads SET sealed = ?', spoiled);
    const { code, stdout } = await runCommand(['reseal'], {
      dataDir: raw.dataDir,
      env: { ...SETTINGS, ...env },
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^payloads +0 +0 +1 +0$/m);
    expect(stdout).toContain('Keep the previous keys');
    expect(stdout).toContain(`\n  payload/${String(row?.partition)}/${id}\n`);
    expect(stdout).not.toContain('hidden');
  });
});

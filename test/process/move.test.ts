/** Moves data from SQLite to PostgreSQL with the real command. The service on PostgreSQL continues the work. */
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from '#test/delivery/audit.ts';
import { given, SETTINGS, SIGNING_SECRET, TEST_KEY } from '#test/delivery/harness.ts';
import { waitForEnd, waitForStatus } from '#test/delivery/waits.ts';
import { Api } from '#test/e2e/client.ts';
import {
  attemptsOf,
  createdProfile,
  deliveriesOf,
  expectStatus,
  list,
  ordered,
  patchedProfile,
  replayed,
} from '#test/e2e/expectations.ts';
import type { Delivery, Schedule } from '#test/e2e/resources.ts';
import { createDatabase, query, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { answer, hang } from '#test/receiver/behaviours.ts';
import { headerOf, type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { type RunningService, runCommand, startInThread } from './run-command.ts';
import { startSched, temporaryDirectory } from './sched-process.ts';

/** This store is always SQLite, whatever store the other tests use. */
const ON_SQLITE = { ...SETTINGS, SCHED_DATABASE_URL: '', SCHED_MASTER_KEY: '' };
const NO_KEY_CHANGE = { SCHED_MASTER_KEY: '' };

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver[Symbol.asyncDispose]());

async function emptyDatabase(): Promise<TestDatabase> {
  return createDatabase(await sharedPostgres());
}

function move(dataDir: string, url: string, ...args: readonly string[]) {
  return runCommand(['move', ...args], { dataDir, env: { ...NO_KEY_CHANGE, SCHED_DATABASE_URL: url } });
}

function keyIn(dataDir: string): string {
  return readFileSync(join(dataDir, 'master.key'), 'utf8').trim();
}

/** Everything that the API shows of the project in test mode. */
async function shown(api: Api) {
  const deliveries = (await list<Delivery>(api, '/v1/deliveries?limit=100')).data;
  return {
    schedules: (await list<Schedule>(api, '/v1/schedules?limit=100')).data,
    labelled: (await list<Schedule>(api, '/v1/schedules?metadata[team]=blue')).data.map(({ id }) => id),
    profiles: (await list(api, '/v1/endpoints?include_archived=true')).data,
    deliveries,
    attempts: await Promise.all(deliveries.map(({ id }) => attemptsOf(api, id))),
  };
}

test('objects from SQLite are listed, sent, retried and replayed on PostgreSQL', async () => {
  await using database = await emptyDatabase();
  await using onSqlite = await startSched({ env: ON_SQLITE });
  const { dataDir } = onSqlite;
  let sched: RunningService = onSqlite;
  const api = Api.at(() => sched.url).as(TEST_KEY);
  const hooks = {
    done: receiver.hook(),
    pending: receiver.hook(),
    paused: receiver.hook(),
    cut: receiver.hook(hang(), answer(200)),
    profile: receiver.hook(),
  };
  const profile = await createdProfile(api, { url: hooks.profile.url, headers: { 'x-profile': 'kept' } });
  const once = { endpoint: hooks.paused.url, delay: '1h', metadata: { team: 'blue' } };
  const idempotent = api.with({ 'idempotency-key': 'move-1' });
  const first = await idempotent.post('/v1/schedules', once);
  const paused = expectStatus(first, 201) as Schedule;
  await ordered(api, paused.id, 'pause');
  const done = await given(api, { endpoint: hooks.done.url, delay: '1s' });
  await waitForStatus(api, done.pending.id, 'succeeded');
  const [pending, through, cut] = await Promise.all([
    given(api, {
      endpoint: hooks.pending.url,
      delay: '8s',
      headers: { 'x-own': 'sealed' },
      body: 'sealed too',
    }),
    given(api, { endpoint_id: profile.id, delay: '8s' }),
    given(api, { endpoint: hooks.cut.url, delay: '1s', retry_policy: { base: '10ms' } }),
  ]);
  await patchedProfile(api, profile.id, { headers: { 'x-profile': 'newer' } });
  await hooks.cut.arrived();
  const before = await shown(api);
  expect(before.labelled).toEqual([paused.id]);
  await onSqlite.kill();

  const { code, stdout, stderr } = await move(dataDir, database.url, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({
    from: dataDir,
    store: expect.stringContaining(database.name),
    // The attempt in flight is in its delivery.
    rows: expect.objectContaining({ projects: 1, partitions: 2, api_keys: 2, schedules: 5, attempts: 1 }),
  });

  const env = { ...SETTINGS, SCHED_DATABASE_URL: database.url, SCHED_MASTER_KEY: keyIn(dataDir) };
  await using onPostgres = await startInThread({ env });
  sched = onPostgres;
  const { deliveries: _fires, attempts: _tries, schedules: _move, ...unchanged } = before;
  expect(await shown(api)).toMatchObject(unchanged);
  expect(await idempotent.post('/v1/schedules', once)).toMatchObject({ status: 201, text: first.text });

  expect((await waitForEnd(api, pending.pending.id)).delivery.status).toBe('succeeded');
  const sent = await hooks.pending.arrived();
  expect(headerOf(sent, 'x-own')).toBe('sealed');
  expect(sent.body.toString()).toBe('sealed too');
  await waitForEnd(api, through.pending.id);
  expect(headerOf(await hooks.profile.arrived(), 'x-profile')).toBe('kept');
  const retried = await waitForEnd(api, cut.pending.id);
  expect(retried.attempts).toMatchObject([
    { outcome: 'retryable', error: 'interrupted' },
    { outcome: 'success' },
  ]);
  const again = await replayed(api, done.pending.id);
  await waitForEnd(api, again.id);
  expect(headerOf(await hooks.done.arrived(2), 'Idempotency-Key')).toBe(
    headerOf(await hooks.done.arrived(1), 'Idempotency-Key'),
  );
  const after = await shown(api);
  const kept = new Set([done.pending.id, ...(await deliveriesOf(api, paused.id)).map(({ id }) => id)]);
  const ofThese = ({ deliveries }: typeof before) => deliveries.filter(({ id }) => kept.has(id));
  expect(ofThese(after)).toEqual(ofThese(before));
  expect(after.schedules.find(({ id }) => id === paused.id)).toMatchObject({ state: 'paused' });
  await audit(
    [api],
    Object.values(hooks).flatMap(({ requests }) => requests),
    [SIGNING_SECRET],
  );
  expect((await sched.stop()).code).toBe(0);
});

describe('the output for a person', () => {
  test('says how to start the service there, and the old data directory cannot be used again', async () => {
    await using database = await emptyDatabase();
    const dataDir = await filled();
    const { code, stdout, stderr } = await move(dataDir, database.url);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^projects +1\npartitions +2\n/);
    expect(stdout).toContain(`SCHED_MASTER_KEY    the content of ${join(dataDir, 'master.key')}`);
    expect(stdout).toContain('marked as moved. The service does not start on it again.');
    expect(stdout).not.toContain(keyIn(dataDir));
    const env = { SCHED_DATABASE_URL: '', SCHED_MASTER_KEY: '', SCHED_PORT: '0' };
    for (const args of [['serve'], ['key', 'list'], ['migrate']]) {
      const refused = await runCommand(args, { dataDir, env });
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toMatch(
        /^sched: The data in .+ was moved to postgres:\/\/.+ Set SCHED_DATABASE_URL/,
      );
    }
  });
});

test('after a move that was interrupted at its commit, nothing starts until its outcome is known', async () => {
  await using database = await emptyDatabase();
  const dataDir = await filled();
  writeFileSync(join(dataDir, 'moved'), 'moving to postgres://db/sched\n');
  const env = { SCHED_DATABASE_URL: '', SCHED_MASTER_KEY: '', SCHED_PORT: '0' };
  const refused = await runCommand(['serve'], { dataDir, env });
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(
    /^sched: Moving the data in .+ to postgres:\/\/db\/sched was interrupted, .+\n$/,
  );
  expect((await move(dataDir, database.url)).code).toBe(0);
  expect(readFileSync(join(dataDir, 'moved'), 'utf8')).toMatch(/^moved to postgres:/);
});

/** A data directory with one project. */
async function filled(): Promise<string> {
  const dataDir = temporaryDirectory();
  const env = { SCHED_DATABASE_URL: '', SCHED_MASTER_KEY: '' };
  expect(await runCommand(['project', 'create', 'default'], { dataDir, env })).toMatchObject({ code: 0 });
  return dataDir;
}

describe('a move that fails prints one line and leaves nothing behind', () => {
  async function refused(dataDir: string, url: string, line: RegExp, code = 1): Promise<void> {
    const finished = await move(dataDir, url);
    expect({ code: finished.code, stdout: finished.stdout }).toEqual({ code, stdout: '' });
    expect(finished.stderr).toMatch(/^sched: .+\n$/);
    expect(finished.stderr).toMatch(line);
  }

  async function isEmpty({ url }: TestDatabase): Promise<boolean> {
    const [row] = await query(url, "SELECT to_regclass('projects') IS NULL AS is_empty");
    return (row as { is_empty: boolean }).is_empty;
  }

  test('while the service runs on it', async () => {
    await using database = await emptyDatabase();
    await using sched = await startInThread({ env: ON_SQLITE });
    await refused(sched.dataDir, database.url, /is in use by another Sched/);
    expect(await isEmpty(database)).toBe(true);
  });

  test('without a target database, or with an invalid one', async () => {
    const dataDir = await filled();
    await refused(dataDir, '', /SCHED_DATABASE_URL must be set to the database that the data is moved to/, 2);
    await refused(dataDir, 'mysql://db/sched', /SCHED_DATABASE_URL must begin with postgres:/, 2);
    await refused(dataDir, 'postgres://127.0.0.1:1/sched', /could not be moved .* refuses connections/);
  });

  test('without a database to move', async () => {
    await using database = await emptyDatabase();
    await refused(
      temporaryDirectory(),
      database.url,
      /There is no database in .*, so there is nothing to move/,
    );
    const dataDir = temporaryDirectory();
    const env = { SCHED_DATABASE_URL: '', SCHED_MASTER_KEY: '' };
    await runCommand(['migrate'], { dataDir, env });
    await refused(dataDir, database.url, /has no project, so there is nothing to move/);
  });

  test('with another master key, or none', async () => {
    await using database = await emptyDatabase();
    const dataDir = await filled();
    writeFileSync(join(dataDir, 'master.key'), randomBytes(32).toString('base64'));
    await refused(dataDir, database.url, /master\.key does not match the key this data was sealed with/);
    rmSync(join(dataDir, 'master.key'));
    await refused(dataDir, database.url, /The master key .* is missing/);
    expect(await isEmpty(database)).toBe(true);
  });

  test('into a database that has a project', async () => {
    await using database = await emptyDatabase();
    const [one, other] = [await filled(), await filled()];
    expect((await move(one, database.url)).code).toBe(0);
    await refused(other, database.url, /already has a project/);
    await refused(one, database.url, /was moved to postgres:/);
    expect(await query(database.url, 'SELECT count(*)::integer AS count FROM projects')).toEqual([
      { count: 1 },
    ]);
  });
});

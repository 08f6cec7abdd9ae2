/** That an equal PUT writes nothing is asked of the databases themselves. The rest is in `test/e2e`. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { IdMint } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { openForReading } from '#src/store/sqlite/connection.ts';
import { DATABASE_FILE } from '#src/store/sqlite/open-sqlite.ts';
import { AesVault } from '#src/vault/aes-vault.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { openControlHarness, START } from '#test/process/control-harness.ts';
import { HOUR_MS, seededBytes } from '#test/store-contract/builders.ts';
import type { AnyStore } from '#test/store-contract/fixture.ts';
import { type Commands, KeyedMutex } from './command.ts';
import { putProfile } from './named-profiles.ts';
import { putSchedule } from './named-schedules.ts';
import type { ProfileFields } from './profiles.ts';
import type { NewSchedule } from './schedules.ts';

const ORDER: NewSchedule = {
  name: 'report',
  timing: { kind: 'one_shot', fireAt: instant(START + HOUR_MS), timezone: null },
  destination: { kind: 'inline', url: 'https://example.com/hook', method: 'POST' },
  headers: [['X-Tenant', 'acme']],
  body: '{"hello":"world"}',
  jitter: '5s',
  ttl: '1h',
  idempotencyKey: 'key',
  retryPolicy: null,
  rateLimit: { perSecond: 2 },
  notify: null,
  metadata: [['team', 'ops']],
};
const PROFILE: ProfileFields = {
  name: 'hooks',
  url: 'https://example.com/hook',
  method: 'PUT',
  headers: [['X-Tenant', 'acme']],
  timeout: '5s',
  retryPolicy: { maxAttempts: 3, strategy: 'exponential', base: '1s', factor: 2, max: '1m', jitter: true },
  retryBudget: { rate: 1, burst: 10 },
  rateLimit: null,
  breakerPolicy: null,
  responseExcerpt: 100,
  notify: null,
  standardWebhooks: false,
  metadata: [['team', 'ops']],
};

const answer = () => ({ status: 200, body: '{}' });
const ANSWERS = { created: answer, present: answer, plan: null };

function commandsOf(store: AnyStore): Commands {
  const random = { bytes: seededBytes(5) };
  return {
    store,
    clock: { now: () => START },
    ids: new IdMint(random.bytes),
    vault: new AesVault(random, random.bytes(32)),
    hints: { due: () => {}, rescan: () => {} },
    mutex: new KeyedMutex(),
    pause: async () => {},
  };
}

/** `state`: what changes with every row that is written. */
async function expectNothingWritten(
  store: AnyStore,
  partition: Partition,
  state: () => unknown,
): Promise<void> {
  const commands = commandsOf(store);
  const put = async () => [
    (await putSchedule(commands, partition, 'report', () => ORDER, ANSWERS)).isUnchanged,
    (await putProfile(commands, partition, 'hooks', () => PROFILE, ANSWERS)).isUnchanged,
  ];
  const empty = await state();
  expect(await put()).toEqual([undefined, undefined]);
  const written = await state();
  expect(written).not.toEqual(empty);
  for (let times = 0; times < 3; times++) expect(await put()).toEqual([true, true]);
  const plan = { ...ANSWERS, plan: answer };
  await putSchedule(commands, partition, 'report', () => ({ ...ORDER, ttl: null }), plan);
  await putSchedule(commands, partition, 'another', () => ({ ...ORDER, name: 'another' }), plan);
  await putProfile(commands, partition, 'hooks', () => ({ ...PROFILE, timeout: null }), plan);
  expect(await state()).toEqual(written);
}

test('an equal PUT and a dry run commit nothing to SQLite, by its counter of changes', async () => {
  await using harness = await openControlHarness();
  const db = openForReading(join(harness.directory, DATABASE_FILE));
  onTestFinished(() => void db.close());
  // It differs after every commit of another connection.
  const state = () => db.pragma('data_version', { simple: true });
  await expectNothingWritten(harness.store, 1 as Partition, state);
});

test('an equal PUT and a dry run change no row of PostgreSQL, by the versions of its rows', async () => {
  const database = await createDatabase(await sharedPostgres());
  const opened = await openedIn(database);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await opened.close();
  });
  const { rows } = await client.query<{ readonly name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
  );
  const tables = rows.map(({ name }) => name).filter((name) => name !== 'writers');
  const state = async () => {
    const versions = tables.map((name) => `SELECT '${name}' AS "table", ctid::text, xmin::text FROM ${name}`);
    return (await client.query(`${versions.join(' UNION ALL ')} ORDER BY 1, 2`)).rows;
  };
  await expectNothingWritten(opened.store, 1 as Partition, state);
});

test('a PUT replaces a payload that is lost', async () => {
  await using harness = await openControlHarness();
  const commands = commandsOf(harness.store);
  const put = () => putSchedule(commands, 1 as Partition, 'report', () => ORDER, ANSWERS);
  await put();
  const db = new Database(join(harness.directory, DATABASE_FILE));
  db.exec('DELETE FROM payloads');
  db.close();
  expect((await put()).isUnchanged).toBeUndefined();
  expect((await put()).isUnchanged).toBe(true);
});

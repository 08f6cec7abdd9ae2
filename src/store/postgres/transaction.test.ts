/**
 * Transactions that are sent at once: pipelined where the server has a transaction timeout, and otherwise with BEGIN
 * and COMMIT.
 */
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { archiveProfile } from '#src/domain/endpoint-profile.ts';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { systemTimers } from '#src/system/timers.ts';
import { addressOf, openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase, execute, query, type TestDatabase } from '#test/postgres/databases.ts';
import { type PostgresProxy, startProxy } from '#test/postgres/proxy.ts';
import { olderPostgres, sharedPostgres } from '#test/postgres/shared.ts';
import { Builders, START } from '#test/store-contract/builders.ts';
import { connect } from './connect.ts';
import { meaningOf } from './errors.ts';
import { allowPipelining, runTransaction, type TransactionStatement } from './transaction.ts';

const FREE_AFTER_MS = 300;
const MORE_THAN_A_PACKET = 1_000_000;
const LOCK_WAITS = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;

function statement(text: string, ...values: readonly string[]): TransactionStatement {
  return { text, values: [...values] };
}

const note = (text: string) => ({ ...statement('INSERT INTO notes (text) VALUES ($1)', text), name: 'note' });

const servers = [
  ['18', await sharedPostgres(), true],
  ['an older one', await olderPostgres(), false],
] as const;
const available = servers.flatMap(([name, url, canPipeline]) =>
  url === undefined ? [] : [{ name, url, canPipeline }],
);

describe.for(available)('on PostgreSQL $name', ({ url, canPipeline }) => {
  let database: TestDatabase;
  let proxy: PostgresProxy;
  beforeAll(async () => {
    database = await createDatabase(url);
    proxy = await startProxy(Number(new URL(url).port));
    await execute(database.url, 'CREATE TABLE notes (text text PRIMARY KEY)');
    for (const [setting, value] of [
      ['default_transaction_isolation', 'repeatable read'],
      ['lock_timeout', '7s'],
      ['statement_timeout', '7s'],
      ['idle_in_transaction_session_timeout', '7s'],
    ]) {
      await execute(url, `ALTER DATABASE ${database.name} SET ${setting} = '${value}'`);
    }
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await database.drop();
  });

  async function opened(by = database.url): Promise<Client & AsyncDisposable> {
    const options = { timers: systemTimers, prepare: allowPipelining };
    const client = await connect(addressOf(by), options);
    return Object.assign(client, {
      [Symbol.asyncDispose]: async () => void client.connection.stream.destroy(),
    });
  }

  async function notes(): Promise<readonly unknown[]> {
    const rows = await query(database.url, 'SELECT text FROM notes ORDER BY text COLLATE "C"');
    return rows.map((row) => (row as { readonly text: string }).text);
  }

  test('a transaction takes effect completely or not at all', async () => {
    await using client = await opened();
    await execute(database.url, 'TRUNCATE notes');
    await runTransaction(client, [note('a'), note('b')]);
    const failing = runTransaction(client, [note('c'), note('a'), note('d')]);
    await expect(failing).rejects.toMatchObject({ code: '23505' });
    await runTransaction(client, [note('e')]);
    expect(await notes()).toEqual(['a', 'b', 'e']);
  });

  test('a transaction uses its own settings, whatever the defaults are', async () => {
    await using client = await opened();
    await execute(database.url, 'TRUNCATE notes');
    const names = ['transaction_isolation', 'lock_timeout', 'statement_timeout'];
    const all = [...names, 'idle_in_transaction_session_timeout', 'transaction_timeout'];
    const statements = all.map((name) =>
      statement(`INSERT INTO notes SELECT $1 || ' ' || coalesce(current_setting($1, true), '')`, name),
    );
    await runTransaction(client, statements);
    expect(await notes()).toEqual([
      'idle_in_transaction_session_timeout 5s',
      'lock_timeout 3s',
      'statement_timeout 0',
      'transaction_isolation read committed',
      `transaction_timeout ${canPipeline ? '10s' : ''}`,
    ]);
  });

  test('when the rest of a transaction never comes, the server releases its locks', async () => {
    await using client = await opened(proxy.through(database.url));
    await execute(database.url, `TRUNCATE notes; INSERT INTO notes VALUES ('held')`);
    const sooner = (name: string, isLocal: boolean) =>
      `SELECT set_config(name, '${FREE_AFTER_MS}', ${isLocal}) FROM pg_settings WHERE name = '${name}'`;
    await client.query(sooner('transaction_timeout', false));
    // An older server does not count as idle between Parse and Bind.
    await runTransaction(client, [note('sent')]);
    proxy.interfere((sql) => {
      if (sql.startsWith('UPDATE')) proxy.stall();
      return 'pass';
    });
    const lost = runTransaction(client, [
      statement(sooner('idle_in_transaction_session_timeout', true)),
      statement(`UPDATE notes SET text = 'changed' WHERE text = 'held'`),
      note('x'.repeat(MORE_THAN_A_PACKET)),
    ]).catch(meaningOf);
    await expect.poll(() => locked(database.url)).toBe(true);
    await expect.poll(() => locked(database.url), { timeout: 5_000 }).toBe(false);
    expect(await notes()).toEqual(['held', 'sent']);
    proxy.resume();
    expect(await lost).toBe('unavailable');
  });

  test.runIf(canPipeline)('an answer before the end of a pipeline is an error', async () => {
    await using client = await opened();
    const unended = runTransaction(client, [statement('BEGIN'), note('unended')]);
    await expect(unended).rejects.toThrow(StoreUnavailable);
  });

  test('a statement sees what was committed while it waited for a lock', async () => {
    await using own = await createDatabase(url);
    await execute(url, `ALTER DATABASE ${own.name} SET default_transaction_isolation = 'repeatable read'`);
    const opening = await openedIn(own);
    const { store } = opening;
    const build = new Builders(1 as Partition);
    const profile = build.profile();
    await store.addProfile({ profile, headers: null, receipt: null });
    await using other = await opened(own.url);
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM endpoint_profiles FOR SHARE');
    await other.query(
      `INSERT INTO schedules (partition, id, state, kind, endpoint_id, header_names, payload_bytes, label_digests,
         metadata, pending_id,
         created_at, updated_at, revision)
       VALUES (1, 'sch_x', 'active', 'one_shot', $1, '[]', 0, '', '[]', 'dlv_x', 1, 1, 1)`,
      [profile.id],
    );
    const archived = store.archiveProfile(archiveProfile(profile, START));
    await expect.poll(async () => (await query(own.url, LOCK_WAITS)).length).toBe(1);
    await other.query('COMMIT');
    expect(await archived).toBe('in_use');
    await opening.close();
  });
});

async function locked(url: string): Promise<boolean> {
  const free = await query(url, `SELECT 1 FROM notes WHERE text = 'held' FOR UPDATE SKIP LOCKED`);
  return free.length === 0;
}

import { Client, type ClientConfig } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createDatabase, execute, query, type TestDatabase } from './databases.ts';
import { type PostgresProxy, startProxy, type Verdict } from './proxy.ts';
import { sharedPostgres } from './shared.ts';

let database: TestDatabase;
let proxy: PostgresProxy;

beforeAll(async () => {
  database = await createDatabase(await sharedPostgres());
  await execute(database.url, 'CREATE TABLE thing (id int)');
});
afterAll(() => database.drop());

beforeEach(async () => {
  proxy = await startProxy(Number(new URL(database.url).port));
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  await execute(database.url, 'TRUNCATE thing');
});

async function connected(options: ClientConfig = {}): Promise<Client> {
  const client = new Client({ connectionString: proxy.through(database.url), ...options });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => void client.end());
  return client;
}

const things = () => query(database.url, 'SELECT id FROM thing ORDER BY id');
const upon = (text: string, verdict: Verdict) => (sql: string) => (sql.includes(text) ? verdict : 'pass');
const INSERT = { name: 'insert', text: 'INSERT INTO thing VALUES ($1)' };

describe('a proxy to PostgreSQL', () => {
  it('passes everything on, and counts connections', async () => {
    const client = await connected();
    const long = 'x'.repeat(1_000_000);
    const { rows } = await client.query('SELECT length($1) AS characters', [long]);
    expect(rows).toEqual([{ characters: 1_000_000 }]);
    expect([proxy.open, proxy.accepted, proxy.lost]).toEqual([1, 1, 0]);
    await client.end();
    await expect.poll(() => proxy.open).toBe(0);
  });

  it('resets open connections', async () => {
    const client = await connected();
    const sent = client.query('SELECT pg_sleep(60)');
    proxy.cut();
    await expect(sent).rejects.toMatchObject({ code: 'ECONNRESET' });
    await connected();
  });

  it('refuses new connections and keeps the open ones', async () => {
    const client = await connected();
    proxy.refuse();
    await expect(connected()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await proxy.accept();
    await connected();
  });

  it('stalls, and resumes without losing bytes', async () => {
    const client = await connected();
    proxy.stall();
    let isAnswered = false;
    const sent = client.query('SELECT 1 AS one').finally(() => {
      isAnswered = true;
    });
    const later = connected();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isAnswered).toBe(false);
    proxy.resume();
    expect((await sent).rows).toEqual([{ one: 1 }]);
    await later;
  });

  it('stalls only the connection of a statement', async () => {
    const [client, other] = [await connected({ pipeline: true }), await connected()];
    proxy.interfere(upon('INSERT', 'stall it'));
    const sent = [client.query('SELECT 1'), client.query(INSERT, [1]), client.query(INSERT, [2])];
    expect((await sent[0])?.rowCount).toBe(1);
    expect((await other.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(await things()).toEqual([]);
    proxy.resume();
    await Promise.all(sent);
    expect(await things()).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it('delays bytes and keeps their order', async () => {
    const client = await connected({ pipeline: true });
    proxy.delay(50);
    const begun = performance.now();
    const answers = await Promise.all([1, 2, 3].map((id) => client.query(INSERT, [id])));
    expect(performance.now() - begun).toBeGreaterThanOrEqual(95);
    expect(answers.map(({ rowCount }) => rowCount)).toEqual([1, 1, 1]);
    expect(await things()).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  it('loses the answer of a commit, but not the commit', async () => {
    const client = await connected({ pipeline: true });
    proxy.interfere(upon('COMMIT', 'lose the answer'));
    const sent = [client.query('BEGIN'), client.query(INSERT, [1]), client.query('COMMIT')];
    const [, , commit] = await Promise.allSettled(sent);
    expect(commit?.status).toBe('rejected');
    expect(await things()).toEqual([{ id: 1 }]);
    expect([proxy.lost, proxy.open]).toEqual([1, 0]);
  });

  it('loses the answer of a prepared statement, which it knows by its text', async () => {
    const client = await connected();
    await client.query(INSERT, [1]);
    proxy.interfere(upon('INSERT', 'lose the answer'));
    await expect(client.query(INSERT, [2])).rejects.toThrow();
    expect(await things()).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it('loses a commit', async () => {
    const client = await connected({ pipeline: true });
    proxy.interfere(upon('COMMIT', 'lose it'));
    await client.query('BEGIN');
    await client.query(INSERT, [1]);
    await expect(client.query('COMMIT')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await things()).toEqual([]);
  });
});

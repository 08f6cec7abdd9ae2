import type { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoreUnavailable } from '#src/ports/store.ts';
import { systemTimers } from '#src/system/timers.ts';
import { addressOf } from '#test/postgres/contract-databases.ts';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { connector } from './connect.ts';
import { ReadPool } from './read-pool.ts';
import { ReconnectingClient } from './reconnecting-client.ts';

let database: TestDatabase;
const clients: ReconnectingClient[] = [];
/**
 * Connections of the newest pool. A client of an earlier pool connects again after a refused write, because a server
 * that refuses writes may have become a standby.
 */
let opened = 0;
let pools = 0;
let isReachable = true;

beforeAll(async () => {
  database = await createDatabase(await sharedPostgres());
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await database.drop();
});

/** A pool of one client, and of another one that cannot connect. */
function reader(): ReadPool {
  opened = 0;
  const pool = ++pools;
  const connect = connector(addressOf(database.url), { timers: systemTimers });
  const client = clientOf(() => {
    if (pool === pools) opened += 1;
    if (!isReachable) throw new StoreUnavailable('PostgreSQL cannot be used.');
    return connect();
  });
  clients.push(client);
  const unreachable = clientOf(() => {
    throw new StoreUnavailable('PostgreSQL cannot be used.');
  });
  return new ReadPool([unreachable, client], true);
}

function clientOf(connect: () => Promise<Client>): ReconnectingClient {
  return new ReconnectingClient({ connect: async () => connect(), timers: systemTimers, prepares: true });
}

test('the first query opens the connections, once', async () => {
  const pool = reader();
  expect(opened).toBe(0);
  const answers = await Promise.all([1, 2, 3].map((n) => pool.query('SELECT $1::integer AS n', n)));
  expect(answers).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
  expect(opened).toBe(1);
});

test('a query fails if no connection can be opened, and the next one opens them again', async () => {
  const pool = reader();
  isReachable = false;
  await expect(pool.query('SELECT $1::integer AS n', 1)).rejects.toThrow(StoreUnavailable);
  isReachable = true;
  expect(await pool.query('SELECT $1::integer AS n', 1)).toEqual([{ n: 1 }]);
  expect(opened).toBe(2);
});

test('a query cannot change data', async () => {
  const changing = reader().query('CREATE TABLE t AS SELECT $1::integer AS n', 1);
  await expect(changing).rejects.toThrow(/read-only/);
});

test('a query has a time limit, which does not stay in the session', async () => {
  const sent = reader().query('SELECT current_setting($1) AS given', 'statement_timeout');
  expect(await sent).toEqual([{ given: '2s' }]);
  const after = await clients.at(-1)?.send('SHOW statement_timeout');
  expect(after?.rows).toEqual([{ statement_timeout: '0' }]);
});

test('a query is refused when too many are in flight', async () => {
  const pool = reader();
  const sent = Array.from({ length: 65 }, () => pool.query('SELECT $1::integer AS n', 1));
  const refused = (await Promise.allSettled(sent)).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(1);
  await expect(sent.at(-1)).rejects.toThrow('Too many queries');
});

test('a pool of closed clients refuses every query', async () => {
  const pool = reader();
  await pool.query('SELECT $1::integer AS n', 1);
  await clients.at(-1)?.close();
  await expect(pool.query('SELECT $1::integer AS n', 1)).rejects.toThrow(StoreUnavailable);
  expect(opened).toBe(1);
});

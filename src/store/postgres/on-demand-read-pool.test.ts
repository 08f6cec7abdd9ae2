import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoreUnavailable } from '#src/ports/store.ts';
import { systemTimers } from '#src/system/timers.ts';
import { addressOf } from '#test/postgres/contract-databases.ts';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { connector } from './connect.ts';
import { OnDemandReadPool } from './on-demand-read-pool.ts';
import { decodeText } from './parameter-encoding.ts';
import { ReconnectingClient } from './reconnecting-client.ts';

let database: TestDatabase;
const links: ReconnectingClient[] = [];
let opened = 0;
let isReachable = true;

beforeAll(async () => {
  database = await createDatabase(await sharedPostgres());
});
afterAll(async () => {
  await Promise.all(links.map((link) => link.close()));
  await database.drop();
});

function reader(): OnDemandReadPool {
  opened = 0;
  return new OnDemandReadPool(() => {
    opened += 1;
    const connect = connector(addressOf(database.url), { timers: systemTimers, decodeText });
    const link = new ReconnectingClient({ connect, timers: systemTimers, prepares: true });
    links.push(link);
    return isReachable ? [link] : [link, unreachable()];
  });
}

function unreachable(): ReconnectingClient {
  const connect = async () => {
    // The other one is open by then.
    await expect.poll(() => links.at(-1)?.isConnected).toBe(true);
    throw new StoreUnavailable('PostgreSQL cannot be used.');
  };
  return new ReconnectingClient({ connect, timers: systemTimers, prepares: true });
}

test('connections are opened by the first question, once', async () => {
  const pool = reader();
  expect(opened).toBe(0);
  const answers = await Promise.all([1, 2, 3].map((n) => pool.query('SELECT $1::integer AS n', n)));
  expect(answers).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
  expect(opened).toBe(1);
});

test('where there are none to be had the question fails, and the next one tries again', async () => {
  const pool = reader();
  isReachable = false;
  await expect(pool.query('SELECT $1::integer AS n', 1)).rejects.toThrow(StoreUnavailable);
  expect(links.at(-1)?.isConnected, 'one that was open already').toBe(false);
  isReachable = true;
  expect(await pool.query('SELECT $1::integer AS n', 1)).toEqual([{ n: 1 }]);
});

test('nothing can be changed', async () => {
  const changing = reader().query('CREATE TABLE t AS SELECT $1::integer AS n', 1);
  await expect(changing).rejects.toThrow(/read-only/);
});

test('a question has its time, and leaves no setting behind for whoever has the session next', async () => {
  const ask = reader().query('SELECT current_setting($1) AS given', 'statement_timeout');
  expect(await ask).toEqual([{ given: '2s' }]);
  const after = await links.at(-1)?.send('SHOW statement_timeout');
  expect(after?.rows).toEqual([{ statement_timeout: '0' }]);
});

test('no more are under way than there is room for', async () => {
  const pool = reader();
  const asked = Array.from({ length: 65 }, () => pool.query('SELECT $1::integer AS n', 1));
  const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(1);
  await expect(asked.at(-1)).rejects.toThrow('Too many questions');
});

test('one that was closed refuses every question', async () => {
  const pool = reader();
  await pool.close();
  await expect(pool.query('SELECT $1::integer AS n', 1)).rejects.toThrow('The store is closed.');
  expect(opened).toBe(0);
});

test('its connections are closed with it', async () => {
  const pool = reader();
  await pool.query('SELECT $1::integer AS n', 1);
  expect(links.at(-1)?.isConnected).toBe(true);
  await pool.close();
  expect(links.at(-1)?.isConnected).toBe(false);
});

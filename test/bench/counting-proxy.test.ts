/** The proxy that counts round trips to PostgreSQL. */
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { startCountingProxy } from '../../bench/capacity/counting-proxy.ts';

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

test('statements and round trips are counted, also when a message comes in many parts', async () => {
  await using proxy = await startCountingProxy(await sharedPostgres());
  const client = await connected(proxy.url);
  const before = proxy.traffic();
  await client.query('SELECT 1');
  await client.query('SELECT $1::text', ['x'.repeat(1_000_000)]);
  await client.query({ name: 'third', text: 'SELECT $1::int', values: [3] });
  const after = proxy.traffic();
  await client.end();
  expect(after.statements - before.statements).toBe(3);
  expect(after.roundTrips - before.roundTrips).toBe(3);
  expect(after.bytes - before.bytes).toBeGreaterThan(2_000_000);
});

test('statements that are sent together are one round trip', async () => {
  await using proxy = await startCountingProxy(await sharedPostgres());
  const client = await connected(proxy.url);
  const before = proxy.traffic();
  await client.query('SELECT 1; SELECT 2');
  const after = proxy.traffic();
  await client.end();
  expect(after.roundTrips - before.roundTrips).toBe(1);
});

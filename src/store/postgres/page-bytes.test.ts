/** PostgreSQL finds out which rows of a list fit without reading large values. */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import { lists } from '#src/store/sql/lists.ts';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { START } from '#test/store-contract/builders.ts';
import { ALL_SCHEDULES } from '#test/store-contract/everything.ts';
import type { Reader } from './read-pool.ts';
import { migrate } from './schema-version.ts';
import { SYNTAX } from './syntax.ts';

const ROWS = 20;
/** A large value takes about 30 blocks; a row without it takes about one. */
const BLOCKS_MAX = 10 * ROWS;
const VALUE_BLOCKS = 25 * ROWS;
/** The value cannot be compressed. */
const LARGE = `(SELECT string_agg(md5(i || '/' || n), '') FROM generate_series(1, 6500) n)`;

interface Blocks {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

let database: TestDatabase;
let client: Client;
beforeAll(async () => {
  database = await createDatabase(await sharedPostgres());
  client = new Client({ connectionString: database.url });
  await client.connect();
  await migrate(client, START, async () => undefined);
  await client.query(`INSERT INTO schedules (partition, id, state, kind, url, header_names, payload_bytes, label_digests, metadata, pending_id,
      created_at, updated_at, revision)
    SELECT 1, 'sch_' || i, 'active', 'one_shot', '', '[]', 0, '', ${LARGE}, '', 1, 1, 1 FROM generate_series(1, ${ROWS}) i`);
  await client.query(`INSERT INTO endpoint_profiles (partition, id, version, archived, created_at, updated_at, revision)
    SELECT 1, 'ep_' || i, 1, 0, 1, 1, 1 FROM generate_series(1, ${ROWS}) i`);
  await client.query(`INSERT INTO endpoint_profile_versions (partition, endpoint_id, version, url, method, header_names,
      retry_policy, metadata)
    SELECT 1, 'ep_' || i, 1, '', 'POST', '[]', '{}', ${LARGE} FROM generate_series(1, ${ROWS}) i`);
  await client.query('VACUUM ANALYZE');
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

async function blocksOf(sql: string, parameters: readonly unknown[]): Promise<number> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Blocks }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
    [...parameters],
  );
  const blocks = rows.map((row) => row['QUERY PLAN'][0].Plan);
  return blocks.reduce((sum, of) => sum + of['Shared Hit Blocks'] + of['Shared Read Blocks'], 0);
}

test('a page of large objects is cut without reading their values', async () => {
  const blocks: number[] = [];
  // EXPLAIN ANALYZE does not send rows, so it reads no large values for sending.
  const explain = async (sql: string, ...parameters: readonly unknown[]) => {
    blocks.push(await blocksOf(sql, parameters));
    return [];
  };
  const reader = { query: explain, lookUp: explain, lookUpValues: explain } satisfies Reader;
  const { listSchedules, listProfiles } = lists(reader, SYNTAX);
  const page = { before: null, limit: ROWS };
  for (const filter of [ALL_SCHEDULES, { ...ALL_SCHEDULES, state: 'active' }] as const) {
    await listSchedules(1 as Partition, filter, page);
  }
  await listProfiles(1 as Partition, true, page);
  expect(blocks).toHaveLength(3);
  expect(Math.max(...blocks)).toBeLessThan(BLOCKS_MAX);
  const read = await blocksOf('SELECT sum(length(metadata || id)) FROM schedules', []);
  expect(read).toBeGreaterThan(VALUE_BLOCKS);
});

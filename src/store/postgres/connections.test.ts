import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { systemTimers } from '#src/system/timers.ts';
import { addressOf } from '#test/postgres/contract-databases.ts';
import { createDatabase, query, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { START } from '#test/store-contract/builders.ts';
import { openPostgres } from './open-postgres.ts';

const OPERATIONS = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
const [, node, writing, reading, pooled, command] =
  /Each node has (\d+): (\d+) write, (\d+) read, 1 listens\. Behind PgBouncer it has (\d+)\..* A command has (\d+) while/
    .exec(OPERATIONS)
    ?.map(Number) ?? [];

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(await sharedPostgres());
});
afterAll(() => database.drop());

/** A connection that is being closed is still counted for a moment. */
async function expectConnections(expected: number): Promise<void> {
  const sql = `SELECT count(*)::integer AS open FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  await vi.waitFor(async () => expect(await query(database.url, sql)).toEqual([{ open: expected }]), {
    timeout: 10_000,
  });
}

function opened(node: string, isSmall: boolean): Promise<SqlStore> {
  return openPostgres({
    address: addressOf(database.url),
    clock: { now: () => instant(START) },
    timers: systemTimers,
    node,
    migrate: true,
    isSmall,
  });
}

test.for([
  ['a node', false, Number(writing) + Number(reading)],
  ['a command', true, Number(command)],
] as const)('the store of %s has as many connections as the docs say', async ([name, isSmall, expected]) => {
  const store = await opened(name, isSmall);
  try {
    await expectConnections(expected);
  } finally {
    await store.close();
  }
  await expectConnections(0);
});

test('the docs add up: one more connection listens, but not behind PgBouncer', () => {
  expect([Number(writing) + Number(reading) + 1, Number(node) - 1]).toEqual([node, pooled]);
});

test('a node runs the statements of a claim before the first delivery is due', async () => {
  const store = await opened('warm', false);
  try {
    const sql = `SELECT state FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'WITH held AS (%UPDATE deliveries%claim_node%'`;
    const expected = [{ state: 'idle' }];
    await vi.waitFor(async () => expect(await query(database.url, sql)).toEqual(expected), {
      timeout: 10_000,
    });
  } finally {
    await store.close();
  }
});

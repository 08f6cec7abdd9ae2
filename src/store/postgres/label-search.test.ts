/** A search by several labels delays only other searches. */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Page } from '#src/ports/lists.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { ALL_DELIVERIES, ANY_SCHEDULES } from '#test/store-contract/everything.ts';
import type { Opened } from '#test/store-contract/fixture.ts';

const SEVERAL = {
  ...ANY_SCHEDULES,
  labels: [
    ['a', 'b'],
    ['c', 'd'],
  ],
} as const;
const PAGE: Page<ScheduleId> = { before: null, limit: 10 };
/** More searches than the API has read connections. */
const SEARCHES = 8;

let database: TestDatabase;
let opened: Opened;
let other: Client;
beforeAll(async () => {
  database = await createDatabase(await sharedPostgres());
  opened = await openedIn(database);
  other = new Client({ connectionString: database.url });
  await other.connect();
});
afterAll(async () => {
  await other.end();
  await opened.close();
});

test('while searches hang, key look-ups and lists are answered', async () => {
  const { store } = opened;
  await other.query('BEGIN');
  await other.query('LOCK TABLE schedule_labels IN ACCESS EXCLUSIVE MODE');
  const searches = Array.from({ length: SEARCHES }, (_, index) =>
    store.searchSchedules((index + 1) as Partition, SEVERAL, PAGE),
  );
  const ended = Promise.allSettled(searches);
  await expect.poll(waiting).toBeGreaterThan(0);

  expect(await store.findTenant('unknown')).toBeNull();
  const active = { ...ANY_SCHEDULES, state: 'active' } as const;
  expect((await store.listSchedules(1 as Partition, active, PAGE)).items).toEqual([]);
  const deliveries = { before: null, limit: 10 };
  expect(await store.listDeliveries(1 as Partition, ALL_DELIVERIES, deliveries)).toEqual([]);
  expect(await store.insight.listGates(1 as Partition, 10)).toEqual([]);
  expect(await waiting(), 'the searches still hang').toBeGreaterThan(0);

  await other.query('ROLLBACK');
  // The server may have cancelled some that took too long.
  await ended;
  expect(await store.searchSchedules(1 as Partition, SEVERAL, PAGE)).toEqual({ found: [], next: null });
});

async function waiting(): Promise<number> {
  const { rows } = await other.query<{ readonly count: number }>(
    `SELECT count(*)::integer AS count FROM pg_locks
     WHERE NOT granted AND relation = 'schedule_labels'::regclass`,
  );
  return rows[0]?.count ?? 0;
}

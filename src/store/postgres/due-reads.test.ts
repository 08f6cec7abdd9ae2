/** Pages of due deliveries of some slots are complete and in order, however rows are spread over the slots. */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { instant } from '#src/domain/instant.ts';
import { ALL_SLOTS, type Slot } from '#src/domain/slot.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import type { Opened } from '#test/store-contract/fixture.ts';

const UNTIL = 1_000;
const ROWS = 3_000;
/** The slot and the due instant of row `i`. */
const SPREADS = [
  ['evenly', 'i % 256', 'i % 900'],
  ['almost all in one slot', 'CASE WHEN i % 20 = 0 THEN i % 256 ELSE 8 END', 'i % 900'],
  ['all at one instant', 'i % 256', '7'],
  ['one slot after the other', 'i / 12', 'i / 4'],
  ['others first, and half of them not due', 'CASE WHEN i < 2000 THEN 1 ELSE 2 * (i % 100) END', 'i * 2 / 5'],
] as const;

let database: TestDatabase;
let opened: Opened;
let client: Client;

beforeAll(async () => {
  database = await createDatabase(await sharedPostgres());
  opened = await openedIn(database);
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await opened.close();
});

async function fill(slot: string, dueAt: string): Promise<void> {
  await client.query('TRUNCATE deliveries');
  await client.query(
    `INSERT INTO deliveries (partition, id, schedule_id, status, occurrence, scheduled_for, due_at, reserved,
       attempt_count, idempotency_key, url, method, payload_bytes, retry_policy, created_at, revision, slot, endpoint_digest)
     SELECT 1, 'dlv_' || md5(i::text), 'sch_' || i, CASE i % 7 WHEN 0 THEN 'retry_scheduled' ELSE 'scheduled' END,
       i, 1, ${dueAt}, 0, 0, 'key', 'https://a.example/', 'POST', 0, '{}', 1, 1, ${slot}, 'key'
     FROM generate_series(1, ${ROWS}) i`,
  );
}

async function pages(slots: ReadonlySet<Slot>, limit: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after: DueDelivery | null = null; ; ) {
    const page: readonly DueDelivery[] = await opened.store.listDue(after, instant(UNTIL), limit, slots);
    ids.push(...page.map(({ id }) => id));
    after = page.at(-1) ?? null;
    if (page.length < limit || after === null) return ids;
  }
}

test.for(SPREADS)('spread %s', async ([, slot, dueAt]) => {
  await fill(slot, dueAt);
  for (const [slots, limit] of [
    [ALL_SLOTS.filter((one) => one % 2 === 0), 250],
    [ALL_SLOTS.filter((one) => one % 2 === 0), 7],
    [ALL_SLOTS.filter((one) => one > 0), 1_000],
    [ALL_SLOTS.slice(8, 9), 40],
  ] as const) {
    const { rows } = await client.query<{ readonly id: string }>(
      `SELECT id FROM deliveries WHERE due_at <= $1 AND slot = ANY($2::integer[]) ORDER BY due_at, id`,
      [UNTIL, slots],
    );
    expect(await pages(new Set(slots), limit)).toEqual(rows.map(({ id }) => id));
  }
});

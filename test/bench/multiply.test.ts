/** A store that the benchmark has filled is one that the service could have filled. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { parseId } from '#src/domain/id.ts';
import { CURRENT_VERSION } from '#src/domain/project.ts';
import { openSqlite } from '#src/store/sqlite/open-sqlite.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase, query } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { Builders, START } from '#test/store-contract/builders.ts';
import { ALL_SCHEDULES, readEverything } from '#test/store-contract/everything.ts';
import type { AnyStore } from '#test/store-contract/fixture.ts';
import { fileOf } from '../../bench/stored/filled-stores.ts';
import type { Multiplication } from '../../bench/stored/multiply.ts';
import { multiplyPostgres } from '../../bench/stored/multiply-postgres.ts';

const TEMPLATES = 3;
/** More than one character counts. */
const COPIES = 40;
const STORED = TEMPLATES * COPIES;
const ALL: Multiplication = { kind: 'apart', copies: COPIES, partition: null };

/** Some that are made in one millisecond: their ids differ in the last character alone. */
async function addTemplates(store: AnyStore): Promise<Builders> {
  const id = 'prj_0000000000000000000000000a' as Parameters<typeof store.addProject>[0]['id'];
  const project = await store.addProject({
    id,
    name: 'filled',
    pinnedVersion: CURRENT_VERSION,
    createdAt: START,
  });
  if (project === 'taken') throw new Error('The store is not empty.');
  const builders = new Builders(project.partitions.test);
  for (let n = 0; n < TEMPLATES; n++) {
    const made = builders.schedule({ metadata: [['tenant', `tenant-${n}`]] });
    await store.addSchedule({ ...made, payload: Uint8Array.of(n), profile: null, receipt: null });
  }
  return builders;
}

async function expectFilled(store: AnyStore, { partition }: Builders): Promise<void> {
  const { schedules, deliveries, payloads } = await readEverything(store, partition, []);
  expect([schedules.length, deliveries.length, payloads.length]).toEqual([STORED, STORED, STORED]);
  expect(new Set(schedules.map(({ schedule }) => schedule.id)).size).toBe(STORED);
  expect(payloads.filter((payload) => payload === null)).toEqual([]);
  const deliveryOf = new Map(deliveries.map((delivery) => [delivery.scheduleId, delivery]));
  for (const { schedule } of schedules) {
    const pending = deliveryOf.get(schedule.id);
    expect(parseId('sch', schedule.id)).toBe(schedule.id);
    expect(pending?.id).toBe(schedule.pendingId);
    expect(pending?.idempotencyKey).toBe(pending?.id);
    expect(schedule.timing.kind === 'one_shot' && schedule.timing.fireAt).toBe(pending?.scheduledFor);
    expect(schedule.createdAt).toBe(START);
  }
  expect(new Set(deliveries.map(({ scheduledFor }) => scheduledFor)).size).toBe(COPIES);
  const filter = { ...ALL_SCHEDULES, labels: [['tenant', 'tenant-1']] as const };
  const { items: ofTenant } = await store.listSchedules(partition, filter, { before: null, limit: STORED });
  expect(ofTenant).toHaveLength(COPIES);
}

function sqliteSchema(directory: string): readonly unknown[] {
  const db = new Database(fileOf(directory), { readonly: true });
  try {
    return db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();
  } finally {
    db.close();
  }
}

function postgresSchema(url: string): Promise<readonly unknown[]> {
  return query(
    url,
    `SELECT indexdef AS definition FROM pg_indexes WHERE schemaname = 'public'
     UNION SELECT conname || pg_get_constraintdef(oid) FROM pg_constraint ORDER BY definition`,
  );
}

describe('multiplied', () => {
  test('a SQLite store has every copy whole, and the schema it had', async () => {
    const directory = temporaryDirectory();
    const open = () => openSqlite({ directory, now: START, exclusive: true });
    const before = await open();
    const builders = await addTemplates(before);
    await before.close();
    const schema = sqliteSchema(directory);
    const script = join(import.meta.dirname, '../../bench/stored/multiply-sqlite.ts');
    const run = spawnSync(process.execPath, [script, fileOf(directory), JSON.stringify(ALL)], {
      encoding: 'utf8',
    });
    expect(run.stderr).toBe('');
    expect(sqliteSchema(directory)).toEqual(schema);
    const store = await open();
    await expectFilled(store, builders);
    await store.close();
  });

  test('and so has a PostgreSQL store', async () => {
    const database = await createDatabase(await sharedPostgres());
    const opened = await openedIn(database);
    try {
      const builders = await addTemplates(opened.store);
      const schema = await postgresSchema(database.url);
      await multiplyPostgres(database.url, ALL);
      expect(await postgresSchema(database.url)).toEqual(schema);
      await expectFilled(await opened.reopen(), builders);
    } finally {
      await opened.close();
    }
  });
});

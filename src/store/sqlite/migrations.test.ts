/** A database of an earlier version with rows in it is migrated. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DELIVERY_STATUSES, type Delivery } from '#src/domain/delivery.ts';
import { defer, isTerminal } from '#src/domain/delivery-lifecycle.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { SCHEDULE_STATES, type Schedule } from '#src/domain/schedule.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import { labelBytes } from '#src/store/sql/digests.ts';
import { toDeliveryRow, toScheduleRow } from '#src/store/sql/rows.ts';
import { Builders, DAY_MS, HOURLY, START } from '#test/store-contract/builders.ts';
import { ALL_SCHEDULES, readEverything } from '#test/store-contract/everything.ts';
import { APPLICATION_ID } from './connection.ts';
import { MIGRATIONS } from './migrations.ts';
import { DATABASE_FILE, SqliteStore } from './sqlite-store.ts';

const PARTITION = 1 as Partition;
const PAYLOAD_BYTES = 1_000;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sched-migrations-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Makes a file as a program with migrations up to `version` left it. */
function fileOf(version: number, fill: (insert: (table: string, row: object) => void) => void): void {
  const empty = new Database(join(directory, DATABASE_FILE));
  empty.exec(
    'CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  );
  for (const migration of MIGRATIONS.slice(0, version)) {
    empty.exec(migration.sql);
    empty.prepare('INSERT INTO migrations VALUES (?, ?, ?)').run(migration.version, migration.name, START);
  }
  empty.pragma(`application_id = ${APPLICATION_ID}`);
  empty.pragma(`user_version = ${version}`);
  fill((table, row) => {
    const columns = Object.keys(row);
    const placeholders = columns.map(() => '?').join(', ');
    empty
      .prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${placeholders})`)
      .run(...Object.values(row));
  });
  empty.close();
}

/** A row in the form of a schema before version 5. */
function rowBefore(schedule: Schedule): Readonly<Record<string, unknown>> {
  const { payload_bytes: _bytes, label_digests: _digests, ...row } = toScheduleRow(schedule);
  return row;
}

test('from version 1: all rows are kept, nothing is reserved, due work is found, ended rows can be pruned', async () => {
  const build = new Builders(PARTITION);
  const made = DELIVERY_STATUSES.map((status) => {
    const { schedule, pending } = build.schedule();
    const ended = isTerminal(status) ? { dueAt: null, finalizedAt: START } : {};
    const delivery: Delivery = { ...pending, ...ended, status, payloadBytes: PAYLOAD_BYTES };
    const endedAt = isTerminal(status) ? START : null;
    const state = endedAt === null ? 'active' : 'completed';
    return { delivery, schedule: { ...schedule, endedAt, state, payloadBytes: PAYLOAD_BYTES } as const };
  });
  fileOf(1, (insert) => {
    for (const { schedule, delivery } of made) {
      const { booked: _booked, payload_bytes: _bytes, ...row } = toDeliveryRow(delivery);
      insert('deliveries', row);
      insert('schedules', rowBefore(schedule));
      insert('payloads', {
        partition: PARTITION,
        schedule_id: schedule.id,
        sealed: Buffer.alloc(37 + PAYLOAD_BYTES),
      });
    }
  });

  const later = instant(START + DAY_MS);
  const store = await SqliteStore.open({ directory, now: later, exclusive: true });
  try {
    const { deliveries, schedules } = await readEverything(store, PARTITION, []);
    expect(deliveries.toReversed()).toEqual(made.map(({ delivery }) => delivery));
    expect(schedules.map(({ schedule }) => schedule).toReversed()).toEqual(
      made.map(({ schedule }) => schedule),
    );

    const due = await store.listDue(null, later, 100);
    expect(due).toEqual(made.flatMap(({ delivery }) => dueDeliveryOf(delivery) ?? []));
    const first = deliveries.find(({ status }) => status === 'scheduled');
    if (first === undefined) throw new Error('There is no scheduled delivery.');
    expect(await store.defer([defer(first, later, true)])).toEqual(['done']);
    expect(await store.findDelivery(PARTITION, first.id)).toMatchObject({ reserved: true, dueAt: later });

    const ended = made.filter(({ schedule }) => schedule.endedAt !== null).length;
    expect(await store.prune('deliveries', later, 100)).toBe(ended);
    expect(await store.prune('schedules', later, 100)).toBe(ended);
    const left = await readEverything(store, PARTITION, []);
    expect(left.schedules).toHaveLength(made.length - ended);
    expect(left.deliveries).toHaveLength(made.length - ended);
  } finally {
    await store.close();
  }
});

test('from version 4: label rows get state and kind of their schedule, and rows without a schedule are gone', async () => {
  const build = new Builders(PARTITION);
  const label = ['team', 'ops'] as const;
  const made = SCHEDULE_STATES.flatMap((state) =>
    [build.oneShot(), HOURLY].map((timing) => {
      const { schedule } = build.schedule({ timing, metadata: [label] });
      build.tick();
      return { ...schedule, state };
    }),
  );
  fileOf(4, (insert) => {
    const digest = labelBytes(...label);
    for (const schedule of made) {
      insert('schedules', rowBefore(schedule));
      insert('schedule_labels', { partition: PARTITION, digest, schedule_id: schedule.id });
    }
    insert('schedule_labels', { partition: PARTITION, digest, schedule_id: 'sch_gone' });
  });

  const store = await SqliteStore.open({ directory, now: START, exclusive: true });
  try {
    for (const schedule of made) {
      const filter = { state: schedule.state, kind: schedule.timing.kind, labels: [label] } as const;
      const { items: listed } = await store.listSchedules(PARTITION, filter, { before: null, limit: 10 });
      expect(listed.map((view) => view.schedule)).toEqual([schedule]);
    }
    const { items: all } = await store.listSchedules(
      PARTITION,
      { ...ALL_SCHEDULES, labels: [label] },
      { before: null, limit: 100 },
    );
    expect(all.map((view) => view.schedule)).toEqual(made.toReversed());
  } finally {
    await store.close();
  }
});

test('from version 5: an invitation without an end expires a day after its creation', async () => {
  const made = { hash: 'hash', role: 'admin', projects: null, created_by: 'first start', created_at: START };
  fileOf(5, (insert) => insert('invitations', { id: 'inv_1', ...made, expires_at: null }));
  const store = await SqliteStore.open({ directory, now: START, exclusive: true });
  try {
    expect(await store.people.listInvitations(instant(START + DAY_MS - 1))).toMatchObject([
      { id: 'inv_1', expiresAt: START + DAY_MS },
    ]);
    expect(await store.people.listInvitations(instant(START + DAY_MS))).toEqual([]);
  } finally {
    await store.close();
  }
});

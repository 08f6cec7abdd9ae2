/** Background writes may be long, or wait for a locked row. Nothing urgent waits with them. */
import { Client } from 'pg';
import { expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { SWEEP_FIRST_BATCH_MAX } from '#src/store/sql/sweep-verbs.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase, query, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { HOUR_MS, HOURLY, SUCCESS } from '#test/store-contract/builders.ts';
import { pendingOf, Suite } from '#test/store-contract/fixture.ts';
import { newJob } from '#test/store-contract/replay-jobs.ts';

const WAITING_FOR_LOCKS = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

interface Locked {
  readonly suite: Suite;
  readonly database: TestDatabase;
  /** A session that holds locks, and bypasses the store. */
  readonly client: Client;
}

async function withSession(act: (locked: Locked) => Promise<void>): Promise<void> {
  const database = await createDatabase(await sharedPostgres());
  const suite = new Suite(() => openedIn(database));
  await suite.start();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    await act({ suite, database, client });
  } finally {
    await client.end();
    await suite.stop();
  }
}

test('claims, settlements and API writes do not wait for a sweep that waits', () =>
  withSession(async ({ suite, database, client }) => {
    const fixture = await suite.fixture();
    const view = await fixture.addSchedule({ timing: HOURLY });
    const busy = await fixture.addSchedule({ timing: HOURLY });
    const idle = await fixture.addSchedule({ timing: HOURLY });
    fixture.tick(HOUR_MS);
    const original = await fixture.fire(pendingOf(view), SUCCESS);
    for (let each = 0; each <= SWEEP_FIRST_BATCH_MAX; each++) {
      const delivery: Delivery = { ...fixture.replay(original), status: 'retry_scheduled', attemptCount: 1 };
      expect(await fixture.store.addReplay({ delivery, receipt: null })).toBe('done');
    }
    const claimed = fixture.claim(pendingOf(busy), busy);
    expect(await fixture.store.claim([claimed])).toEqual(['done']);
    await fixture.change(view.schedule.id, (read) => life.cancel(read, fixture.tick()));
    const unfinished = await fixture.store.findSweep(fixture.partition, view.schedule.id);
    if (unfinished === null) throw new Error('The action itself has swept all deliveries.');

    await client.query('BEGIN');
    await client.query('SELECT 1 FROM deliveries WHERE id = $1 FOR UPDATE', [unfinished.lastId]);
    let isSwept = false;
    const batch = fixture.store.continueSweep(unfinished, null).then((cursor) => {
      isSwept = true;
      return cursor;
    });
    await expect.poll(() => query(database.url, WAITING_FOR_LOCKS)).toHaveLength(1);

    const { schedule } = claimed.advanced ?? busy;
    expect(await fixture.store.settle([fixture.settle(claimed, schedule, SUCCESS)])).toEqual(['done']);
    expect(await fixture.store.claim([fixture.claim(pendingOf(idle), idle)])).toEqual(['done']);
    await fixture.addSchedule();
    expect(isSwept).toBe(false);
    await client.query('ROLLBACK');
    expect(await batch).toEqual({ status: 'retry_scheduled', id: unfinished.lastId });
  }));

test('API writes do not wait for uses of keys, or for bulk replays, that wait', () =>
  withSession(async ({ suite, database, client }) => {
    const fixture = await suite.fixture();
    const { store, now } = fixture;
    await client.query('BEGIN');
    await client.query('LOCK TABLE api_keys, replay_jobs IN SHARE MODE');
    const waiting = [store.touchKeys([{ hash: 'unknown', at: now }]), store.jobs.gather(newJob(fixture), [])];
    await expect.poll(() => query(database.url, WAITING_FOR_LOCKS)).toHaveLength(1);
    await fixture.addSchedule();
    expect(await query(database.url, WAITING_FOR_LOCKS)).toHaveLength(1);
    await client.query('ROLLBACK');
    expect(await Promise.all(waiting)).toEqual([undefined, 'stale']);
  }));

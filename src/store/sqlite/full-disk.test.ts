/** A full disk is simulated by a limit on the pages of the file. Writes are refused, and nothing is lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { type ScheduleAddition, StoreUnavailable } from '#src/ports/store.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { Builders, START } from '#test/store-contract/builders.ts';
import { readEverything } from '#test/store-contract/everything.ts';
import { DATABASE_FILE, openSqlite } from './open-sqlite.ts';

const PARTITION = 1 as Partition;
const PAGES_MAX = 400;

let directory: string;
let build: Builders;
let store: SqlStore;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sched-full-'));
  build = new Builders(PARTITION);
  store = await openSqlite({ directory, now: START, exclusive: true, maxPages: PAGES_MAX });
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

function addition(payloadBytes: number): ScheduleAddition {
  const made = build.schedule({ metadata: [['full', 'disk']] });
  const payload = new Uint8Array(payloadBytes).fill(7);
  return { ...made, payload, profile: null, receipt: build.receipt() };
}

/** Adds schedules until the disk is full. Returns those that were stored, and the first that was refused. */
async function fill(payloadBytes: number): Promise<{ done: ScheduleAddition[]; refused: ScheduleAddition }> {
  const done: ScheduleAddition[] = [];
  for (;;) {
    const next = addition(payloadBytes);
    try {
      expect(await store.addSchedule(next)).toBe('done');
      done.push(next);
    } catch (error) {
      expect(error).toBeInstanceOf(StoreUnavailable);
      return { done, refused: next };
    }
  }
}

function everything(additions: readonly ScheduleAddition[]) {
  return readEverything(
    store,
    PARTITION,
    additions.flatMap(({ receipt }) => receipt?.key ?? []),
  );
}

async function expectStored(
  done: readonly ScheduleAddition[],
  refused: readonly ScheduleAddition[],
): Promise<void> {
  const { schedules, deliveries, receipts, payloads } = await everything([...done, ...refused]);
  expect(schedules.map(({ schedule }) => schedule)).toEqual(
    done.map(({ schedule }) => schedule).toReversed(),
  );
  expect(deliveries).toEqual(done.map(({ pending }) => pending).toReversed());
  expect(receipts).toEqual([...done.map(({ receipt }) => receipt), ...refused.map(() => null)]);
  expect(payloads.every((payload) => payload !== null)).toBe(true);
}

async function reopen(): Promise<void> {
  await store.close();
  const db = new Database(join(directory, DATABASE_FILE), { readonly: true });
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  db.close();
  store = await openSqlite({ directory, now: START, exclusive: true });
}

test('a full disk refuses writes, keeps what was acknowledged, and still reads', async () => {
  const { done, refused } = await fill(20_000);
  expect(done.length).toBeGreaterThan(10);
  await expect(store.addSchedule(refused)).rejects.toThrow(StoreUnavailable);
  await expectStored(done, [refused]);
  const filter = { state: 'active', kind: null, labels: [['full', 'disk']] } as const;
  const { items } = await store.listSchedules(PARTITION, filter, { before: null, limit: 5 });
  expect(items).toHaveLength(5);
});

test('a write that still fits is stored after one that did not fit', async () => {
  const { done, refused } = await fill(100_000);
  const small = addition(10);
  expect(await store.addSchedule(small)).toBe('done');
  await expectStored([...done, small], [refused]);
});

test('verbs of one commit: those refused leave nothing, those acknowledged are complete', async () => {
  await fill(50_000);
  const before = (await everything([])).schedules.length;
  const burst = Array.from({ length: 300 }, (_, i) => addition(i % 10 === 0 ? 20_000 : 100));
  const answers = await Promise.allSettled(burst.map((each) => store.addSchedule(each)));
  const done = burst.filter((_, i) => answers[i]?.status === 'fulfilled');
  const refused = burst.filter((_, i) => answers[i]?.status === 'rejected');
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of answers) {
    if (answer.status === 'rejected') expect(answer.reason).toBeInstanceOf(StoreUnavailable);
  }
  for (const { schedule, pending, receipt } of done) {
    expect(await store.findSchedule(PARTITION, schedule.id)).toEqual({ schedule, pending, profile: null });
    expect(await store.findReceipt(PARTITION, receipt?.key ?? '', START)).toEqual(receipt);
  }
  for (const { schedule, pending, receipt } of refused) {
    expect(await store.findSchedule(PARTITION, schedule.id)).toBeNull();
    expect(await store.findDelivery(PARTITION, pending.id)).toBeNull();
    expect(await store.findPayload(PARTITION, schedule.id, 1)).toBeNull();
    expect(await store.findReceipt(PARTITION, receipt?.key ?? '', START)).toBeNull();
  }
  expect((await everything([])).schedules).toHaveLength(before + done.length);
});

test('when claims of one call do not all fit, those not answered `done` were not stored', async () => {
  const due = Array.from({ length: 600 }, () => addition(10));
  await Promise.all(due.map((each) => store.addSchedule(each)));
  await fill(4_000);
  const views = due.map(({ schedule, pending }) => ({ schedule, pending, profile: null }));
  const claims = views.map((view) => build.claim(view.pending, view));
  const answers = await store.claim(claims).catch((error: unknown) => {
    expect(error).toBeInstanceOf(StoreUnavailable);
    return claims.map(() => 'refused');
  });
  const done = answers.filter((answer) => answer === 'done').length;
  const claimed = await Promise.all(due.map(({ pending }) => store.findDelivery(PARTITION, pending.id)));
  expect(claimed.filter((delivery) => delivery?.status === 'claimed')).toHaveLength(done);
});

test('when the disk has space again, all acknowledged writes are there and new writes work', async () => {
  const { done, refused } = await fill(20_000);
  await reopen();
  await expectStored(done, [refused]);
  expect(await store.addSchedule(refused)).toBe('done');
  await expectStored([...done, refused], []);
  const view = await store.findSchedule(PARTITION, refused.schedule.id);
  const canceled = view && life.cancel(view, build.tick());
  expect(canceled && (await store.replaceSchedule({ ...canceled, receipt: null }))).toBe('done');
});

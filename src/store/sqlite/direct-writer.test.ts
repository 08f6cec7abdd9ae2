/** A command writes without a thread. Its writer answers exactly as the writing thread does. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { Builders, START } from '#test/store-contract/builders.ts';
import { DirectWriter } from './direct-writer.ts';
import { openSqlite } from './open-sqlite.ts';

const PARTITION = 1 as Partition;

let directory: string;
let store: SqlStore;
let writer: DirectWriter;
let build: Builders;

async function open(maxPages?: number): Promise<void> {
  store = await openSqlite({
    directory,
    now: START,
    exclusive: false,
    ...(maxPages === undefined ? {} : { maxPages }),
    openWriter: async (data) => {
      writer = new DirectWriter(data);
      return writer;
    },
  });
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sched-direct-'));
  build = new Builders(PARTITION);
  await open();
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a write that was answered is seen by another connection', async () => {
  const { schedule, pending } = build.schedule();
  expect(await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null })).toBe(
    'done',
  );
  const beside = await openSqlite({ directory, now: START, exclusive: true });
  expect(await beside.findDelivery(PARTITION, pending.id)).toEqual(pending);
  await beside.close();
});

test('each verb has its own answer, and a failing verb its own error', async () => {
  const made = build.schedule();
  const add = () => store.addSchedule({ ...made, payload: null, profile: null, receipt: null });
  const claim = build.claim(made.pending, { ...made, profile: null });
  expect(await store.claim([claim])).toEqual(['stale']);
  expect(await add()).toBe('done');
  await expect(add()).rejects.toThrow(/A store verb failed/);
  expect(await store.claim([claim, claim])).toEqual(['done', 'stale']);
  expect(writer.isFailing).toBe(false);
});

test('a full disk makes the store unavailable, until a write succeeds', async () => {
  await store.close();
  await open(1);
  const payload = new Uint8Array(1_000_000);
  const written = store.addSchedule({ ...build.schedule(), payload, profile: null, receipt: null });
  await expect(written).rejects.toThrow(StoreUnavailable);
  expect(writer.isFailing).toBe(true);
  expect(await writer.runAll([])).toEqual([]);
  expect(writer.isFailing).toBe(true);
  await writer.run([]);
  expect(writer.isFailing).toBe(false);
});

test('a closed store refuses writes', async () => {
  await store.close();
  await expect(writer.run([])).rejects.toThrow(StoreUnavailable);
});

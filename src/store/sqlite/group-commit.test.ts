/** Group commit in the writing thread: verbs that arrive together share a commit, and do not affect each other. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { Builders, START } from '#test/store-contract/builders.ts';
import { DATABASE_FILE, openSqlite } from './open-sqlite.ts';
import { Writer } from './writer.ts';

const PARTITION = 1 as Partition;

let directory: string;
let store: SqlStore;
let build: Builders;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sched-commit-'));
  store = await openSqlite({ directory, now: START, exclusive: true });
  build = new Builders(PARTITION);
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Counts the commits in the write-ahead log. The last frame of a commit holds the size of the database. */
function commitsInLog(): number {
  const wal = readFileSync(join(directory, `${DATABASE_FILE}-wal`));
  if (wal.length < WAL_HEADER_BYTES) return 0;
  const pageBytes = wal.readUInt32BE(8);
  const salt = wal.subarray(16, 24);
  let commits = 0;
  for (let at = WAL_HEADER_BYTES; at < wal.length; at += FRAME_HEADER_BYTES + pageBytes) {
    if (!wal.subarray(at + 8, at + 16).equals(salt)) break;
    if (wal.readUInt32BE(at + 4) !== 0) commits += 1;
  }
  return commits;
}

function add() {
  return store.addSchedule({ ...build.schedule(), payload: null, profile: null, receipt: build.receipt() });
}

describe('verbs', () => {
  test('that are sent one after another have a commit each', async () => {
    const before = commitsInLog();
    for (let i = 0; i < 10; i++) await add();
    expect(commitsInLog() - before).toBe(10);
  });

  test('that are sent together share a commit', async () => {
    const before = commitsInLog();
    const written = await Promise.all(Array.from({ length: 200 }, add));
    expect(written).toEqual(written.map(() => 'done'));
    expect(commitsInLog() - before).toBeLessThanOrEqual(3);
  });

  test('are answered after their commit: another connection sees them', async () => {
    const beside = await openSqlite({ directory, now: START, exclusive: false });
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const { schedule, pending } = build.schedule();
        await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
        expect((await beside.findSchedule(PARTITION, schedule.id))?.schedule).toEqual(schedule);
      }),
    );
    await beside.close();
  });

  test('that fail or are stale do not affect others of the same commit', async () => {
    const made = Array.from({ length: 30 }, () => build.schedule());
    const [taken = build.schedule()] = made;
    const receipt = build.receipt();
    const answers = await Promise.allSettled(
      made.flatMap((each) => [
        store.addSchedule({ ...each, payload: null, profile: null, receipt: null }),
        store.addSchedule({ ...taken, payload: null, profile: null, receipt: null }),
        store.addReceipt(PARTITION, receipt),
      ]),
    );
    const counted = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'refused'));
    expect(counted.filter((answer) => answer === 'done')).toHaveLength(30 + 1);
    expect(counted.filter((answer) => answer === 'key_taken')).toHaveLength(29);
    expect(counted.filter((answer) => answer === 'refused')).toHaveLength(30);
    for (const { schedule } of made) expect(await store.findSchedule(PARTITION, schedule.id)).not.toBeNull();
  });

  test('are refused when too many wait, and those that wait are written', async () => {
    const answers = await Promise.allSettled(
      Array.from({ length: 20_500 }, (_, i) => store.check(instant(START + i))),
    );
    const refused = answers.filter((answer) => answer.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThanOrEqual(500);
    for (const { reason } of refused) expect(reason).toBeInstanceOf(StoreUnavailable);
    await store.check(START);
  });
});

test('when the thread dies, its verbs fail, and the next verb starts another', async () => {
  const path = join(directory, 'missing', DATABASE_FILE);
  const data = { path, maxPages: null, durable: true };
  await expect(Writer.open(data)).rejects.toThrow(StoreUnavailable);
  const writer = new Writer(data);
  const lost = await Promise.allSettled([writer.run([]), writer.run([])]);
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(writer.isFailing).toBe(true);
  mkdirSync(join(directory, 'missing'));
  await store.close();
  renameSync(join(directory, DATABASE_FILE), path);
  expect(await writer.run([])).toBe('done');
  expect(writer.isFailing).toBe(false);
  await writer.close();
  await expect(writer.run([])).rejects.toThrow('The store is closed.');
  store = await openSqlite({ directory, now: START, exclusive: true });
});

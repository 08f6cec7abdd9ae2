/** Searches by several labels over many rows end. Their pages are short only when the time is up. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import type { FoundSchedules } from '#src/ports/lists.ts';
import { labelBytes } from '#src/store/sql/digests.ts';
import { SCAN_MS_MAX } from '#src/store/sql/searches.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { START } from '#test/store-contract/builders.ts';
import { ANY_SCHEDULES } from '#test/store-contract/everything.ts';
import { DATABASE_FILE, openSqlite } from './open-sqlite.ts';

const PARTITION = 1 as Partition;
const ROWS = 20_000;
const EVEN = ['parity', 'even'] as const;
const ODD = ['side', 'odd'] as const;
const OLDEST = ['age', 'oldest'] as const;

let directory: string;
let store: SqlStore;
/** How much time passes whenever the clock is read. */
let stepMs = 0;
let nowMs = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sched-label-search-'));
  const elapsed = () => {
    nowMs += stepMs;
    return nowMs;
  };
  const after = (_: number, act: () => void) => {
    queueMicrotask(act);
    return () => {};
  };
  store = await openSqlite({ directory, now: START, exclusive: true, timers: { elapsed, after } });
  const db = new Database(join(directory, DATABASE_FILE));
  const fill = db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
     INSERT INTO schedule_labels (partition, digest, state, kind, schedule_id)
     SELECT ${PARTITION}, ?, iif(i % 3 = 0, 'paused', 'active'), 'one_shot', printf('sch_%05d', i)
     FROM n WHERE i % 2 = ? OR i < ?`,
  );
  fill.run(labelBytes(...EVEN), 0, 0);
  fill.run(labelBytes(...ODD), 1, 0);
  fill.run(labelBytes(...OLDEST), 2, 5);
  db.close();
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

function find(labels: Labels, before: ScheduleId | null = null): Promise<FoundSchedules> {
  return store.searchSchedules(PARTITION, { ...ANY_SCHEDULES, labels }, { before, limit: 2 });
}

test('a search without a match ends in one page if there is time', async () => {
  stepMs = 0;
  expect(await find([EVEN, ODD])).toEqual({ found: [], next: null });
});

test('when the time is up the page is short and has a cursor; every page gets further', async () => {
  stepMs = SCAN_MS_MAX;
  let pages = 0;
  for (let before: ScheduleId | null = null; ; pages++) {
    const { found, next }: FoundSchedules = await find([EVEN, ODD], before);
    expect(found).toEqual([]);
    if (next === null) break;
    expect(before === null || next < before).toBe(true);
    before = next;
  }
  expect(pages).toBeGreaterThan(1);
  expect(pages).toBeLessThan(ROWS / 2 / 256 + 1);
});

test('the rarest label is scanned, at any position in the filter: one scan is enough', async () => {
  stepMs = SCAN_MS_MAX;
  const expected = { found: ['sch_00004', 'sch_00002'], next: null };
  for (const labels of [
    [EVEN, OLDEST],
    [OLDEST, EVEN],
  ]) {
    expect(await find(labels)).toEqual(expected);
  }
});

/** Tests a search that takes long: its pages are short, and their cursors lead to the end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProjectId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { CURRENT_VERSION } from '#src/domain/project.ts';
import type { Tenant } from '#src/ports/control-store.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { openSqlite } from '#src/store/sqlite/open-sqlite.ts';
import { Builders, START } from '#test/store-contract/builders.ts';
import { listSchedules } from './schedule-list.ts';

const SECOND_MS = 1_000;
const ROWS = 700;
/** The numbers of the only two schedules with both labels. */
const BOTH: ReadonlySet<number> = new Set([0, 500]);

let directory: string;
let store: SqlStore;
let tenant: Tenant;
const matching: string[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sched-schedule-list-'));
  let elapsedMs = 0;
  // Each reading of the stopwatch is a second later.
  const elapsed = () => {
    elapsedMs += SECOND_MS;
    return elapsedMs;
  };
  const after = (_: number, act: () => void) => {
    queueMicrotask(act);
    return () => {};
  };
  store = await openSqlite({ directory, now: START, exclusive: true, timers: { elapsed, after } });
  const partition = 1 as Partition;
  tenant = {
    projectId: 'prj_1' as ProjectId,
    partition,
    mode: 'test',
    keyHash: '',
    pinnedVersion: CURRENT_VERSION,
  };
  const build = new Builders(partition);
  for (let n = 0; n < ROWS; n++) {
    const made = build.schedule({
      metadata: BOTH.has(n)
        ? [
            ['env', 'prod'],
            ['team', 'ops'],
          ]
        : [n % 2 === 0 ? ['env', 'prod'] : ['team', 'ops']],
    });
    if (BOTH.has(n)) matching.unshift(made.schedule.id);
    build.tick();
    await store.addSchedule({ ...made, payload: null, profile: null, receipt: null });
  }
});
afterAll(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Answer {
  readonly data: readonly { readonly id: string }[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

async function ask(query: string, cursor: string | null): Promise<Answer> {
  const parameters = new URLSearchParams(query);
  if (cursor !== null) parameters.set('cursor', cursor);
  const { status, body } = await listSchedules(
    { store, pause: async () => {} },
    { tenant, query: parameters, answer: (read) => read(Number.POSITIVE_INFINITY) },
  );
  expect(status).toBe(200);
  return JSON.parse(body) as Answer;
}

test('every page says whether there is more, and its cursor continues where it stopped', async () => {
  const pages: Answer[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: Answer = await ask('metadata[env]=prod&metadata[team]=ops', cursor);
    pages.push(page);
    expect(page.has_more).toBe(page.next_cursor !== null);
    if (page.next_cursor === null) break;
    expect(page.next_cursor).not.toBe(cursor);
    cursor = page.next_cursor;
  }
  expect(pages.length).toBeGreaterThan(1);
  expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(matching);
});

test('a page of one label is always full, however long it takes', async () => {
  const { data, has_more } = await ask('metadata[env]=prod&state=active&limit=100', null);
  expect([data.length, has_more]).toEqual([100, true]);
  const none = await ask('metadata[env]=prod&state=paused', null);
  expect(none).toMatchObject({ data: [], has_more: false, next_cursor: null });
});

/**
 * How SQLite finds the rows of every statement of the store. Each must use an index, and each list must use the
 * index that has its order. A page then costs the same however large the table is.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import type { Mapping } from '#src/store/sql/mapping.ts';
import { controlReads } from '#src/store/sql/reads.ts';
import * as rows from '#src/store/sql/rows.ts';
import { oldestStats } from '#src/store/sql/stats-retention.ts';
import { Builders, START } from '#test/store-contract/builders.ts';
import { firingProfile, firingSchedule } from '#test/store-contract/fixture.ts';
import { ENDPOINT, listCases, PLAN_CASES, type PlanCase, readsOf } from '#test/store-plans.ts';
import { type Db, migrate, openForWriting } from './connection.ts';
import { FiringReads } from './firing-reads.ts';
import { SqliteReader } from './prepared-queries.ts';
import { forSqlite, indexedBy, insertInto } from './statement-builders.ts';
import { STATEMENTS } from './statements.ts';
import { SYNTAX } from './syntax.ts';
import { verbs } from './verbs.ts';

const directory = mkdtempSync(join(tmpdir(), 'sched-plans-'));
const db = openForWriting(join(directory, 'plans.db'));
migrate(db, START);
afterAll(() => {
  db.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The rows of the tests are not those of `store-plans.ts`. */
const PARTITION = 3 as Partition;

/** A connection that keeps the text of every statement that is prepared. */
function recordingInto(prepared: Set<string>): Db {
  return Object.create(db, {
    prepare: {
      value: (sql: string) => {
        prepared.add(sql);
        return db.prepare(sql);
      },
    },
  }) as Db;
}

/** The plans of the statements that `run` prepares. */
function plansOf(run: (db: Db) => unknown): readonly string[] {
  const prepared = new Set<string>();
  run(recordingInto(prepared));
  return [...prepared].flatMap(planOf);
}

function planOf(sql: string): readonly string[] {
  if (!/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)/.test(sql)) return [];
  const parameters = Array.from(sql.replaceAll(/'[^']*'/g, '').matchAll(/\?/g), () => null);
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { readonly detail: string }[];
  return rows.map(({ detail }) => detail);
}

/** Only the steps that find rows in a table. Merging and sorting work on rows that were found already. */
function searches(plans: readonly string[]): readonly string[] {
  return plans.filter((detail) => /^(SEARCH|SCAN)/.test(detail) && !detail.startsWith('SCAN ('));
}

/** One row, by its whole key. */
const LOOK_UP =
  /^SEARCH \w+ USING .*\(partition=\? AND \w+=\?( AND (version|attempt_no)=\?)?\)( LEFT-JOIN)?$/;

/** Tables whose alias shows in the steps that use their primary key. */
const ALIASES: Readonly<Record<string, string>> = {
  a: 'attempts',
  e: 'endpoint_stats',
  i: 'replay_items',
  message: 'alert_messages',
  o: 'schedule_labels',
  p: 'endpoint_profiles',
};
const STEP = /^SEARCH (\w+) USING (?:COVERING )?(?:INDEX (\w+)|PRIMARY KEY) \((.*)\)(?: LEFT-JOIN)?$/;
/** Rows that were found already, and constants. */
const FOUND_ROWS =
  /^SCAN (a|c|g|k|l|r|w|batch|counted|newest|scan|scanned|CONSTANT ROW|json_each VIRTUAL TABLE INDEX 1:)$/;

/** The index of a step and the columns that narrow it. A step without an index stays as it is. */
function indexOf(step: string): string {
  const [, table = '', index, condition] = STEP.exec(step) ?? [];
  if (condition === undefined) return step;
  const name = index?.replace(/^sqlite_autoindex_(\w+)_1$/, '$1_pkey') ?? `${ALIASES[table] ?? table}_pkey`;
  return `${name}(${[...new Set(condition.match(/[a-z_]+/g))].join(',')})`;
}

async function searchesOf(read: PlanCase[1]): Promise<readonly string[]> {
  const prepared = new Set<string>();
  const reader = new SqliteReader(recordingInto(prepared));
  await read(readsOf({ reader, syntax: SYNTAX, oldestStats: oldestStats(indexedBy), verbs }));
  return searches([...prepared].flatMap(planOf));
}

test.for([...listCases(SYNTAX), ...PLAN_CASES])('%s by an index', async ([, read, indexes]) => {
  const steps = (await searchesOf(read)).filter((step) => !FOUND_ROWS.test(step));
  expect([...new Set(steps.map(indexOf))].toSorted()).toEqual(indexes.toSorted());
});

test('a batch of a search is scanned once, though it is read twice', async () => {
  const labels = [
    ['a', 'b'],
    ['c', 'd'],
  ] as const;
  const steps = await searchesOf(({ scan }) => scan({ state: 'active', kind: 'one_shot', labels }, 10));
  const key = 'partition=? AND digest=? AND state=? AND kind=?';
  expect(steps.filter((step) => step.startsWith('SEARCH'))).toEqual([
    `SEARCH schedule_labels USING PRIMARY KEY (${key} AND schedule_id<?)`,
    `SEARCH o USING PRIMARY KEY (${key} AND schedule_id=?)`,
  ]);
});

test('ended replay jobs by their end, and those with items by job id', async () => {
  expect(await searchesOf(({ jobs }) => jobs.pruneJobs(START, 10))).toEqual([
    'SCAN replay_jobs USING INDEX replay_jobs_with_items',
    'SEARCH replay_jobs USING COVERING INDEX replay_jobs_ended (ended_at<?)',
  ]);
});

describe('the engine finds', () => {
  const build = new Builders(PARTITION);

  /** A query can only go on to the next if it finds a row. */
  function insert<T>(table: string, { columns, values }: Mapping<T>, object: T): void {
    db.prepare(insertInto(table, columns)).run(...values(object));
  }

  test('due deliveries by one index scan from the cursor on', () => {
    insert('deliveries', rows.DELIVERY, build.schedule().pending);
    expect(plansOf((recording) => new FiringReads(recording).due(null, START, 100))).toEqual([
      'SEARCH deliveries USING INDEX deliveries_due ((due_at,id)>(?,?) AND due_at<?)',
    ]);
    const others = plansOf((recording) => {
      const reads = new FiringReads(recording);
      return reads.dueOfCustomers(reads.customers(null, 10), START, 100);
    });
    expect(others).toEqual([
      'SEARCH deliveries USING COVERING INDEX deliveries_due_of_partition (partition>?)',
      'SEARCH deliveries USING INDEX deliveries_due_of_partition (partition=? AND (due_at,id)>(?,?) AND due_at<?)',
    ]);
  });

  test('what belongs to a delivery by look-ups', () => {
    const profile = build.profile();
    const { schedule, pending } = build.scheduleOn(profile);
    insert('endpoint_profiles', rows.PROFILE_HEAD, profile);
    insert('endpoint_profile_versions', rows.PROFILE_VERSION, profile);
    insert('schedules', rows.SCHEDULE, schedule);
    insert('deliveries', rows.DELIVERY, pending);
    const plans = plansOf((recording) => {
      const reads = new FiringReads(recording);
      expect(reads.load([pending])).toEqual([
        {
          delivery: pending,
          schedule: firingSchedule(schedule),
          profile: firingProfile(profile),
          endpointProfile: firingProfile(profile),
          gate: null,
          sweep: null,
        },
      ]);
      reads.payloads([pending]);
    });
    // Whether there is any sweep is one step into a table that is usually empty.
    expect(plans[0]).toBe('SCAN sweeps');
    // Delivery, schedule, head and version of the profile, gate; then payload and version.
    expect(plans.slice(1)).toHaveLength(7);
    for (const step of plans.slice(1)) expect(step).toMatch(LOOK_UP);
  });

  test('lost claims without reading those of living nodes', () => {
    const { schedule, pending } = build.schedule();
    const { delivery } = build.claim(pending, { schedule, profile: null });
    insert('deliveries', rows.DELIVERY, delivery);
    const plans = plansOf((recording) => new FiringReads(recording).lostClaims([], 100));
    expect(plans).toEqual([
      expect.stringMatching(/^SEARCH deliveries USING .*INDEX deliveries_claimed \(claim_node>\?\)$/),
      'SEARCH deliveries USING INDEX deliveries_claimed (claim_node=?)',
      expect.stringMatching(LOOK_UP),
    ]);
  });
});

test('the control plane scans only the list of projects', () => {
  const plans = plansOf((recording) => {
    const reads = controlReads(new SqliteReader(recording));
    void reads.findProject('name');
    void reads.listProjects();
    void reads.listKeys(PARTITION);
    void reads.findTenant('hash');
    void reads.listSecrets(PARTITION, START);
    void reads.findStandardProfile(PARTITION);
    void reads.hasEndpointSecrets(PARTITION, START);
    void reads.listEndpointSecrets(PARTITION, ENDPOINT, START);
  });
  const scans = searches(plans).filter((step) => step.startsWith('SCAN'));
  expect(scans).toHaveLength(1);
});

/** A row of constants, tables of fixed or tiny size, and tables that only people fill. */
const SMALL = /^SCAN (CONSTANT ROW|sweep|batch|o|slots|nodes|users|invitations|sessions)( USING INDEX \w+)?$/;

test.for(Object.entries(STATEMENTS))('the write %s finds its rows by an index', ([, { sql }]) => {
  for (const step of searches(planOf(forSqlite(sql)))) {
    if (!SMALL.test(step)) expect(step).toMatch(/^SEARCH \w+ USING /);
  }
});

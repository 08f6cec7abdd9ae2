/**
 * How SQLite finds the rows of every statement of the store. Each must use an index, and each list must use the
 * index that has its order. A page then costs the same however large the table is.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { DeliveryId, EndpointId, JobId, ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES } from '#src/domain/schedule.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import type { SqlWriter } from '#src/store/sql/dialect.ts';
import { lists } from '#src/store/sql/lists.ts';
import type { Mapping } from '#src/store/sql/mapping.ts';
import { controlReads, keyedReads } from '#src/store/sql/reads.ts';
import { SqlReplayJobs } from '#src/store/sql/replay-jobs.ts';
import { retentionQueries } from '#src/store/sql/retention.ts';
import * as rows from '#src/store/sql/rows.ts';
import { labelCountsQuery } from '#src/store/sql/search-queries.ts';
import { makeSqlInsight } from '#src/store/sql/sql-insight.ts';
import { oldestStats } from '#src/store/sql/stats-retention.ts';
import type { SqlRunner } from '#src/store/sql/steps.ts';
import { Builders, START } from '#test/store-contract/builders.ts';
import { ALL_DELIVERIES, ALL_SCHEDULES } from '#test/store-contract/everything.ts';
import { firingProfile, firingSchedule } from '#test/store-contract/fixture.ts';
import { type Db, migrate, openForWriting } from './connection.ts';
import { FiringReads } from './firing-reads.ts';
import { PreparedQueries, SqliteReader } from './prepared-queries.ts';
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

const PARTITION = 1 as Partition;
/** A search there finds nothing, so it reads no page of what it has found. */
const EMPTY_PARTITION = 2 as Partition;
const SCHEDULE = 'sch_1' as ScheduleId;
const DELIVERY = 'dlv_1' as DeliveryId;
const ENDPOINT = 'ep_1' as EndpointId;
const PAGE = { before: null, limit: 21 };
const ONE_LABEL = [['a', 'b']] as const;
const TWO_LABELS: Labels = [...ONE_LABEL, ['c', 'd']];

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

function listsOf(recording: Db) {
  return lists(new SqliteReader(recording), SYNTAX);
}

const UNWRITTEN: SqlWriter = { run: async () => 'done', runAll: async () => [] };

async function insightPlans(read: (insight: InsightStore) => Promise<unknown>): Promise<readonly string[]> {
  const prepared = new Set<string>();
  const reader = new SqliteReader(recordingInto(prepared));
  const insight = makeSqlInsight({
    readers: { api: reader, engine: reader, insight: reader, search: reader },
    writers: {
      api: UNWRITTEN,
      firing: UNWRITTEN,
      membership: UNWRITTEN,
      maintenance: UNWRITTEN,
    },
    syntax: SYNTAX,
    dueRowsMax: 10,
    oldestStats: oldestStats(indexedBy),
  });
  await read(insight);
  return searches([...prepared].flatMap(planOf));
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

const BY_ID = 'SEARCH s USING INDEX sqlite_autoindex_schedules_1 (partition=? AND id<?)';
const BY_STATE = 'SEARCH s USING INDEX schedules_by_state (partition=? AND state=? AND kind=? AND id<?)';
const LABEL =
  'SEARCH schedule_labels USING PRIMARY KEY (partition=? AND digest=? AND state=? AND kind=? AND schedule_id<?)';
const LABELLED_ROW = 'SEARCH s USING INDEX sqlite_autoindex_schedules_1 (partition=? AND id=?) LEFT-JOIN';
const EVERY_RANGE = Array.from({ length: SCHEDULE_STATES.length * SCHEDULE_KINDS.length }, () => LABEL);

/** Expects these scans, and look-ups of what is joined. */
function expectPage(plans: readonly string[], scans: readonly string[]): void {
  const steps = searches(plans).filter((step) => !/^SCAN (r|l)$/.test(step));
  expect(steps.filter((step) => !LOOK_UP.test(step))).toEqual(scans);
}

const SCHEDULE_LISTS = [
  ['all', ALL_SCHEDULES, [BY_ID]],
  ['of a state and kind', { ...ALL_SCHEDULES, state: 'active', kind: 'one_shot' }, [BY_STATE]],
  ['of a state', { ...ALL_SCHEDULES, state: 'active' }, [BY_STATE, BY_STATE]],
  ['of a kind', { ...ALL_SCHEDULES, kind: 'recurring' }, [BY_STATE, BY_STATE, BY_STATE, BY_STATE]],
  ['with a label', { ...ALL_SCHEDULES, labels: ONE_LABEL }, EVERY_RANGE],
  ['with a label, of a state', { state: 'active', kind: null, labels: ONE_LABEL }, [LABEL, LABEL]],
  [
    'with a label, of a kind',
    { state: null, kind: 'one_shot', labels: ONE_LABEL },
    [LABEL, LABEL, LABEL, LABEL],
  ],
  ['with a label, of a state and kind', { state: 'active', kind: 'one_shot', labels: ONE_LABEL }, [LABEL]],
] as const;

const TIMES = [
  ['', {}],
  [' created before', { createdBefore: START }],
  [' created after', { createdAfter: START }],
  [' created between', { createdAfter: START, createdBefore: START }],
] as const;

const RANGE = 'id>? AND id<?';
const OF_SCHEDULE = `deliveries_of_schedule (partition=? AND schedule_id=? AND status=? AND ${RANGE})`;

const DELIVERY_LISTS = TIMES.flatMap(
  ([when, times]) =>
    [
      [`all${when}`, times, [`sqlite_autoindex_deliveries_1 (partition=? AND ${RANGE})`]],
      [
        `of a status${when}`,
        { ...times, status: 'paused' },
        [`deliveries_by_status (partition=? AND status=? AND ${RANGE})`],
      ],
      [`of a schedule${when}`, { ...times, scheduleId: SCHEDULE }, DELIVERY_STATUSES.map(() => OF_SCHEDULE)],
      [
        `of a schedule and a status${when}`,
        { ...times, scheduleId: SCHEDULE, status: 'paused' },
        [OF_SCHEDULE],
      ],
    ] as const,
);

describe('a page is one index scan', () => {
  test.for(SCHEDULE_LISTS)('of schedules: %s', ([, filter, expected]) => {
    const plans = plansOf((recording) => listsOf(recording).listSchedules(PARTITION, filter, PAGE));
    expectPage(plans, expected);
  });

  test.for(DELIVERY_LISTS)('of deliveries: %s', ([, filter, scans]) => {
    const wanted = { ...ALL_DELIVERIES, ...filter };
    const plans = plansOf((recording) => listsOf(recording).listDeliveries(PARTITION, wanted, PAGE));
    expect(searches(plans)).toEqual(scans.map((index) => `SEARCH deliveries USING INDEX ${index}`));
  });

  test('of profiles, without those that are archived', () => {
    const list = (includeArchived: boolean) =>
      plansOf((recording) => listsOf(recording).listProfiles(PARTITION, includeArchived, PAGE));
    const index = 'endpoint_profiles_unarchived';
    expectPage(list(true), ['SEARCH endpoint_profiles USING PRIMARY KEY (partition=? AND id<?)']);
    expectPage(list(false), [`SEARCH endpoint_profiles USING INDEX ${index} (partition=? AND id<?)`]);
  });

  test('of attempts', () => {
    const plans = plansOf((recording) =>
      keyedReads(new SqliteReader(recording), SYNTAX.longText).listAttempts(PARTITION, DELIVERY, 0, 21),
    );
    expect(plans).toEqual([
      'MERGE (UNION ALL)',
      'LEFT',
      'SEARCH attempts USING PRIMARY KEY (partition=? AND delivery_id=? AND attempt_no>?)',
      'RIGHT',
      expect.stringMatching(LOOK_UP),
    ]);
  });
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

test.for([
  ['deliveries', ['SEARCH deliveries USING INDEX deliveries_finalized (finalized_at<?)']],
  [
    'schedules',
    [
      'SEARCH s USING INDEX schedules_ended ((ended_at,id)>(?,?) AND ended_at<?)',
      'CORRELATED SCALAR SUBQUERY 1',
      'SEARCH d USING COVERING INDEX deliveries_of_schedule (partition=? AND schedule_id=?)',
    ],
  ],
  ['receipts', ['SEARCH receipts USING INDEX receipts_expiring (expires_at<?)']],
  ['gates', ['SEARCH gates USING COVERING INDEX gates_by_saved_at (saved_at<?)']],
] as const)('retention of %s scans from the oldest on', ([what, expected]) => {
  const parameters = what === 'schedules' ? [0, '', START, 100] : [START, 100];
  expect(
    plansOf((recording) =>
      new PreparedQueries(recording).all(retentionQueries(indexedBy)[what], ...parameters),
    ),
  ).toEqual(expected);
});

describe('the dashboard finds', () => {
  const LATER = instant(START + 60_000);
  const ANY = { ...ALL_SCHEDULES, destination: null, hidesQueries: false };
  const OTHER_LABEL =
    'SEARCH o USING PRIMARY KEY (partition=? AND digest=? AND state=? AND kind=? AND schedule_id=?)';

  test('due deliveries by the index of their partition', async () => {
    const plans = await insightPlans((insight) => insight.countDue(PARTITION, START, LATER, 1_000, 10));
    expect(plans.filter((step) => step !== 'SCAN w')).toEqual([
      'SEARCH deliveries USING COVERING INDEX deliveries_due_of_partition (partition=? AND due_at>? AND due_at<?)',
    ]);
  });

  test.for([
    ['of a destination', { destination: 'a' }, [BY_ID]],
    ['of a destination whose query is hidden', { destination: 'a', hidesQueries: true }, [BY_ID]],
    ['of a state and kind', { state: 'active', kind: 'one_shot', destination: 'a' }, [BY_STATE]],
    ['of a state', { state: 'active', destination: 'a' }, [BY_STATE, BY_STATE]],
    ['of a kind', { kind: 'one_shot', destination: 'a' }, [BY_STATE, BY_STATE, BY_STATE, BY_STATE]],
    ['with labels, of a state', { labels: TWO_LABELS, state: 'active' }, [LABEL, LABEL, OTHER_LABEL]],
    [
      'with labels, of a state and kind and a destination',
      { labels: TWO_LABELS, state: 'active', kind: 'one_shot', destination: 'a' },
      [LABEL, LABELLED_ROW, OTHER_LABEL],
    ],
  ] as const)('schedules %s by one index scan', async ([, given, expected]) => {
    const plans = await insightPlans((insight) =>
      insight.searchSchedules(EMPTY_PARTITION, { ...ANY, ...given }, PAGE, 100),
    );
    const scans = plans.filter((step) => /^SEARCH (s|o|schedule_labels) /.test(step));
    expect(scans).toEqual(expected);
    for (const step of plans) {
      expect(step).toMatch(/^(SEARCH .*|SCAN (scanned|batch|l|p|json_each VIRTUAL TABLE INDEX 1:))$/);
    }
  });

  test('how common labels are without reading schedules', () => {
    const plans = planOf(forSqlite(labelCountsQuery(PARTITION, TWO_LABELS, 10).sql));
    const count = 'SEARCH schedule_labels USING PRIMARY KEY (partition=? AND digest=?)';
    expect(searches(plans).filter((step) => step !== 'SCAN a')).toEqual([count, count]);
  });

  test.for([
    ['stats', (insight: InsightStore) => insight.readStats(PARTITION, 60_000, START, LATER)],
    [
      'endpoint stats',
      (insight: InsightStore) => insight.readEndpointStats(PARTITION, ['ep_1' as EndpointKey], START),
    ],
    ['active endpoints', (insight: InsightStore) => insight.listActiveEndpoints(PARTITION, START, 10)],
    ['upcoming', (insight: InsightStore) => insight.listUpcoming(PARTITION, START, LATER, 10)],
    ['a count', (insight: InsightStore) => insight.countDeliveries(PARTITION, ALL_DELIVERIES, 10)],
    [
      'a count of a status',
      (insight: InsightStore) =>
        insight.countDeliveries(PARTITION, { ...ALL_DELIVERIES, status: 'dead_letter' }, 10),
    ],
    [
      'a count of a schedule',
      (insight: InsightStore) =>
        insight.countDeliveries(PARTITION, { ...ALL_DELIVERIES, scheduleId: SCHEDULE }, 10),
    ],
    [
      'occurrences',
      (insight: InsightStore) => insight.listOccurrences(PARTITION, SCHEDULE, START, LATER, 10),
    ],
    ['payloads', (insight: InsightStore) => insight.hasPayloads(PARTITION, ENDPOINT)],
    ['a gate', (insight: InsightStore) => insight.findGate(PARTITION, 'ep_1' as EndpointKey)],
    ['gates', (insight: InsightStore) => insight.listGates(PARTITION, 10)],
  ] as const)('%s by an index', async ([, read]) => {
    const plans = await insightPlans(read);
    const tables = plans.filter((step) => !/^SCAN (k|g|w|a|c|counted|newest|json_each .*)$/.test(step));
    expect(tables.length).toBeGreaterThan(0);
    for (const step of tables) expect(step).toMatch(/^SEARCH \w+ USING /);
  });
});

test('a query for one object is a look-up by key', () => {
  const plans = plansOf((recording) => {
    new FiringReads(recording).payload(PARTITION, SCHEDULE);
    const keyed = keyedReads(new SqliteReader(recording), SYNTAX.longText);
    void keyed.findSchedule(PARTITION, SCHEDULE);
    void keyed.findProfile(PARTITION, ENDPOINT);
    void keyed.findDelivery(PARTITION, DELIVERY);
    void keyed.findProfileHeaders(PARTITION, ENDPOINT, 1);
    void keyed.findReceipt(PARTITION, 'key', START);
  });
  expect(plans).toHaveLength(10);
  for (const step of plans) expect(step).toMatch(LOOK_UP);
});

describe('bulk replays find', () => {
  const JOB = 'job_1' as JobId;

  /** Runs the queries of a verb; nothing is written. */
  async function plansOfJobs(run: (jobs: SqlReplayJobs) => Promise<unknown>): Promise<readonly string[]> {
    const plans: string[] = [];
    const reader = new SqliteReader(db);
    const sql: Pick<SqlRunner, 'query' | 'run'> = {
      query: (text, ...values) => {
        plans.push(...planOf(text.replace(/\$\d+/g, '?')));
        return reader.query(text, ...values);
      },
      run: async () => 'done',
    };
    await run(new SqlReplayJobs(sql, verbs));
    return searches(plans);
  }

  test('jobs by their id, and open jobs without reading others', async () => {
    const [job, newest, open] = await plansOfJobs(async (jobs) => {
      await jobs.findJob(PARTITION, JOB);
      await jobs.listJobs(PARTITION, 10);
      await jobs.listOpenJobs(null, 10);
    });
    expect(job).toMatch(LOOK_UP);
    expect(newest).toBe('SEARCH replay_jobs USING PRIMARY KEY (partition=?)');
    expect(open).toBe('SEARCH replay_jobs USING INDEX replay_jobs_open (state=?)');
  });

  test('each endpoint once, and items by their index', async () => {
    const endpoints = await plansOfJobs((jobs) => jobs.listItemEndpoints(PARTITION, JOB, null, 10));
    const scans = endpoints.filter((step) => !/^SCAN (scan|CONSTANT ROW)$/.test(step));
    expect(scans).toHaveLength(3);
    for (const step of scans) {
      expect(step).toMatch(
        /^SEARCH (i|replay_items) USING PRIMARY KEY \(partition=\? AND job_id=\? AND endpoint_digest[>=]\?\)$/,
      );
    }
    expect(await plansOfJobs((jobs) => jobs.listItems(PARTITION, JOB, 'ep_1' as EndpointKey, 10))).toEqual([
      'SEARCH replay_items USING PRIMARY KEY (partition=? AND job_id=? AND endpoint_digest=?)',
    ]);
  });

  test('ended jobs by their end, and their items by job id', async () => {
    expect(await plansOfJobs((jobs) => jobs.pruneJobs(START, 10))).toEqual([
      'SCAN replay_jobs USING INDEX replay_jobs_with_items',
      'SEARCH replay_jobs USING COVERING INDEX replay_jobs_ended (ended_at<?)',
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

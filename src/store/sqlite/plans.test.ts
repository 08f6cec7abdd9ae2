/**
 * How SQLite finds the rows of each statement the store runs, taken from the store's own code: every one by
 * an index, and every list along the index that has its order, so that a page costs what a page holds.
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
import { Builders, START } from '#src/store/contract/builders.ts';
import { ALL_DELIVERIES, ALL_SCHEDULES } from '#src/store/contract/everything.ts';
import { firingProfile, firingSchedule } from '#src/store/contract/fixture.ts';
import { SqlReplayJobs } from '#src/store/sql/replay-jobs.ts';
import { toDeliveryRow, toProfileHeadRow, toProfileVersionRow, toScheduleRow } from '#src/store/sql/rows.ts';
import type { SqlRunner } from '#src/store/sql/steps.ts';
import { type Db, migrate, openForWriting } from './connection.ts';
import { prepareControlReads } from './control-reads.ts';
import { FiringReads } from './firing-reads.ts';
import { InsightReads } from './insight-reads.ts';
import { PreparedQueries, sqlRunner } from './prepared-queries.ts';
import { Reads } from './reads.ts';
import { RETENTION_QUERIES } from './retention-queries.ts';
import { STATEMENTS } from './statements.ts';
import { verbs } from './verbs.ts';

const directory = mkdtempSync(join(tmpdir(), 'sched-plans-'));
const db = openForWriting(join(directory, 'plans.db'));
migrate(db, START);
afterAll(() => {
  db.close();
  rmSync(directory, { recursive: true, force: true });
});

const PARTITION = 1 as Partition;
const SCHEDULE = 'sch_1' as ScheduleId;
const DELIVERY = 'dlv_1' as DeliveryId;
const ENDPOINT = 'ep_1' as EndpointId;
const PAGE = { before: null, limit: 21 };
const ONE_LABEL = [['a', 'b']] as const;
const TWO_LABELS: Labels = [...ONE_LABEL, ['c', 'd']];

/** The statements that `ask` prepares, and how each finds its rows. */
function plansOf(ask: (db: Db) => unknown): readonly string[] {
  const asked = new Set<string>();
  const listening: Db = Object.create(db, {
    prepare: {
      value: (sql: string) => {
        asked.add(sql);
        return db.prepare(sql);
      },
    },
  }) as Db;
  ask(listening);
  return [...asked].flatMap(planOf);
}

function planOf(sql: string): readonly string[] {
  if (!/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)/.test(sql)) return [];
  const parameters = Array.from(sql.replaceAll(/'[^']*'/g, '').matchAll(/\?/g), () => null);
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { readonly detail: string }[];
  return rows.map(({ detail }) => detail);
}

/** Only the steps that look for rows of a table: what is merged or sorted is what those found. */
function searches(plans: readonly string[]): readonly string[] {
  return plans.filter((detail) => /^(SEARCH|SCAN)/.test(detail) && !detail.startsWith('SCAN ('));
}

/** One row, by its whole key. */
const LOOK_UP = /^SEARCH \w+ USING .*\(partition=\? AND \w+=\?( AND (version|attempt_no)=\?)?\)$/;

const BY_ID = 'SEARCH schedules USING COVERING INDEX sqlite_autoindex_schedules_1 (partition=? AND id<?)';
const BY_STATE =
  'SEARCH schedules USING COVERING INDEX schedules_by_state (partition=? AND state=? AND kind=? AND id<?)';
const LABEL =
  'SEARCH schedule_labels USING PRIMARY KEY (partition=? AND digest=? AND state=? AND kind=? AND schedule_id<?)';
const LABELLED_ROW = 'SEARCH s USING INDEX sqlite_autoindex_schedules_1 (partition=? AND id=?)';
const EVERY_RANGE = Array.from({ length: SCHEDULE_STATES.length * SCHEDULE_KINDS.length }, () => LABEL);

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

describe('a page walks along an index', () => {
  test.for(SCHEDULE_LISTS)('of schedules: %s', ([, filter, expected]) => {
    const plans = plansOf((asked) => new Reads(asked).schedules(PARTITION, filter, PAGE));
    expect(searches(plans).filter((step) => !/^SCAN \(?(subquery|l\b)/.test(step))).toEqual(expected);
  });

  test.for(DELIVERY_LISTS)('of deliveries: %s', ([, filter, walks]) => {
    const asked = { ...ALL_DELIVERIES, ...filter };
    const plans = plansOf((listening) => new Reads(listening).deliveries(PARTITION, asked, PAGE));
    expect(searches(plans)).toEqual(walks.map((index) => `SEARCH deliveries USING INDEX ${index}`));
  });

  test('of profiles, past those that are archived', () => {
    const list = (includeArchived: boolean) =>
      plansOf((asked) => new Reads(asked).profiles(PARTITION, includeArchived, PAGE));
    expect(list(true)).toEqual(['SEARCH endpoints USING PRIMARY KEY (partition=? AND id<?)']);
    expect(list(false)).toEqual([
      expect.stringMatching(
        /^SEARCH endpoints USING .*INDEX endpoints_unarchived \(partition=\? AND id<\?\)$/,
      ),
    ]);
  });

  test('of attempts', () => {
    const plans = plansOf((asked) => new Reads(asked).attempts(PARTITION, DELIVERY, 0, 21));
    expect(plans).toEqual([
      'SEARCH attempts USING PRIMARY KEY (partition=? AND delivery_id=? AND attempt_no>?)',
    ]);
  });
});

describe('the engine finds', () => {
  const build = new Builders(PARTITION);

  /** What a question has to find to come to its next one. */
  function insert(table: string, row: object): void {
    const columns = Object.keys(row);
    const places = columns.map(() => '?').join(', ');
    db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`).run(...Object.values(row));
  }

  test('what is due along its instants, from where it was, without the rest', () => {
    insert('deliveries', toDeliveryRow(build.schedule().pending));
    expect(plansOf((asked) => new FiringReads(asked).due(null, START, 100))).toEqual([
      'SEARCH deliveries USING INDEX deliveries_due ((due_at,id)>(?,?) AND due_at<?)',
    ]);
    const others = plansOf((asked) => {
      const reads = new FiringReads(asked);
      return reads.dueOfCustomers(reads.customers(null, 10), START, 100);
    });
    expect(others).toEqual([
      'SEARCH deliveries USING COVERING INDEX deliveries_due_of_partition (partition>?)',
      'SEARCH deliveries USING INDEX deliveries_due_of_partition (partition=? AND (due_at,id)>(?,?) AND due_at<?)',
    ]);
  });

  test('the work of a delivery by look-ups', () => {
    const profile = build.profile();
    const { schedule, pending } = build.scheduleOn(profile);
    insert('endpoints', toProfileHeadRow(profile));
    insert('endpoint_versions', toProfileVersionRow(profile));
    insert('schedules', toScheduleRow(schedule));
    insert('deliveries', toDeliveryRow(pending));
    const plans = plansOf((asked) => {
      const reads = new FiringReads(asked);
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
    // Whether there is any sweep is one step into a table that is empty as a rule.
    expect(plans[0]).toBe('SCAN sweeps');
    // Delivery, schedule, both parts of the profile, gate; payload and version.
    expect(plans.slice(1)).toHaveLength(7);
    for (const step of plans.slice(1)) expect(step).toMatch(LOOK_UP);
  });

  test('lost claims past those of the living', () => {
    const { schedule, pending } = build.schedule();
    const { delivery } = build.claim(pending, { schedule, profile: null });
    insert('deliveries', toDeliveryRow(delivery));
    const plans = plansOf((asked) => new FiringReads(asked).lostClaims([], 100));
    expect(plans).toEqual([
      expect.stringMatching(/^SEARCH deliveries USING .*INDEX deliveries_claimed \(claim_node>\?\)$/),
      'SEARCH deliveries USING INDEX deliveries_claimed (claim_node=?)',
      expect.stringMatching(LOOK_UP),
      expect.stringMatching(LOOK_UP),
    ]);
  });
});

test.for([
  ['deliveries', ['SEARCH deliveries USING INDEX deliveries_finalized (finalized_at<?)']],
  [
    'schedules',
    [
      'SEARCH schedules USING INDEX schedules_ended ((ended_at,id)>(?,?) AND ended_at<?)',
      'CORRELATED SCALAR SUBQUERY 1',
      'SEARCH d USING COVERING INDEX deliveries_of_schedule (partition=? AND schedule_id=?)',
    ],
  ],
  ['receipts', ['SEARCH receipts USING INDEX receipts_expiring (expires_at<?)']],
  ['gates', ['SEARCH gates USING COVERING INDEX gates_saved (saved_at<?)']],
] as const)('retention of %s walks from the oldest on', ([what, expected]) => {
  const parameters = what === 'schedules' ? [0, '', START, 100] : [START, 100];
  expect(plansOf((asked) => new PreparedQueries(asked).all(RETENTION_QUERIES[what], ...parameters))).toEqual(
    expected,
  );
});

describe('people find', () => {
  const LATER = instant(START + 60_000);
  const ANY = { ...ALL_SCHEDULES, destination: null, hidesQueries: false };
  const LABEL_WALK =
    'SEARCH w USING PRIMARY KEY (partition=? AND digest=? AND state=? AND kind=? AND schedule_id<?)';
  const OTHER_LABEL =
    'SEARCH o USING PRIMARY KEY (partition=? AND digest=? AND state=? AND kind=? AND schedule_id=?)';
  const STATE_WALK = 'SEARCH s USING INDEX schedules_by_state (partition=? AND state=? AND kind=? AND id<?)';

  test('what is due in the index of it alone', () => {
    const plans = plansOf((asked) => new InsightReads(asked).due(PARTITION, START, LATER, 1_000, 10));
    expect(searches(plans)).toEqual([
      'SEARCH deliveries USING COVERING INDEX deliveries_due_of_partition (partition=? AND due_at>? AND due_at<?)',
    ]);
  });

  test.for([
    [
      'of a destination',
      { destination: 'a' },
      ['SEARCH s USING INDEX sqlite_autoindex_schedules_1 (partition=? AND id<?)'],
    ],
    [
      'of a destination whose query is hidden',
      { destination: 'a', hidesQueries: true },
      ['SEARCH s USING INDEX sqlite_autoindex_schedules_1 (partition=? AND id<?)'],
    ],
    ['of a state and kind', { state: 'active', kind: 'one_shot', destination: 'a' }, [STATE_WALK]],
    ['of a state', { state: 'active', destination: 'a' }, [STATE_WALK, STATE_WALK]],
    ['of a kind', { kind: 'one_shot', destination: 'a' }, [STATE_WALK, STATE_WALK, STATE_WALK, STATE_WALK]],
    [
      'with labels, of a state',
      { labels: TWO_LABELS, state: 'active' },
      [LABEL_WALK, LABEL_WALK, OTHER_LABEL],
    ],
    [
      'with labels, of a state and kind and a destination',
      { labels: TWO_LABELS, state: 'active', kind: 'one_shot', destination: 'a' },
      [LABEL_WALK, LABELLED_ROW, OTHER_LABEL],
    ],
  ] as const)('schedules %s along an index', ([, given, expected]) => {
    const plans = plansOf((asked) =>
      new InsightReads(asked).schedules(PARTITION, { ...ANY, ...given }, PAGE, 100),
    );
    const walks = searches(plans).filter((step) => /^SEARCH [slow] /.test(step));
    expect(walks).toEqual(expected);
    for (const step of searches(plans)) {
      expect(step).toMatch(/^(SEARCH|SCAN (walked|piece|d VIRTUAL|l\b|json_each|\(?subquery|p\b))/);
    }
  });

  test('how common labels are without their schedules', () => {
    const plans = plansOf((asked) => new InsightReads(asked).labelCounts(PARTITION, TWO_LABELS, 10));
    expect(searches(plans).filter((step) => step.startsWith('SEARCH'))).toEqual([
      'SEARCH schedule_labels USING PRIMARY KEY (partition=? AND digest=?)',
    ]);
  });

  test.for([
    ['stats', (reads: InsightReads) => reads.stats(PARTITION, 60_000, START, LATER)],
    ['active endpoints', (reads: InsightReads) => reads.activeEndpoints(PARTITION, START, 10)],
    ['upcoming', (reads: InsightReads) => reads.upcoming(PARTITION, START, LATER, 10)],
    ['a count', (reads: InsightReads) => reads.deliveryCount(PARTITION, ALL_DELIVERIES, 10)],
    [
      'a count of a status',
      (reads: InsightReads) =>
        reads.deliveryCount(PARTITION, { ...ALL_DELIVERIES, status: 'dead_letter' }, 10),
    ],
    [
      'a count of a schedule',
      (reads: InsightReads) =>
        reads.deliveryCount(PARTITION, { ...ALL_DELIVERIES, scheduleId: SCHEDULE }, 10),
    ],
    ['occurrences', (reads: InsightReads) => reads.occurrences(PARTITION, SCHEDULE, START, LATER, 10)],
    ['gates', (reads: InsightReads) => reads.gates(PARTITION, 10)],
  ] as const)('%s by an index', ([, ask]) => {
    const plans = plansOf((asked) => ask(new InsightReads(asked)));
    const tables = searches(plans).filter((step) => !/^SCAN (k|g|\(?subquery)/.test(step));
    expect(tables.length).toBeGreaterThan(0);
    for (const step of tables) expect(step).toMatch(/^SEARCH \w+ USING /);
  });
});

test('a question about one object is a look-up of it', () => {
  const plans = plansOf((asked) => {
    const reads = new Reads(asked);
    reads.schedule(PARTITION, SCHEDULE);
    reads.payload(PARTITION, SCHEDULE);
    reads.delivery(PARTITION, DELIVERY);
    reads.profile(PARTITION, ENDPOINT);
    reads.profileHeaders(PARTITION, ENDPOINT, 1);
    reads.receipt(PARTITION, 'key', START);
  });
  expect(plans).toHaveLength(6);
  for (const step of plans) expect(step).toMatch(LOOK_UP);
});

describe('bulk replays find', () => {
  const JOB = 'job_1' as JobId;

  /** Every question up to its answer; nothing is written. */
  async function plansOfJobs(ask: (jobs: SqlReplayJobs) => Promise<unknown>): Promise<readonly string[]> {
    const asked: string[] = [];
    const answering = sqlRunner(async (question) => question(new PreparedQueries(db)), { run: unwritten });
    const sql: Pick<SqlRunner, 'query' | 'run'> = {
      query: (text, ...values) => {
        asked.push(...planOf(text.replace(/\$\d+/g, '?')));
        return answering.query(text, ...values);
      },
      run: unwritten,
    };
    await ask(new SqlReplayJobs(sql, verbs));
    return searches(asked);
  }

  async function unwritten(): Promise<'done'> {
    return 'done';
  }

  test('jobs by their id, and those that are open without the rest', async () => {
    const [job, newest, open] = await plansOfJobs(async (jobs) => {
      await jobs.findJob(PARTITION, JOB);
      await jobs.listJobs(PARTITION, 10);
      await jobs.listOpenJobs(null, 10);
    });
    expect(job).toMatch(LOOK_UP);
    expect(newest).toBe('SEARCH replay_jobs USING PRIMARY KEY (partition=?)');
    expect(open).toBe('SEARCH replay_jobs USING INDEX replay_jobs_open (state=?)');
  });

  test('from endpoint to endpoint, and items along their index', async () => {
    const endpoints = await plansOfJobs((jobs) => jobs.listItemEndpoints(PARTITION, JOB, null, 10));
    const walks = endpoints.filter((step) => !/^SCAN (walk|CONSTANT ROW)$/.test(step));
    expect(walks).toHaveLength(3);
    for (const step of walks) {
      expect(step).toMatch(
        /^SEARCH (i|replay_items) USING PRIMARY KEY \(partition=\? AND job_id=\? AND endpoint_key[>=]\?\)$/,
      );
    }
    expect(await plansOfJobs((jobs) => jobs.listItems(PARTITION, JOB, 'ep_1' as EndpointKey, 10))).toEqual([
      'SEARCH replay_items USING PRIMARY KEY (partition=? AND job_id=? AND endpoint_key=?)',
    ]);
  });

  test('what has ended by its end, and what it left by its id', async () => {
    expect(await plansOfJobs((jobs) => jobs.pruneJobs(START, 10))).toEqual([
      'SCAN replay_jobs USING INDEX replay_jobs_left',
      'SEARCH replay_jobs USING COVERING INDEX replay_jobs_ended (ended_at<?)',
    ]);
  });
});

test('the control plane scans nothing but the list of projects', () => {
  const scans = searches(plansOf(prepareControlReads)).filter((step) => step.startsWith('SCAN'));
  expect(scans).toHaveLength(1);
});

/** A row of constants, tables of a fixed or a tiny size, and those that only people fill, by hand. */
const SMALL = /^SCAN (CONSTANT ROW|sweep|piece|o|slots|nodes|others|invitations|sessions)$/;

test.for(Object.entries(STATEMENTS))('the write %s finds its rows by an index', ([, { sql }]) => {
  for (const step of searches(planOf(sql))) {
    if (!SMALL.test(step)) expect(step).toMatch(/^SEARCH \w+ USING /);
  }
});

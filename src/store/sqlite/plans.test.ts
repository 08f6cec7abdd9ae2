/**
 * How SQLite finds the rows of each statement the store runs, taken from the store's own code: every one by
 * an index, and every list along the index that has its order, so that a page costs what a page holds.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/partition.ts';
import { START } from '#src/store/contract/builders.ts';
import { ALL_DELIVERIES, ALL_SCHEDULES } from '#src/store/contract/everything.ts';
import { type Db, migrate, openForWriting } from './connection.ts';
import { prepareControlReads } from './control-reads.ts';
import { Reads } from './reads.ts';
import { STATEMENTS } from './statements.ts';

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
const ONE_LABEL: Labels = [['a', 'b']];
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
  if (!/^\s*(SELECT|INSERT|UPDATE|DELETE)/.test(sql)) return [];
  const parameters = Array.from(sql.matchAll(/\?/g), () => null);
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { readonly detail: string }[];
  return rows.map(({ detail }) => detail);
}

/** Only the steps that look for rows of a table: what is merged or sorted is what those found. */
function searches(plans: readonly string[]): readonly string[] {
  return plans.filter((detail) => /^(SEARCH|SCAN)/.test(detail) && !detail.startsWith('SCAN ('));
}

const BY_ID = 'SEARCH schedules USING INDEX sqlite_autoindex_schedules_1 (partition=? AND id<?)';
const BY_STATE =
  'SEARCH schedules USING INDEX schedules_by_state (partition=? AND state=? AND kind=? AND id<?)';
const LABEL = 'SEARCH l USING PRIMARY KEY (partition=? AND digest=? AND schedule_id<?)';
const OTHER_LABEL = 'SEARCH o EXISTS USING PRIMARY KEY (partition=? AND digest=? AND schedule_id=?)';
/** One row for each label found, whatever else is asked of it. */
const LABELLED_ROW = /^SEARCH s USING INDEX \w+ \(partition=\? AND (state=\? AND )?(kind=\? AND )?id=\?\)$/;

const SCHEDULE_LISTS = [
  ['all', ALL_SCHEDULES, [BY_ID]],
  ['of a state and kind', { ...ALL_SCHEDULES, state: 'active', kind: 'one_shot' }, [BY_STATE]],
  ['of a state', { ...ALL_SCHEDULES, state: 'active' }, [BY_STATE, BY_STATE]],
  ['of a kind', { ...ALL_SCHEDULES, kind: 'recurring' }, [BY_STATE, BY_STATE, BY_STATE, BY_STATE]],
  ['with a label', { ...ALL_SCHEDULES, labels: ONE_LABEL }, [LABEL, LABELLED_ROW]],
  ['with two labels', { ...ALL_SCHEDULES, labels: TWO_LABELS }, [LABEL, OTHER_LABEL, LABELLED_ROW]],
  ['with a label, of a state', { state: 'active', kind: null, labels: ONE_LABEL }, [LABEL, LABELLED_ROW]],
  ['with a label, of a kind', { state: null, kind: 'one_shot', labels: ONE_LABEL }, [LABEL, LABELLED_ROW]],
  [
    'with a label, of a state and kind',
    { state: 'active', kind: 'one_shot', labels: ONE_LABEL },
    [LABEL, LABELLED_ROW],
  ],
  [
    'with two labels, of a state and kind',
    { state: 'active', kind: 'one_shot', labels: TWO_LABELS },
    [LABEL, OTHER_LABEL, LABELLED_ROW],
  ],
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
    expect(searches(plans)).toEqual(
      expected.map((step) => (typeof step === 'string' ? step : expect.stringMatching(step))),
    );
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

test('what is due is found in the order of its instants, without the rest', () => {
  const sql = `SELECT partition, id, due_at FROM deliveries
    WHERE status IN ('scheduled', 'retry_scheduled') AND due_at <= ? ORDER BY due_at LIMIT ?`;
  expect(planOf(sql)).toEqual(['SEARCH deliveries USING INDEX deliveries_due (due_at<?)']);
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
  for (const step of plans)
    expect(step).toMatch(/^SEARCH \w+ USING .*\(partition=\? AND \w+=\?( AND version=\?)?\)$/);
});

test('the control plane scans nothing but the list of projects', () => {
  const scans = searches(plansOf(prepareControlReads)).filter((step) => step.startsWith('SCAN'));
  expect(scans).toHaveLength(1);
});

test.for(Object.entries(STATEMENTS))('the write %s finds its rows by an index', ([, { sql }]) => {
  for (const step of searches(planOf(sql))) {
    expect(step).toMatch(/^SEARCH \w+ USING |^SCAN json_each VIRTUAL TABLE/);
  }
});

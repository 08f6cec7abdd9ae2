import { describe, expect, test } from 'vitest';
import type { Step } from '#src/store/sql/steps.ts';
import { ONE_SERVER } from './placement.ts';
import { type Group, planStages, type Verb } from './stages.ts';
import { statements } from './statements.ts';

const STATEMENTS = statements(ONE_SERVER);

/** A verb that writes a delivery, one that only checks the schedule, and one that changes the schedule. */
const remove = (id: string): Verb => [['removeDelivery', 'stale', 1, id, 1]];
const check = (id: string): Verb => [['scheduleExists', 'stale', 1, id]];
const drop = (id: string): Verb => [['removeSchedule', 'stale', 1, id, 1]];

/** The verb of each row, by its position in the batch. */
function verbsOf({ rows }: Group, batch: readonly Verb[]): readonly number[] {
  return rows.map(({ verb }) => batch.indexOf(verb));
}

/** The number of verbs that share the first transaction. */
function together(...batch: readonly Verb[]): number {
  return planStages(batch, STATEMENTS).count;
}

describe('verbs share a transaction', () => {
  test('when they touch different rows', () => {
    expect(together(remove('a'), remove('b'), drop('c'), check('d'))).toBe(4);
  });

  test('when they only read the same row', () => {
    expect(together(check('a'), check('a'), check('a'))).toBe(3);
  });

  test('when the same id belongs to another partition or table', () => {
    expect(together(remove('a'), [['removeDelivery', 'stale', 2, 'a', 1]], check('a'))).toBe(3);
  });

  test('when only the steps of one verb touch the same row', () => {
    expect(together([...check('a'), ...drop('a')], check('b'))).toBe(2);
  });
});

describe('a verb and those behind it wait for the next transaction', () => {
  test('when it writes the same row as an earlier one', () => {
    expect(together(remove('a'), remove('b'), remove('a'), remove('c'))).toBe(2);
  });

  test('when it writes a row that an earlier one reads, or the other way round', () => {
    expect(together(check('a'), drop('a'))).toBe(1);
    expect(together(drop('a'), check('b'), check('a'))).toBe(2);
    expect(together(check('a'), check('a'), drop('a'))).toBe(2);
  });

  test('whichever of its steps it is', () => {
    const both: Verb = [...remove('a'), ...drop('s')];
    expect(together(check('t'), both, [...remove('c'), ...check('s')], remove('d'))).toBe(2);
  });
});

test('statements have a fixed order, and rows are sorted by key', () => {
  const steps: readonly Step[] = [
    ['removeReceipt', null, 1, 'b', 1],
    ['profileAtRevision', 'stale', 1, 'e', 1],
    ['removeReceipt', null, 1, 'a', 1],
  ];
  const verbs: readonly Verb[] = steps.map((step) => [step]);
  const [stage = []] = planStages(verbs, STATEMENTS).stages;
  expect(stage.map(({ statement }) => statement.table)).toEqual(['endpoint_profiles', 'receipts']);
  expect(stage.map((group) => verbsOf(group, verbs))).toEqual([[1], [2, 0]]);
});

describe('rows of one table are locked in key order', () => {
  const defer = (id: string): Verb => [['deferDelivery', 'stale', 9, 0, 2, 1, id, 1]];
  const planned = (...batch: readonly Verb[]) =>
    planStages(batch, STATEMENTS).stages.map((stage) =>
      stage.map((group) => {
        const { statement, rows } = group;
        const isLock = statement.sql.includes('FOR NO KEY UPDATE');
        const locked = rows.map(({ parameters }) => parameters);
        return [statement.table, isLock ? locked : 'changed', verbsOf(group, batch)];
      }),
    );

  test('before the first of several statements that change it', () => {
    expect(planned(defer('b'), remove('c'), remove('a'))).toEqual([
      [
        [
          'deliveries',
          [
            [1, 'a'],
            [1, 'b'],
            [1, 'c'],
          ],
          [2, 0, 1],
        ],
        ['deliveries', 'changed', [0]],
        ['deliveries', 'changed', [2, 1]],
      ],
    ]);
  });

  test('by the statement itself if it is the only one', () => {
    expect(planned(defer('b'), defer('a'), check('t'))).toEqual([
      [
        ['schedules', 'changed', [2]],
        ['deliveries', 'changed', [1, 0]],
      ],
    ]);
  });

  test('before a statement that must see what its row guards', () => {
    expect(planned(drop('b'), drop('a'))).toEqual([
      [
        [
          'schedules',
          [
            [1, 'a'],
            [1, 'b'],
          ],
          [1, 0],
        ],
        ['schedules', 'changed', [1, 0]],
      ],
    ]);
  });
});

test('a verb without steps has an empty stage', () => {
  expect(planStages([[]], STATEMENTS)).toEqual({ count: 1, stages: [[]] });
});

describe('a cold verb', () => {
  const cold: Verb = [
    ['removeUser', 'missing', 'a'],
    ['removeInvitation', 'missing', 'b'],
  ];

  test('runs alone, and verbs behind it wait', () => {
    expect(together(remove('a'), cold, remove('b'))).toBe(1);
    expect(together(cold, remove('b'))).toBe(1);
  });

  test('has a stage for each step, in their order', () => {
    const { stages } = planStages([cold], STATEMENTS);
    const steps = stages.map((stage) => stage.map(({ rows }) => rows.map(({ step }) => step)));
    expect(steps).toEqual(cold.map((step) => [[step]]));
  });
});

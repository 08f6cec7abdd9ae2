import { describe, expect, test } from 'vitest';
import type { Step } from '#src/store/sql/steps.ts';
import { planStages, type Verb } from './stages.ts';
import { statements } from './statements.ts';

const STATEMENTS = statements(false);

/** A verb that writes a delivery, one that only checks the schedule, and one that changes the schedule. */
const remove = (id: string): Verb => [['removeDelivery', 'stale', 1, id, 1]];
const check = (id: string): Verb => [['scheduleExists', 'stale', 1, id]];
const drop = (id: string): Verb => [['removeSchedule', 'stale', 1, id, 1]];

/** The verbs of each stage. */
function stagesOf(...batch: readonly Verb[]): readonly (readonly number[])[] {
  return planStages(batch, STATEMENTS).map((stage) =>
    [...new Set(stage.flatMap(({ verbs }) => verbs))].toSorted((a, b) => a - b),
  );
}

describe('verbs share a stage', () => {
  test('when they touch different rows', () => {
    expect(stagesOf(remove('a'), remove('b'), drop('c'), check('d'))).toEqual([[0, 1, 2, 3]]);
  });

  test('when they only read the same row', () => {
    expect(stagesOf(check('a'), check('a'), check('a'))).toEqual([[0, 1, 2]]);
  });

  test('when the same id belongs to another partition or table', () => {
    expect(stagesOf(remove('a'), [['removeDelivery', 'stale', 2, 'a', 1]], check('a'))).toEqual([[0, 1, 2]]);
  });
});

describe('verbs go into different stages', () => {
  test('when they write the same row', () => {
    expect(stagesOf(remove('a'), remove('a'), remove('a'), remove('b'))).toEqual([[0, 3], [1], [2]]);
  });

  test('when one writes a row that another reads', () => {
    expect(stagesOf(check('a'), drop('a'), check('a'), check('a'), drop('a'))).toEqual([
      [0],
      [1],
      [2, 3],
      [4],
    ]);
  });

  test('together with all of their steps', () => {
    const both: Verb = [...remove('a'), ...drop('s')];
    expect(stagesOf(both, check('s'), remove('a'))).toEqual([[0], [1, 2]]);
  });
});

test('statements have a fixed order, and rows are sorted by key', () => {
  const steps: readonly Step[] = [
    ['removeDelivery', 'stale', 1, 'b', 1],
    ['removeSchedule', 'stale', 1, 's', 1],
    ['removeDelivery', 'stale', 1, 'a', 1],
  ];
  const [stage = []] = planStages(
    steps.map((step) => [step]),
    STATEMENTS,
  );
  expect(stage.map(({ statement }) => statement.table)).toEqual(['schedules', 'deliveries']);
  expect(stage.map(({ verbs }) => verbs)).toEqual([[1], [2, 0]]);
});

describe('rows of one table are locked in key order', () => {
  const defer = (id: string): Verb => [['deferDelivery', 'stale', 9, 0, 2, 1, id, 1]];
  const planned = (...batch: readonly Verb[]) =>
    planStages(batch, STATEMENTS).map((stage) =>
      stage.map(({ statement, rows, verbs }) => {
        const isLock = statement.sql[0]?.includes('FOR NO KEY UPDATE') ?? false;
        return [statement.table, isLock ? rows : 'changed', verbs];
      }),
    );

  test('before the first of several statements that change it', () => {
    expect(planned(defer('b'), remove('c'), remove('a'), drop('s'))).toEqual([
      [
        ['schedules', 'changed', [3]],
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
    expect(planned(defer('b'), defer('a'), drop('s'), check('t'))).toEqual([
      [
        ['schedules', 'changed', [3]],
        ['schedules', 'changed', [2]],
        ['deliveries', 'changed', [1, 0]],
      ],
    ]);
  });
});

test('an empty batch has no stage, and a verb without steps has an empty one', () => {
  expect(planStages([], STATEMENTS)).toEqual([]);
  expect(planStages([[]], STATEMENTS)).toEqual([[]]);
});

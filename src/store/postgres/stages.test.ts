import { describe, expect, test } from 'vitest';
import type { Step } from '#src/store/sql/steps.ts';
import { planStages, type Verb } from './stages.ts';
import { statements } from './statements.ts';

const STATEMENTS = statements(false);

/** A verb that writes the delivery, one that only looks at the schedule, one that changes it. */
const remove = (id: string): Verb => [['removeDelivery', 'stale', 1, id, 1]];
const look = (id: string): Verb => [['scheduleExists', 'stale', 1, id]];
const drop = (id: string): Verb => [['removeSchedule', 'stale', 1, id, 1]];

/** Which verbs are in each wave. */
function waves(...batch: readonly Verb[]): readonly (readonly number[])[] {
  return planStages(batch, STATEMENTS).map((wave) =>
    [...new Set(wave.flatMap(({ verbs }) => verbs))].toSorted((a, b) => a - b),
  );
}

describe('verbs go together', () => {
  test('when they have nothing in common', () => {
    expect(waves(remove('a'), remove('b'), drop('c'), look('d'))).toEqual([[0, 1, 2, 3]]);
  });

  test('when they read the same', () => {
    expect(waves(look('a'), look('a'), look('a'))).toEqual([[0, 1, 2]]);
  });

  test('when the same key is of another partition or another table', () => {
    expect(waves(remove('a'), [['removeDelivery', 'stale', 2, 'a', 1]], look('a'))).toEqual([[0, 1, 2]]);
  });
});

describe('verbs go one after the other', () => {
  test('when they write the same', () => {
    expect(waves(remove('a'), remove('a'), remove('a'), remove('b'))).toEqual([[0, 3], [1], [2]]);
  });

  test('when one writes what another read before it, or reads after it', () => {
    expect(waves(look('a'), drop('a'), look('a'), look('a'), drop('a'))).toEqual([[0], [1], [2, 3], [4]]);
  });

  test('with all of their steps', () => {
    const both: Verb = [...remove('a'), ...drop('s')];
    expect(waves(both, look('s'), remove('a'))).toEqual([[0], [1, 2]]);
  });
});

test('statements stand in one order, and rows in that of their keys', () => {
  const steps: readonly Step[] = [
    ['removeDelivery', 'stale', 1, 'b', 1],
    ['removeSchedule', 'stale', 1, 's', 1],
    ['removeDelivery', 'stale', 1, 'a', 1],
  ];
  const [wave = []] = planStages(
    steps.map((step) => [step]),
    STATEMENTS,
  );
  expect(wave.map(({ statement }) => statement.table)).toEqual(['schedules', 'deliveries']);
  expect(wave.map(({ verbs }) => verbs)).toEqual([[1], [2, 0]]);
});

describe('rows of one table are locked in one order', () => {
  const defer = (id: string): Verb => [['deferDelivery', 'stale', 9, 0, 2, 1, id, 1]];
  const shown = (...batch: readonly Verb[]) =>
    planStages(batch, STATEMENTS).map((wave) =>
      wave.map(({ statement, rows, verbs }) => {
        const isLock = statement.sql[0]?.includes('FOR NO KEY UPDATE') ?? false;
        return [statement.table, isLock ? rows : 'changed', verbs];
      }),
    );

  test('ahead of the first of several statements that change it', () => {
    expect(shown(defer('b'), remove('c'), remove('a'), drop('s'))).toEqual([
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

  test('by the statement itself where it is the only one', () => {
    expect(shown(defer('b'), defer('a'), drop('s'), look('t'))).toEqual([
      [
        ['schedules', 'changed', [3]],
        ['schedules', 'changed', [2]],
        ['deliveries', 'changed', [1, 0]],
      ],
    ]);
  });
});

test('an empty batch has no wave, a verb without steps an empty one', () => {
  expect(planStages([], STATEMENTS)).toEqual([]);
  expect(planStages([[]], STATEMENTS)).toEqual([[]]);
});

import { expect, test } from 'vitest';
import { correctQuery, type Entry, findEntries } from './search-index.ts';

function entry(kind: Entry['kind'], name: string, context: string, text = '', isRepeated = false): Entry {
  return { kind, id: `${context}-${name}`, name, context, text, isRepeated };
}

const ENTRIES = [
  entry('Operation', 'Create a schedule', 'POST /v1/schedules', 'createSchedule stores what to send'),
  entry('Field', 'cron', 'Get a schedule, answer', '', true),
  entry('Field', 'cron', 'Create a schedule'),
  entry('Field', 'timezone', 'Create a schedule', 'The zone of cron'),
  entry('Field', 'retry_policy.base', 'Create a schedule'),
  entry('Error', 'invalid_cron', 'all operations'),
  entry('Error', 'invalid_cron', 'Create a schedule', '', true),
];

function found(query: string): readonly string[] {
  return findEntries(ENTRIES, query).map(({ name, context }) => `${name}: ${context}`);
}

test('an equal name comes first, then other names, then repetitions and texts', () => {
  expect(found('cron')).toEqual([
    'cron: Create a schedule',
    'invalid_cron: all operations',
    'cron: Get a schedule, answer',
    'timezone: Create a schedule',
    'invalid_cron: Create a schedule',
  ]);
});

test('a nested field is found by its own name and by its whole name', () => {
  expect(found('base')).toEqual(['retry_policy.base: Create a schedule']);
  expect(found('retry_policy.base')).toEqual(['retry_policy.base: Create a schedule']);
});

test('every word must match, in any case', () => {
  expect(found('CREATE Timezone')).toEqual(['timezone: Create a schedule']);
  expect(found('create nothing')).toEqual([]);
});

test('an operation is found by its path and by its id', () => {
  expect(found('/v1/schedules')).toEqual(['Create a schedule: POST /v1/schedules']);
  expect(found('createschedule')).toEqual(['Create a schedule: POST /v1/schedules']);
});

test('sections come first, and webhooks are found by their kind', () => {
  const entries = [
    entry('Webhook', 'Receive a delivery', 'POST'),
    entry('Field', 'webhook_id', 'Create a schedule'),
    entry('Section', 'Webhooks', ''),
  ];
  const names = (query: string) => findEntries(entries, query).map(({ name }) => name);
  expect(names('webhooks')).toEqual(['Webhooks']);
  expect(correctQuery(entries, 'webhok')).toBe('webhook');
  expect(names('webhook')).toEqual(['Webhooks', 'webhook_id', 'Receive a delivery']);
});

test.each([
  ['crno', 'cron'],
  ['Timezome', 'timezone'],
  ['retry polcy', 'retry policy'],
  ['create shedule', 'create schedule'],
  ['qqqqqq', null],
  ['cron qqqqqq', null],
  ['x'.repeat(100), null],
])('%s is corrected to %s', (query, corrected) => {
  expect(correctQuery(ENTRIES, query)).toBe(corrected);
});

test('nothing is found without a word, and the list is bounded', () => {
  expect(found('  ')).toEqual([]);
  const many = Array.from({ length: 1_000 }, (_, at) => entry('Field', `cron${at}`, 'x'));
  expect(findEntries(many, 'cron')).toHaveLength(30);
});

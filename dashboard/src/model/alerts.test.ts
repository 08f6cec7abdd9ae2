import { expect, test } from 'vitest';
import type {
  AlertConditionInfo,
  AlertIncidentInfo,
  AlertMessageInfo,
} from '../../../src/control/http/alert-contract.ts';
import {
  conditionBody,
  conditionChanges,
  conditionFields,
  conditionFormOf,
  describeCondition,
  describeMessage,
  inListOrder,
  newCondition,
  sentenceOf,
  stateOf,
  validateCondition,
} from './alerts.ts';

const AT = '2026-11-15T12:00:00.000Z';

const CONDITION: AlertConditionInfo = {
  id: 'alc_1',
  kind: 'deliveries_failed',
  threshold: 10,
  window_minutes: 5,
  channel_ids: ['chn_1', 'chn_2'],
  enabled: true,
  created_at: AT,
  updated_at: AT,
};

function incident(id: string, closed_at: string | null = null): AlertIncidentInfo {
  return {
    id,
    condition_id: 'alc_1',
    kind: 'deliveries_failed',
    threshold: 10,
    window_minutes: 5,
    endpoint: null,
    endpoint_name: null,
    count: 12,
    opened_at: AT,
    quiet_since: null,
    reminded_at: null,
    closed_at,
    title: 'Deliveries fail',
  };
}

const MESSAGE: AlertMessageInfo = {
  id: 'dlv_1',
  incident_id: null,
  channel_id: 'chn_1',
  kind: 'test',
  title: 'Test',
  text: 'Nothing is wrong.',
  status: 'waiting',
  attempt_count: 0,
  next_attempt_at: AT,
  last_status_code: null,
  error: null,
  created_at: AT,
  ended_at: null,
};

test('a condition is one sentence', () => {
  const failed = (threshold: number, window_minutes: number) =>
    describeCondition({ kind: 'deliveries_failed', threshold, window_minutes });
  expect(failed(0, 5)).toBe('A delivery is dead-lettered or expires within 5 minutes.');
  expect(failed(1, 1)).toBe('More than one delivery is dead-lettered or expires within 1 minute.');
  expect(failed(1_000, 60)).toBe('More than 1,000 deliveries are dead-lettered or expire within 60 minutes.');
  const none = { threshold: null, window_minutes: null };
  expect(describeCondition({ kind: 'breaker_opened', ...none })).toBe(
    'The circuit breaker of an endpoint opens.',
  );
  expect(describeCondition({ kind: 'occurrences_skipped', ...none })).toMatch(/^Recurring schedules skip/);
});

test('a form says its sentence while it is filled in', () => {
  const form = conditionFormOf(CONDITION);
  expect(sentenceOf({ ...form, minutes: '7' })).toMatch(/^More than 10 .* within 7 minutes\.$/);
  expect(sentenceOf({ ...form, minutes: '' })).toBe('Deliveries fail.');
});

test('a new condition has terms only if its kind has them', () => {
  const form = newCondition(['chn_1']);
  expect(conditionBody(form)).toEqual({ kind: 'breaker_opened', channel_ids: ['chn_1'] });
  expect(conditionFields(form)).toEqual(['channel_ids']);
  const failed = { ...form, kind: 'deliveries_failed', threshold: ' 3 ', minutes: '15' } as const;
  expect(conditionBody(failed)).toEqual({
    kind: 'deliveries_failed',
    channel_ids: ['chn_1'],
    threshold: 3,
    window_minutes: 15,
  });
  expect(conditionFields(failed)).toEqual(['channel_ids', 'threshold', 'window_minutes']);
  expect(newCondition(['chn_1', 'chn_2']).channelIds).toEqual([]);
});

test('a change has only what changed', () => {
  const form = conditionFormOf(CONDITION);
  expect(conditionChanges(form, CONDITION)).toEqual({});
  expect(conditionChanges({ ...form, threshold: '11', channelIds: ['chn_2'] }, CONDITION)).toEqual({
    channel_ids: ['chn_2'],
    threshold: 11,
  });
});

test('errors are at their fields', () => {
  const form = conditionFormOf(CONDITION);
  expect(validateCondition(form)).toEqual({});
  const wrong = { ...form, threshold: 'ten', minutes: '', channelIds: [] };
  expect(Object.keys(validateCondition(wrong))).toEqual(['threshold', 'window_minutes', 'channel_ids']);
  expect(Object.keys(validateCondition({ ...wrong, kind: 'breaker_opened' }))).toEqual(['channel_ids']);
});

test('open incidents are in front, each once', () => {
  const page = [incident('inc_4', AT), incident('inc_3'), incident('inc_2', AT)];
  const open = [incident('inc_3'), incident('inc_1')];
  expect(inListOrder(open, page).map(({ id }) => id)).toEqual(['inc_3', 'inc_1', 'inc_4', 'inc_2']);
});

test('an incident is open, quiet or closed', () => {
  expect(stateOf(incident('inc_1'))).toBe('open');
  expect(stateOf({ ...incident('inc_1'), quiet_since: AT })).toBe('quiet');
  expect(stateOf({ ...incident('inc_1', AT), quiet_since: AT })).toBe('closed');
});

test('a message says what became of it', () => {
  expect(describeMessage(MESSAGE)).toBe('It is being sent.');
  expect(describeMessage({ ...MESSAGE, attempt_count: 1, error: 'HTTP 503' })).toBe(
    'Attempt 1 failed: HTTP 503.',
  );
  const ended = { ...MESSAGE, attempt_count: 1, next_attempt_at: null, ended_at: AT };
  expect(describeMessage({ ...ended, status: 'delivered', last_status_code: 200 })).toBe(
    'The channel answered 200.',
  );
  expect(describeMessage({ ...ended, status: 'failed', error: 'HTTP 404' })).toBe(
    'It was not delivered after 1 attempt: HTTP 404.',
  );
  const dropped = { ...ended, attempt_count: 0, error: 'the condition was switched off' };
  expect(describeMessage({ ...dropped, status: 'failed' })).toBe(
    'It was not sent: the condition was switched off.',
  );
});

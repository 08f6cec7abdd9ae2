import { describe, expect, it } from 'vitest';
import type { Endpoint, Schedule } from '../../../sdk/src/api-types.ts';
import {
  endpointBody,
  endpointChanges,
  endpointFields,
  endpointFormOf,
  NEW_ENDPOINT,
  validateEndpoint,
} from './endpoint-form.ts';
import { indexNamedIn } from './field-errors.ts';
import { findPairError, recordOf } from './pairs.ts';
import { breakerBody } from './policy-form.ts';
import {
  bodyHint,
  newSchedule,
  scheduleBody,
  scheduleChanges,
  scheduleFields,
  scheduleFormOf,
  validateEdit,
  validateSchedule,
} from './schedule-form.ts';
import { newTiming } from './timing-form.ts';

const TIMING = newTiming('UTC', Date.parse('2026-11-15T12:00:00.000Z'));
const RETRY = {
  max_attempts: 8,
  strategy: 'exponential',
  base: '5s',
  factor: 2,
  max: '1h',
  jitter: true,
} as const;

const SCHEDULE: Schedule = {
  id: 'sch_1',
  object: 'schedule',
  name: null,
  mode: 'test',
  kind: 'one_shot',
  state: 'active',
  endpoint: 'https://example.com/a',
  endpoint_id: null,
  method: 'POST',
  header_keys: [],
  fire_at: '2026-11-15T13:00:00.000Z',
  cron: null,
  timezone: null,
  next_fire_at: null,
  next_runs: [],
  ttl: '24h',
  jitter: null,
  idempotency_key: null,
  retry_policy: RETRY,
  rate_limit: null,
  notify: null,
  metadata: { team: 'billing' },
  created_at: '2026-11-15T12:00:00.000Z',
  updated_at: '2026-11-15T12:00:00.000Z',
};

const ENDPOINT: Endpoint = {
  id: 'ep_1',
  object: 'endpoint',
  name: null,
  response_excerpt: null,
  notify: null,
  standard_webhooks: false,
  mode: 'test',
  url: 'https://example.com/a',
  method: 'POST',
  header_keys: ['X-Tenant'],
  timeout: '10s',
  retry_policy: RETRY,
  retry_budget: { rate: 0, burst: 5 },
  rate_limit: null,
  breaker_policy: { threshold: 5, base_open: '30s', max_open: '1h', probe_timeout: '30s' },
  metadata: {},
  version: 3,
  archived: false,
  created_at: '2026-11-15T12:00:00.000Z',
  updated_at: '2026-11-15T12:00:00.000Z',
};

describe('a new schedule', () => {
  it('sends the fields that were filled in and leaves the others to the defaults', () => {
    const form = { ...newSchedule(TIMING), url: ' https://example.com/hook ' };
    expect(scheduleBody(form)).toEqual({
      endpoint: 'https://example.com/hook',
      method: 'POST',
      delay: '5m',
    });
  });

  it('has a name if one was given', () => {
    const form = { ...newSchedule(TIMING), url: 'https://example.com/hook', name: ' nightly-report ' };
    expect(scheduleBody(form)).toMatchObject({ name: 'nightly-report' });
    expect(scheduleFields(form)).toContain('name');
  });

  it('takes its method from its endpoint profile', () => {
    const form = { ...newSchedule(TIMING), destination: 'profile', endpointId: 'ep_1' } as const;
    expect(scheduleBody(form)).toEqual({ endpoint_id: 'ep_1', delay: '5m' });
  });

  it('sends every field', () => {
    const form = {
      ...newSchedule(TIMING),
      url: 'https://example.com/hook',
      headers: [
        { name: 'X-Tenant', value: 'acme' },
        { name: '', value: '' },
      ],
      body: '{}',
      ttl: '1h',
      retry: { maxAttempts: '3', base: '', factor: '1.5', max: '' },
      jitter: '30s',
      perSecond: '0',
      idempotencyKey: 'invoice-1',
      labels: [{ name: 'team', value: '' }],
    };
    expect(scheduleBody(form)).toMatchObject({
      headers: { 'X-Tenant': 'acme' },
      body: '{}',
      ttl: '1h',
      retry_policy: { max_attempts: 3, factor: 1.5 },
      jitter: '30s',
      rate_limit: { per_second: 0 },
      idempotency_key: 'invoice-1',
      metadata: { team: '' },
    });
  });

  it('reports errors at their fields', () => {
    const form = { ...newSchedule({ ...TIMING, delayAmount: '' }), headers: [{ name: '', value: 'x' }] };
    expect(Object.keys(validateSchedule(form))).toEqual(['endpoint', 'delay', 'headers']);
  });
});

describe('an edited schedule', () => {
  it('sends nothing without a change', () => {
    expect(scheduleChanges(scheduleFormOf(SCHEDULE, TIMING), SCHEDULE)).toEqual({});
  });

  it('sends only changed fields, and null for cleared ones', () => {
    const form = { ...scheduleFormOf(SCHEDULE, TIMING), ttl: '', url: 'https://example.com/b', labels: [] };
    expect(scheduleChanges(form, SCHEDULE)).toEqual({
      endpoint: 'https://example.com/b',
      ttl: null,
      metadata: {},
    });
  });

  it('is renamed, and null clears its name', () => {
    const named = { ...SCHEDULE, name: 'nightly-report' };
    const form = scheduleFormOf(named, TIMING);
    expect(scheduleChanges(form, named)).toEqual({});
    expect(scheduleChanges({ ...form, name: 'weekly' }, named)).toEqual({ name: 'weekly' });
    expect(scheduleChanges({ ...form, name: ' ' }, named)).toEqual({ name: null });
  });

  it('tells an endpoint profile, opts out, or does neither', () => {
    const told = { ...SCHEDULE, notify: { endpoint_id: 'ep_1', on: ['expired'] } } as const;
    const form = scheduleFormOf(told, TIMING);
    expect(scheduleChanges(form, told)).toEqual({});
    const on = ['succeeded'] as const;
    expect(scheduleChanges({ ...form, notify: { ...form.notify, on } }, told)).toEqual({
      notify: { endpoint_id: 'ep_1', on },
    });
    const choosing = (choice: 'nobody' | 'default') => ({ ...form, notify: { ...form.notify, choice } });
    expect(scheduleChanges(choosing('nobody'), told)).toEqual({ notify: { on: [] } });
    expect(scheduleChanges(choosing('default'), told)).toEqual({ notify: null });
    expect(scheduleBody(form)).toMatchObject({ notify: told.notify });
    expect(scheduleBody(choosing('default'))).not.toHaveProperty('notify');
    const wrong = { ...form, notify: { ...form.notify, on: [] } };
    expect(validateEdit(wrong)).toEqual({ notify: 'Choose at least one outcome.' });
  });

  it('never sends a destination together with an endpoint profile', () => {
    const backed = { ...SCHEDULE, endpoint_id: 'ep_1' };
    const form = { ...scheduleFormOf(backed, TIMING), url: 'https://example.com/b', method: 'GET' } as const;
    expect(scheduleChanges(form, backed)).toEqual({});
  });
});

describe('an endpoint profile', () => {
  it('is created from the fields that were filled in', () => {
    expect(endpointBody({ ...NEW_ENDPOINT, url: 'https://example.com/a', timeout: '10s' })).toEqual({
      url: 'https://example.com/a',
      method: 'POST',
      timeout: '10s',
    });
  });

  it('sends nothing without a change', () => {
    expect(endpointChanges(endpointFormOf(ENDPOINT), ENDPOINT)).toEqual({});
  });

  it('keeps its headers unless all of them are replaced', () => {
    const form = { ...endpointFormOf(ENDPOINT), headers: [{ name: 'X', value: 'y' }] };
    expect(endpointChanges(form, ENDPOINT)).toEqual({});
    expect(endpointChanges({ ...form, replacesHeaders: true }, ENDPOINT)).toEqual({ headers: { X: 'y' } });
  });

  it('has a name, and keeps some bytes of answers', () => {
    const form = { ...NEW_ENDPOINT, url: 'https://example.com/a', name: 'billing', excerptBytes: '0' };
    expect(endpointBody(form)).toMatchObject({ name: 'billing', response_excerpt: 0 });
    const kept = { ...ENDPOINT, name: 'billing', response_excerpt: 4_096 };
    expect(endpointChanges(endpointFormOf(kept), kept)).toEqual({});
    const cleared = { ...endpointFormOf(kept), name: '', excerptBytes: '' };
    expect(endpointChanges(cleared, kept)).toEqual({ name: null, response_excerpt: null });
  });

  it('is signed for Standard Webhooks only if that was chosen, and null ends it', () => {
    const form = { ...NEW_ENDPOINT, url: 'https://example.com/a' };
    expect(endpointBody(form)).not.toHaveProperty('standard_webhooks');
    expect(endpointBody({ ...form, isStandard: true })).toMatchObject({ standard_webhooks: true });
    const signed = { ...ENDPOINT, standard_webhooks: true };
    expect(endpointChanges(endpointFormOf(signed), signed)).toEqual({});
    expect(endpointChanges({ ...endpointFormOf(signed), isStandard: false }, signed)).toEqual({
      standard_webhooks: null,
    });
  });

  it('tells another endpoint profile, and null ends it', () => {
    const told = { ...ENDPOINT, notify: { endpoint_id: 'ep_2', on: ['dead_letter'] } } as const;
    const form = endpointFormOf(told);
    expect(endpointChanges(form, told)).toEqual({});
    expect(endpointBody(form)).toMatchObject({ notify: told.notify });
    const nobody = { ...form, notify: { ...form.notify, choice: 'default' } } as const;
    expect(endpointChanges(nobody, told)).toEqual({ notify: null });
    const wrong = { ...form, notify: { ...form.notify, endpointId: '' } };
    expect(validateEndpoint(wrong)).toEqual({ notify: 'Choose an endpoint profile.' });
  });

  it.each(['many', '-1', '1.5', '1e9'])('does not send %j as a number of bytes', (excerptBytes) => {
    const form = { ...NEW_ENDPOINT, url: 'https://example.com/a', excerptBytes };
    expect(Object.keys(validateEndpoint(form))).toEqual(['response_excerpt']);
  });

  it('sends null for cleared fields', () => {
    const form = { ...endpointFormOf(ENDPOINT), timeout: '', budgetRate: '', budgetBurst: '' };
    expect(endpointChanges(form, ENDPOINT)).toEqual({ timeout: null, retry_budget: null });
  });
});

it('a breaker policy has all four fields or is null', () => {
  expect(breakerBody({ threshold: '', baseOpen: '', maxOpen: ' ', probeTimeout: '' })).toBeNull();
  const some = breakerBody({ threshold: '', baseOpen: '30s', maxOpen: '', probeTimeout: '' });
  expect(JSON.parse(JSON.stringify(some))).toEqual({
    threshold: null,
    base_open: '30s',
    max_open: '',
    probe_timeout: '',
  });
});

it('empty rows are ignored, and a name may be used once', () => {
  expect(recordOf([{ name: ' a ', value: ' 1' }])).toEqual({ a: ' 1' });
  expect(findPairError([{ name: '', value: '' }], 'label')).toBeNull();
  expect(
    findPairError(
      [
        { name: 'a', value: '' },
        { name: 'a ', value: '' },
      ],
      'label',
    ),
  ).toContain('twice');
});

it('a body that starts like JSON but is not valid gets a hint', () => {
  expect(bodyHint('').kind).toBe('empty');
  expect(bodyHint('hello').kind).toBe('text');
  expect(bodyHint('{"a": 1}').kind).toBe('json');
  expect(bodyHint('{"a": 1').kind).toBe('broken');
});

describe('the fields at which an error can be shown', () => {
  it('of a schedule are those that its destination and its timing show', () => {
    const form = newSchedule(TIMING);
    expect(scheduleFields(form)).toEqual(
      expect.arrayContaining(['endpoint', 'method', 'delay', 'headers', 'ttl']),
    );
    expect(scheduleFields(form)).not.toContain('timezone');
    const other = { ...form, destination: 'profile', timing: { ...TIMING, kind: 'cron' } } as const;
    expect(scheduleFields(other)).toEqual(expect.arrayContaining(['endpoint_id', 'cron', 'timezone']));
    expect(scheduleFields(other)).not.toEqual(expect.arrayContaining(['endpoint']));
  });

  it('include every field of a body', () => {
    const filled = {
      ...newSchedule(TIMING),
      body: 'x',
      ttl: '1h',
      jitter: '1s',
      perSecond: '1',
      idempotencyKey: 'x',
    };
    const pairs = { headers: [{ name: 'a', value: 'b' }], labels: [{ name: 'a', value: 'b' }] };
    const retry = { maxAttempts: '3', base: '', factor: '', max: '' };
    const notify = { choice: 'nobody', endpointId: '', on: [] } as const;
    expect(scheduleFields(filled)).toEqual(
      expect.arrayContaining(Object.keys(scheduleBody({ ...filled, ...pairs, retry, notify }))),
    );
    const endpoint = {
      ...NEW_ENDPOINT,
      ...pairs,
      notify,
      url: 'x',
      timeout: '1s',
      retry,
      budgetRate: '1',
      perSecond: '1',
    };
    expect(endpointFields(endpoint)).toEqual(expect.arrayContaining(Object.keys(endpointBody(endpoint))));
  });

  it('of an endpoint profile have headers only while they are replaced', () => {
    expect(endpointFields(NEW_ENDPOINT)).toContain('headers');
    expect(endpointFields({ ...NEW_ENDPOINT, replacesHeaders: false })).not.toContain('headers');
  });
});

describe('the input that a message is about', () => {
  const names = ['max_attempts', 'base', 'factor', 'max'];

  it('is the one that it names as a word', () => {
    expect(indexNamedIn('retry_policy.base must be a duration.', names)).toBe(1);
    expect(indexNamedIn('`max` must be at least 1s.', names)).toBe(3);
    expect(indexNamedIn('max_attempts must be at most 25.', names)).toBe(0);
    expect(indexNamedIn('The label “a.b c” is used twice.', ['x', 'a.b c'])).toBe(1);
  });

  it('is the one without a name, else the first, if it names none', () => {
    expect(indexNamedIn('Every header needs a name.', ['X-Key', ''])).toBe(1);
    expect(indexNamedIn('It is too large.', ['X-Key', 'X-Other'])).toBe(0);
    expect(indexNamedIn('It is too large.', [])).toBe(0);
  });
});

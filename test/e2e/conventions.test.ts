/** What holds for every answer: ids, timestamps, the list envelope, the request id, the version. */
import { describe, expect, it } from 'vitest';
import type { Answer } from './client.ts';
import { OK } from './drive.ts';
import {
  attemptsOf,
  created,
  createdProfile,
  expectError,
  expectStatus,
  idOf,
  list,
  onlyDelivery,
  TIMESTAMP,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { ONE_SHOT, PROFILE, RECURRING, UNKNOWN } from './resources.ts';

const { api, anonymous, drive } = useSched();

const CURRENT_VERSION = '2026-11-15';

describe('Sched-Request-Id', () => {
  const requests: readonly (readonly [string, () => Promise<Answer>, number])[] = [
    ['200', () => api.get('/v1/schedules'), 200],
    ['201', () => api.post('/v1/schedules', ONE_SHOT), 201],
    ['400', () => api.send('POST', '/v1/schedules', { raw: '{' }), 400],
    ['401', () => anonymous.get('/v1/schedules'), 401],
    ['404 of an object', () => api.get(`/v1/schedules/${UNKNOWN.schedule}`), 404],
    ['404 of a path', () => api.get('/v1/nope'), 404],
    ['404 outside /v1', () => anonymous.get('/nope'), 404],
    ['409', async () => api.post(`/v1/deliveries/${await pendingDelivery()}/replay`), 409],
    ['413', () => api.send('POST', '/v1/schedules', { raw: ' '.repeat(1_048_577) }), 413],
    ['422', () => api.post('/v1/schedules', {}), 422],
    ['a probe', () => anonymous.get('/healthz'), 200],
    ['the reference', () => anonymous.get('/openapi.json'), 200],
  ];

  async function pendingDelivery(): Promise<string> {
    return (await onlyDelivery(api, (await created(api, ONE_SHOT)).id)).id;
  }

  it.each(requests)('is on an answer with %s, each time another', async (_what, send, status) => {
    const first = await send();
    const second = await send();
    expect([first.status, second.status]).toEqual([status, status]);
    expect(first.headers['sched-request-id']).toMatch(idOf('req'));
    expect(second.headers['sched-request-id']).not.toBe(first.headers['sched-request-id']);
  });

  it('is the service’s own, whatever the client sends', async () => {
    const chosen = `req_${'0'.repeat(26)}`;
    const answer = await api.with({ 'sched-request-id': chosen, 'request-id': chosen }).get('/v1/schedules');
    expect(answer.headers['sched-request-id']).not.toBe(chosen);
  });
});

describe('identifiers, timestamps and JSON', () => {
  it('every id is its kind’s prefix and 26 characters, every timestamp UTC with milliseconds', async () => {
    const profile = await createdProfile(api, PROFILE);
    const schedule = await created(api, { endpoint_id: profile.id, delay: '1h', ttl: '1h' });
    const { id } = await onlyDelivery(api, schedule.id);
    await drive.fire(id, OK);
    const [attempt] = await attemptsOf(api, id);
    const delivery = await onlyDelivery(api, schedule.id);

    expect(profile.id).toMatch(idOf('ep'));
    expect(schedule.id).toMatch(idOf('sch'));
    expect(delivery.id).toMatch(idOf('dlv'));
    expect(attempt?.id).toMatch(idOf('att'));

    const { fire_at, next_fire_at, next_runs } = schedule;
    const { scheduled_for, deadline, finalized_at } = delivery;
    const instants = [fire_at, next_fire_at, ...next_runs, scheduled_for, deadline, finalized_at];
    for (const shown of [profile, schedule, delivery]) instants.push(shown.created_at);
    for (const shown of [profile, schedule]) instants.push(shown.updated_at);
    instants.push(attempt?.due_at ?? null, attempt?.fired_at ?? null, attempt?.finished_at ?? null);
    for (const instant of instants) expect(instant).toMatch(TIMESTAMP);
  });

  it('answers are application/json', async () => {
    for (const answer of [await api.get('/v1/schedules'), await api.post('/v1/schedules', ONE_SHOT)]) {
      expect(answer.headers['content-type']).toMatch(/^application\/json(;|$)/);
    }
  });

  it('text beyond ASCII survives', async () => {
    const metadata = { città: 'Ω ≈ ç √', emoji: '📨', quote: '"\\/\u2028' };
    expect((await created(api, { ...ONE_SHOT, metadata })).metadata).toEqual(metadata);
  });
});

describe('the list envelope', () => {
  it('of every list: object, data, has_more and next_cursor, and nothing else', async () => {
    const schedule = await created(api, RECURRING);
    await createdProfile(api, PROFILE);
    const { id } = await onlyDelivery(api, schedule.id);
    await drive.claim(id);
    for (const path of [
      '/v1/schedules',
      '/v1/endpoints',
      '/v1/deliveries',
      `/v1/schedules/${schedule.id}/deliveries`,
      `/v1/deliveries/${id}/attempts`,
    ]) {
      const page = await list(api, path);
      expect(Object.keys(page).toSorted()).toEqual(['data', 'has_more', 'next_cursor', 'object']);
      expect(page).toMatchObject({ object: 'list', has_more: false, next_cursor: null });
      expect(page.data).not.toEqual([]);
    }
  });

  it('of nothing', async () => {
    const page = await list(api, '/v1/schedules?metadata[none]=such');
    expect(page).toEqual({ object: 'list', data: [], has_more: false, next_cursor: null });
  });
});

it('there is no request rate limiting: 300 requests at once are all answered', async () => {
  const answers = await Promise.all(Array.from({ length: 300 }, () => api.get('/v1/schedules?limit=1')));
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
});

describe('Sched-Version', () => {
  it('omitted: the project’s pinned version, named in the answer', async () => {
    const answer = await api.post('/v1/schedules', ONE_SHOT);
    expect(answer.headers['sched-version']).toBe(CURRENT_VERSION);
  });

  it.each([
    ['the current version', CURRENT_VERSION],
    ['a later date: the newest version not after it', '2099-12-31'],
    ['a date before the first version: the first', '1999-01-01'],
    ['a leap day', '2028-02-29'],
    ['empty: omitted', ''],
  ])('%s', async (_what, version) => {
    const answer = await api.with({ 'sched-version': version }).post('/v1/schedules', ONE_SHOT);
    expectStatus(answer, 201);
    expect(answer.headers['sched-version']).toBe(CURRENT_VERSION);
  });

  it.each(['latest', '2026', '2026-1-1', '2026-02-30', '2026-13-01', '2026-11-15T00:00:00Z', '20261115'])(
    'malformed: %s',
    async (version) => {
      const answer = await api.with({ 'sched-version': version }).post('/v1/schedules', ONE_SHOT);
      expectError(answer, 400, 'invalid_version', 'Sched-Version');
    },
  );
});

/** PATCH /v1/schedules/{id}: what it changes in the schedule and in the pending delivery, and what it keeps. */
import { describe, expect, it } from 'vitest';
import { planted } from './client.ts';
import { OK, SERVER_ERROR } from './drive.ts';
import {
  created,
  deliveriesOf,
  delivery,
  expectError,
  HOUR,
  list,
  MINUTE,
  ms,
  onlyDelivery,
  ordered,
  patched,
  schedule,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { DEFAULT_RETRY_POLICY, ONE_SHOT, RECURRING, type Schedule, UNKNOWN } from './resources.ts';

const { api, drive } = useSched();

const WHOLE = {
  ...ONE_SHOT,
  method: 'PUT',
  headers: { 'X-One': planted('one') },
  body: planted('body'),
  ttl: '2h',
  idempotency_key: 'key-1',
  retry_policy: { max_attempts: 3, base: '1s' },
  rate_limit: { per_second: 2 },
  jitter: '1s',
  metadata: { team: 'billing', env: 'prod' },
};

describe('omitted fields stay unchanged', () => {
  const changes: readonly (readonly [string, object, Partial<Schedule>])[] = [
    ['endpoint', { endpoint: 'https://b.example/' }, { endpoint: 'https://b.example/' }],
    ['method', { method: 'DELETE' }, { method: 'DELETE' }],
    ['ttl', { ttl: '30m' }, { ttl: '30m' }],
    [
      'retry_policy, replaced completely: defaults fill the rest',
      { retry_policy: { factor: 3 } },
      { retry_policy: { ...DEFAULT_RETRY_POLICY, factor: 3 } },
    ],
    ['metadata, replaced as a whole', { metadata: { team: 'ops' } }, { metadata: { team: 'ops' } }],
    ['metadata, emptied', { metadata: {} }, { metadata: {} }],
    ['nothing', {}, {}],
    ['null clears ttl', { ttl: null }, { ttl: null }],
    ['null clears metadata', { metadata: null }, { metadata: {} }],
    ['null gives the default retry policy', { retry_policy: null }, { retry_policy: DEFAULT_RETRY_POLICY }],
    ['endpoint_id is ignored', { endpoint_id: UNKNOWN.endpoint }, {}],
  ];
  it.each(changes)('%s', async (_what, change, expected) => {
    const before = await created(api, WHOLE);
    const after = await patched(api, before.id, change);
    expect(after).toEqual({ ...before, ...expected, updated_at: after.updated_at });
    expect(ms(after.updated_at)).toBeGreaterThanOrEqual(ms(before.updated_at));
    expect(await schedule(api, before.id)).toEqual(after);
  });

  it('timing fields, valid or not, and fields that cannot be changed are ignored', async () => {
    const before = await created(api, WHOLE);
    const pending = await onlyDelivery(api, before.id);
    const ignored = [
      { delay: '5h', fire_at: '2030-01-01T00:00:00Z' },
      { cron: '0 9 * * *' },
      { local_fire_at: 'x', delay: 5 },
      {
        jitter: '9h',
        idempotency_key: 'key-2',
        rate_limit: null,
        headers: { 'X-Two': planted('two') },
        body: planted('2'),
      },
      { state: 'canceled', id: UNKNOWN.schedule },
    ];
    for (const change of ignored) {
      const after = await patched(api, before.id, change);
      expect(after).toEqual({ ...before, updated_at: after.updated_at });
    }
    expect(await onlyDelivery(api, before.id)).toEqual(pending);
  });
});

describe('a refused PATCH changes nothing', () => {
  const tooMany = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`${i}`, 'x']));
  it.each([
    ['endpoint', 'http://b.example/', 422, 'url_blocked'],
    ['endpoint', '', 422, 'url_blocked'],
    ['endpoint', 5, 422, 'url_blocked'],
    ['endpoint', 'https://u:p@b.example/', 422, 'url_blocked'],
    ['method', 'BREW', 400, 'invalid_method'],
    ['method', 5, 400, 'invalid_method'],
    ['ttl', 'x', 400, 'invalid_duration'],
    ['ttl', 5, 400, 'invalid_duration'],
    ['retry_policy', 'x', 422, 'invalid_retry_policy'],
    ['retry_policy', { max_attempts: 51 }, 422, 'invalid_retry_policy'],
    ['retry_policy', { base: '25h' }, 422, 'invalid_retry_policy'],
    ['metadata', [], 400, 'invalid_request'],
    ['metadata', { a: 1 }, 400, 'invalid_request'],
    ['metadata', tooMany, 422, 'too_many_labels'],
  ])('%s %j', async (field, value, status, code) => {
    const before = await created(api, WHOLE);
    const pending = await onlyDelivery(api, before.id);
    const change = { endpoint: 'https://c.example/', ttl: '1m', [field]: value };
    expectError(await api.patch(`/v1/schedules/${before.id}`, change), status, code, field);
    expect(await schedule(api, before.id)).toEqual(before);
    expect(await onlyDelivery(api, before.id)).toEqual(pending);
  });

  it('an unknown id', async () => {
    expectError(await api.patch(`/v1/schedules/${UNKNOWN.schedule}`, {}), 404, 'not_found');
  });
});

describe('the pending delivery changes too, unless it is claimed', () => {
  it('ttl: it gets a new deadline', async () => {
    const { id } = await created(api, { ...ONE_SHOT, ttl: '1h' });
    await patched(api, id, { ttl: '30m' });
    const shortened = await onlyDelivery(api, id);
    expect(ms(shortened.deadline) - ms(shortened.scheduled_for)).toBe(30 * MINUTE);
    await patched(api, id, { ttl: null });
    expect((await onlyDelivery(api, id)).deadline).toBeNull();
  });

  it('retry_policy: the new one decides when the next retry is due, and how many there are', async () => {
    const { id } = await created(api, { ...ONE_SHOT, retry_policy: { max_attempts: 1 } });
    await patched(api, id, { retry_policy: { max_attempts: 2, base: '1m', factor: 1 } });
    const pending = await onlyDelivery(api, id);
    await drive.fire(pending.id, SERVER_ERROR);
    const waiting = await delivery(api, pending.id);
    expect(waiting.status).toBe('retry_scheduled');
    expect(ms(waiting.next_fire_at) - ms(waiting.scheduled_for)).toBe(MINUTE);
    await drive.fire(pending.id, SERVER_ERROR);
    expect((await delivery(api, pending.id)).status).toBe('dead_letter');
  });

  it('also while it waits for a retry', async () => {
    const { id } = await created(api, { ...ONE_SHOT, ttl: '1h' });
    const pending = await onlyDelivery(api, id);
    await drive.fire(pending.id, SERVER_ERROR);
    await patched(api, id, { ttl: '3h', retry_policy: { max_attempts: 2 } });
    const waiting = await delivery(api, pending.id);
    expect(waiting).toMatchObject({ status: 'retry_scheduled', attempt_count: 1 });
    expect(ms(waiting.deadline) - ms(waiting.scheduled_for)).toBe(3 * HOUR);
    await drive.fire(pending.id, SERVER_ERROR);
    expect((await delivery(api, pending.id)).status).toBe('dead_letter');
  });

  it('also while it is paused', async () => {
    const { id } = await created(api, { ...ONE_SHOT, ttl: '1h' });
    await ordered(api, id, 'pause');
    expect(await patched(api, id, { ttl: '2h' })).toMatchObject({ state: 'paused', ttl: '2h' });
    const pending = await onlyDelivery(api, id);
    expect(pending.status).toBe('paused');
    expect(ms(pending.deadline) - ms(pending.scheduled_for)).toBe(2 * HOUR);
  });

  it('but not while it is claimed', async () => {
    const { id } = await created(api, { ...ONE_SHOT, ttl: '1h', retry_policy: { max_attempts: 1 } });
    const pending = await onlyDelivery(api, id);
    await drive.claim(pending.id);
    const claimed = await delivery(api, pending.id);
    expect(await patched(api, id, { ttl: '5h', retry_policy: { max_attempts: 9 } })).toMatchObject({
      ttl: '5h',
    });
    expect(await delivery(api, pending.id)).toEqual(claimed);
    await drive.settle(pending.id, SERVER_ERROR);
    expect((await delivery(api, pending.id)).status).toBe('dead_letter');
  });

  it('of a recurring schedule only the next one changes, and earlier ones keep their values', async () => {
    const { id } = await created(api, { ...RECURRING, ttl: '1h' });
    const first = await onlyDelivery(api, id);
    await drive.fire(first.id, SERVER_ERROR);
    const retrying = await delivery(api, first.id);
    await patched(api, id, { ttl: '2h' });
    const [next] = await deliveriesOf(api, id);
    expect(ms(next?.deadline) - ms(next?.scheduled_for)).toBe(2 * HOUR);
    expect(await delivery(api, first.id)).toEqual(retrying);
  });
});

describe('a PATCH of an ended schedule is allowed and changes only the schedule', () => {
  it.each(['canceled', 'completed'])('%s', async (state) => {
    const { id } = await created(api, { ...ONE_SHOT, ttl: '1h' });
    const pending = await onlyDelivery(api, id);
    if (state === 'canceled') await ordered(api, id, 'cancel');
    else await drive.fire(pending.id, OK);
    const ended = await delivery(api, pending.id);

    const after = await patched(api, id, { ttl: '5h', endpoint: 'https://b.example/', metadata: { a: 'b' } });
    expect(after).toMatchObject({ state, ttl: '5h', endpoint: 'https://b.example/', metadata: { a: 'b' } });
    expect(after).toMatchObject({ next_fire_at: null, next_runs: [] });
    expect(await delivery(api, pending.id)).toEqual(ended);
  });
});

it('lists find a schedule by its new labels, and not by its old ones', async () => {
  const { id } = await created(api, { ...ONE_SHOT, metadata: { was: 'here', stays: 'yes' } });
  await patched(api, id, { metadata: { is: 'here', stays: 'yes' } });
  const ids = async (label: string) =>
    (
      await list<Schedule>(api, `/v1/schedules?metadata[${label}]=${label === 'stays' ? 'yes' : 'here'}`)
    ).data.map((shown) => shown.id);
  expect(await ids('was')).toEqual([]);
  expect(await ids('is')).toEqual([id]);
  expect(await ids('stays')).toEqual([id]);
});

it('a hundred concurrent edits all take effect', async () => {
  const { id } = await created(api, ONE_SHOT);
  const edits = Array.from({ length: 100 }, (_, i) => patched(api, id, { metadata: { edit: `${i}` } }));
  const shown = (await Promise.all(edits)).map(({ metadata }) => metadata);
  expect(shown).toEqual(shown.map((_, i) => ({ edit: `${i}` })));
});

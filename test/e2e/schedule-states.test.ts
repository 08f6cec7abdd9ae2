/** Pause, resume and cancel in each state of a schedule and of its delivery. */
import { describe, expect, it } from 'vitest';
import { OK, REDIRECT, SERVER_ERROR } from './drive.ts';
import {
  created,
  DAY,
  deliveriesOf,
  delivery,
  expectError,
  HOUR,
  MINUTE,
  ms,
  onlyDelivery,
  ordered,
  schedule,
  TIMESTAMP,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { ONE_SHOT, RECURRING, UNKNOWN, URL } from './resources.ts';

const { api, drive } = useSched();

const YEARLY = { endpoint: URL, cron: '0 0 1 1 *' };
const ORDERS = ['pause', 'resume', 'cancel'] as const;

/** A schedule and its only delivery. */
async function given(body: object) {
  const shown = await created(api, body);
  return { id: shown.id, shown, pending: await onlyDelivery(api, shown.id) };
}

describe('pause', () => {
  it.each([
    ['one-shot', ONE_SHOT],
    ['recurring', RECURRING],
  ])('an active %s: paused, and so is its pending delivery', async (_what, body) => {
    const { id, shown, pending } = await given(body);
    const paused = await ordered(api, id, 'pause');
    expect(paused).toEqual({
      ...shown,
      state: 'paused',
      next_fire_at: null,
      next_runs: [],
      updated_at: paused.updated_at,
    });
    expect(await schedule(api, id)).toEqual(paused);
    expect(await delivery(api, pending.id)).toEqual({ ...pending, status: 'paused', next_fire_at: null });
  });

  it('a delivery that waits for a retry is paused too', async () => {
    const { id, pending } = await given(ONE_SHOT);
    await drive.fire(pending.id, SERVER_ERROR);
    await ordered(api, id, 'pause');
    expect(await delivery(api, pending.id)).toMatchObject({
      status: 'paused',
      attempt_count: 1,
      last_status_code: 503,
      next_fire_at: null,
    });
  });

  it('of a recurring schedule pauses the next occurrence and an earlier one that waits for a retry', async () => {
    const { id, pending: first } = await given(RECURRING);
    await drive.fire(first.id, SERVER_ERROR);
    await ordered(api, id, 'pause');
    expect((await deliveriesOf(api, id)).map(({ status }) => status)).toEqual(['paused', 'paused']);
    await ordered(api, id, 'resume');
    expect((await deliveriesOf(api, id)).map(({ status }) => status)).toEqual([
      'scheduled',
      'retry_scheduled',
    ]);
  });

  it('a claimed delivery finishes its attempt, and is then paused rather than retried', async () => {
    const { id, pending } = await given(ONE_SHOT);
    await drive.claim(pending.id);
    expect(await ordered(api, id, 'pause')).toMatchObject({ state: 'paused', next_fire_at: null });
    expect((await delivery(api, pending.id)).status).toBe('claimed');
    await drive.settle(pending.id, SERVER_ERROR);
    expect(await delivery(api, pending.id)).toMatchObject({
      status: 'paused',
      next_fire_at: null,
      finalized_at: null,
    });
    await ordered(api, id, 'resume');
    expect((await delivery(api, pending.id)).status).toBe('retry_scheduled');
  });

  it('a claimed occurrence of a recurring schedule is paused after its attempt too, and a resume finds it', async () => {
    const { id, pending: first } = await given(RECURRING);
    const statuses = async () => (await deliveriesOf(api, id)).map(({ status }) => status);
    await drive.claim(first.id);
    await ordered(api, id, 'pause');
    expect(await statuses()).toEqual(['paused', 'claimed']);
    await drive.settle(first.id, SERVER_ERROR);
    expect(await statuses()).toEqual(['paused', 'paused']);
    await ordered(api, id, 'resume');
    expect(await statuses()).toEqual(['scheduled', 'retry_scheduled']);
  });

  it('a claimed delivery that then succeeds completes the paused one-shot', async () => {
    const { id, pending } = await given(ONE_SHOT);
    await drive.claim(pending.id);
    await ordered(api, id, 'pause');
    await drive.settle(pending.id, OK);
    expect((await schedule(api, id)).state).toBe('completed');
  });
});

describe('resume', () => {
  it.each([
    ['one-shot', ONE_SHOT],
    ['recurring schedule', YEARLY],
    ['jittered recurring schedule', { ...YEARLY, jitter: '10h' }],
  ])('a %s whose instant is in the future is as before the pause', async (_what, body) => {
    const { id, shown, pending } = await given(body);
    await ordered(api, id, 'pause');
    const resumed = await ordered(api, id, 'resume');
    expect(resumed).toEqual({ ...shown, updated_at: resumed.updated_at });
    expect(await onlyDelivery(api, id)).toEqual(pending);
  });

  it('a one-shot whose instant has passed fires at once', async () => {
    const { id, pending } = await given({ ...ONE_SHOT, ttl: '2h' });
    await ordered(api, id, 'pause');
    await drive.letPass(pending.id, 2 * HOUR);
    const resumed = await ordered(api, id, 'resume');
    expect(resumed.state).toBe('active');
    expect(ms(resumed.next_fire_at)).toBeLessThanOrEqual(Date.now());
    expect(await delivery(api, pending.id)).toMatchObject({
      status: 'scheduled',
      next_fire_at: resumed.next_fire_at,
    });
  });

  it('a one-shot whose deadline has passed expires without an attempt and is completed', async () => {
    const { id, pending } = await given({ ...ONE_SHOT, ttl: '5m' });
    await ordered(api, id, 'pause');
    await drive.letPass(pending.id, 2 * HOUR);
    expect(await ordered(api, id, 'resume')).toMatchObject({
      state: 'completed',
      next_fire_at: null,
      next_runs: [],
    });
    expect(await delivery(api, pending.id)).toMatchObject({
      status: 'expired',
      attempt_count: 0,
      next_fire_at: null,
      finalized_at: expect.stringMatching(TIMESTAMP),
    });
  });

  it('a retry whose deadline has passed expires too', async () => {
    const { id, pending } = await given({ ...ONE_SHOT, ttl: '1h' });
    await drive.fire(pending.id, SERVER_ERROR);
    await ordered(api, id, 'pause');
    await drive.letPass(pending.id, 3 * HOUR);
    expect((await ordered(api, id, 'resume')).state).toBe('completed');
    expect(await delivery(api, pending.id)).toMatchObject({ status: 'expired', attempt_count: 1 });
  });

  it('a recurring schedule skips missed occurrences and continues with the next one after now', async () => {
    const { id, shown, pending } = await given({ endpoint: URL, cron: '0 0 * * *' });
    await ordered(api, id, 'pause');
    await drive.letPass(pending.id, 3 * DAY);
    const resumed = await ordered(api, id, 'resume');
    expect(resumed).toEqual({ ...shown, updated_at: resumed.updated_at });
    expect(await onlyDelivery(api, id)).toEqual(pending);
  });

  it('a recurring schedule whose ttl has passed continues with its next occurrence and never expires', async () => {
    const { id, pending } = await given({ endpoint: URL, cron: '0 0 * * *', ttl: '1m' });
    await ordered(api, id, 'pause');
    await drive.letPass(pending.id, 3 * DAY);
    await ordered(api, id, 'resume');
    expect(await onlyDelivery(api, id)).toEqual(pending);
  });

  it('a delivery with attempts returns to retry_scheduled with the same due instant', async () => {
    const { id, pending } = await given(ONE_SHOT);
    await drive.fire(pending.id, SERVER_ERROR);
    const retrying = await delivery(api, pending.id);
    await ordered(api, id, 'pause');
    const resumed = await ordered(api, id, 'resume');
    expect(await delivery(api, pending.id)).toEqual(retrying);
    expect(resumed).toMatchObject({
      next_fire_at: retrying.next_fire_at,
      next_runs: [retrying.next_fire_at],
    });
  });
});

describe('cancel', () => {
  it.each([
    ['an active one-shot', ONE_SHOT, null],
    ['an active recurring schedule', RECURRING, null],
    ['a paused one-shot', ONE_SHOT, 'pause' as const],
    ['a paused recurring schedule', RECURRING, 'pause' as const],
  ])('%s: canceled, and so is its pending delivery', async (_what, body, before) => {
    const { id, shown, pending } = await given(body);
    if (before !== null) await ordered(api, id, before);
    const canceled = await ordered(api, id, 'cancel');
    const nothingNext = { next_fire_at: null, next_runs: [], updated_at: canceled.updated_at };
    expect(canceled).toEqual({ ...shown, state: 'canceled', ...nothingNext });
    expect(await onlyDelivery(api, id)).toEqual({
      ...pending,
      status: 'canceled',
      next_fire_at: null,
      finalized_at: canceled.updated_at,
    });
  });

  it('a delivery that waits for a retry is canceled too', async () => {
    const { id, pending } = await given(ONE_SHOT);
    await drive.fire(pending.id, SERVER_ERROR);
    await ordered(api, id, 'cancel');
    expect(await delivery(api, pending.id)).toMatchObject({
      status: 'canceled',
      attempt_count: 1,
      next_fire_at: null,
      finalized_at: expect.stringMatching(TIMESTAMP),
    });
  });

  it('of a recurring schedule cancels every occurrence that has not ended, and keeps the history', async () => {
    const { id, pending: done } = await given(RECURRING);
    await drive.fire(done.id, OK);
    const [retrying] = await deliveriesOf(api, id);
    await drive.fire(retrying?.id ?? '', SERVER_ERROR);
    const finished = await delivery(api, done.id);
    await ordered(api, id, 'cancel');
    const statuses = (await deliveriesOf(api, id)).map(({ status }) => status);
    expect(statuses).toEqual(['canceled', 'canceled', 'succeeded']);
    expect(await delivery(api, done.id)).toEqual(finished);
  });

  it.each([
    ['is then canceled rather than retried', SERVER_ERROR, 'canceled'],
    ['may still succeed', OK, 'succeeded'],
    ['may still fail for good', REDIRECT, 'dead_letter'],
  ])('a claimed delivery finishes its attempt, and %s', async (_what, result, status) => {
    const { id, pending } = await given(ONE_SHOT);
    await drive.claim(pending.id);
    expect(await ordered(api, id, 'cancel')).toMatchObject({ state: 'canceled', next_fire_at: null });
    expect((await delivery(api, pending.id)).status).toBe('claimed');
    await drive.settle(pending.id, result);
    expect(await delivery(api, pending.id)).toMatchObject({
      status,
      finalized_at: expect.stringMatching(TIMESTAMP),
    });
    expect((await schedule(api, id)).state).toBe('canceled');
  });

  it('stops future occurrences: nothing new is materialized', async () => {
    const { id, pending } = await given(RECURRING);
    await drive.claim(pending.id);
    await ordered(api, id, 'cancel');
    await drive.settle(pending.id, OK);
    expect((await deliveriesOf(api, id)).map(({ status }) => status)).toEqual(['canceled', 'succeeded']);
  });
});

describe('an action that does not apply answers 200 and changes nothing', () => {
  it.each([
    ['pause', 'paused'],
    ['resume', 'active'],
    ...ORDERS.map((order) => [order, 'canceled'] as const),
    ...ORDERS.map((order) => [order, 'completed'] as const),
  ] as const)('%s of a schedule that is %s', async (order, state) => {
    const { id, pending } = await given(ONE_SHOT);
    if (state === 'paused') await ordered(api, id, 'pause');
    if (state === 'canceled') await ordered(api, id, 'cancel');
    if (state === 'completed') await drive.fire(pending.id, OK);
    const before = await schedule(api, id);
    const deliveries = await deliveriesOf(api, id);
    expect(before.state).toBe(state);
    expect(await ordered(api, id, order)).toEqual(before);
    expect(await schedule(api, id)).toEqual(before);
    expect(await deliveriesOf(api, id)).toEqual(deliveries);
  });

  it.each(ORDERS)('%s of an unknown id: 404', async (order) => {
    expectError(await api.post(`/v1/schedules/${UNKNOWN.schedule}/${order}`), 404, 'not_found');
  });
});

describe('a one-shot is completed when its delivery ends', () => {
  it.each([
    ['succeeded', [OK]],
    ['succeeded', [SERVER_ERROR, OK]],
    ['dead_letter', [REDIRECT]],
    ['dead_letter', [SERVER_ERROR, SERVER_ERROR]],
  ])('%s after %j', async (status, results) => {
    const { id, pending } = await given({ ...ONE_SHOT, retry_policy: { max_attempts: 2 } });
    await drive.fire(pending.id, ...results);
    expect((await delivery(api, pending.id)).status).toBe(status);
    expect(await schedule(api, id)).toMatchObject({ state: 'completed', next_fire_at: null, next_runs: [] });
  });

  it('expired', async () => {
    const { id, pending } = await given({ ...ONE_SHOT, ttl: '1m' });
    await drive.expire(pending.id);
    expect((await delivery(api, pending.id)).status).toBe('expired');
    expect((await schedule(api, id)).state).toBe('completed');
  });

  it('not while it is claimed or waits for a retry', async () => {
    const { id, pending } = await given({ ...ONE_SHOT, retry_policy: { base: '1m', factor: 1 } });
    await drive.claim(pending.id);
    expect(await schedule(api, id)).toMatchObject({ state: 'active', next_fire_at: null, next_runs: [] });
    await drive.settle(pending.id, SERVER_ERROR);
    const retry = new Date(ms(pending.scheduled_for) + MINUTE).toISOString();
    expect(await schedule(api, id)).toMatchObject({
      state: 'active',
      next_fire_at: retry,
      next_runs: [retry],
    });
  });

  it('a recurring schedule never completes by itself', async () => {
    const { id } = await given(RECURRING);
    for (const result of [OK, REDIRECT, SERVER_ERROR]) {
      const [next] = await deliveriesOf(api, id);
      await drive.fire(next?.id ?? '', result);
      expect((await schedule(api, id)).state).toBe('active');
    }
    const statuses = (await deliveriesOf(api, id)).map(({ status }) => status);
    expect(statuses).toEqual(['scheduled', 'retry_scheduled', 'dead_letter', 'succeeded']);
  });
});

/** POST /v1/schedules/{id}/reschedule moves the fire time of the pending delivery. */
import { describe, expect, it } from 'vitest';
import { OK, SERVER_ERROR } from './drive.ts';
import {
  created,
  DAY,
  deliveriesOf,
  delivery,
  expectError,
  fromNow,
  HOUR,
  list,
  MINUTE,
  ms,
  onlyDelivery,
  ordered,
  rescheduled,
  schedule,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { ONE_SHOT, RECURRING, type Schedule, UNKNOWN, URL } from './resources.ts';

const { api, drive } = useSched();

const YEARLY = { endpoint: URL, cron: '0 0 1 1 *' };

describe('a one-shot', () => {
  const later = fromNow(3 * DAY);
  const sooner = fromNow(10 * MINUTE);
  it.each([
    ['fire_at, later', { fire_at: later }, later, null],
    ['fire_at, earlier', { fire_at: sooner }, sooner, null],
    ['local_fire_at in UTC', { local_fire_at: later.slice(0, 19) }, `${later.slice(0, 19)}.000Z`, 'UTC'],
    [
      'local_fire_at in a timezone',
      { local_fire_at: `${later.slice(0, 10)}T12:00:00`, timezone: 'Asia/Tokyo' },
      `${later.slice(0, 10)}T03:00:00.000Z`,
      'Asia/Tokyo',
    ],
  ])('by %s', async (_what, timing, fireAt, timezone) => {
    const before = await created(api, { ...ONE_SHOT, delay: '2h', ttl: '1h' });
    const pending = await onlyDelivery(api, before.id);
    const after = await rescheduled(api, before.id, timing);
    expect(after).toEqual({
      ...before,
      fire_at: fireAt,
      next_fire_at: fireAt,
      next_runs: [fireAt],
      timezone,
      updated_at: after.updated_at,
    });
    expect(await onlyDelivery(api, before.id)).toEqual({
      ...pending,
      occurrence: fireAt,
      scheduled_for: fireAt,
      next_fire_at: fireAt,
      deadline: new Date(ms(fireAt) + HOUR).toISOString(),
    });
  });

  it('by delay: counted from now', async () => {
    const { id } = await created(api, ONE_SHOT);
    const after = await rescheduled(api, id, { delay: '5m' });
    expect(ms(after.fire_at) - ms(after.updated_at)).toBe(5 * MINUTE);
  });

  it('by cron: it becomes recurring', async () => {
    const { id } = await created(api, { ...ONE_SHOT, idempotency_key: 'order-1' });
    const pending = await onlyDelivery(api, id);
    const after = await rescheduled(api, id, { cron: '30 9 1 1 *', timezone: 'Asia/Kolkata' });
    expect(after).toMatchObject({
      kind: 'recurring',
      fire_at: null,
      cron: '30 9 1 1 *',
      timezone: 'Asia/Kolkata',
    });
    expect(after.next_runs.map((at) => at.slice(4))).toEqual(
      Array.from({ length: 5 }, () => '-01-01T04:00:00.000Z'),
    );
    expect(await onlyDelivery(api, id)).toEqual({
      ...pending,
      occurrence: after.next_fire_at,
      scheduled_for: after.next_fire_at,
      next_fire_at: after.next_fire_at,
      idempotency_key: `order-1:${after.next_fire_at}`,
    });
    expect((await list<Schedule>(api, '/v1/schedules?kind=recurring&limit=1')).data[0]?.id).toBe(id);
  });

  it('with jitter: the new instant is jittered too, fire_at stays nominal', async () => {
    const { id } = await created(api, { ...ONE_SHOT, jitter: '10m' });
    const fire_at = fromNow(DAY);
    const after = await rescheduled(api, id, { fire_at });
    expect(after.fire_at).toBe(fire_at);
    expect(Math.abs(ms(after.next_fire_at) - ms(fire_at))).toBeLessThanOrEqual(10 * MINUTE);
    expect((await onlyDelivery(api, id)).scheduled_for).toBe(after.next_fire_at);
  });

  it('while it waits for a retry: it is moved, keeps its attempts, and gets a new deadline', async () => {
    const { id } = await created(api, { ...ONE_SHOT, ttl: '1h' });
    const pending = await onlyDelivery(api, id);
    await drive.fire(pending.id, SERVER_ERROR);
    const fire_at = fromNow(2 * DAY);
    expect(await rescheduled(api, id, { fire_at })).toMatchObject({ fire_at, next_fire_at: fire_at });
    expect(await delivery(api, pending.id)).toMatchObject({
      status: 'retry_scheduled',
      scheduled_for: fire_at,
      next_fire_at: fire_at,
      deadline: new Date(ms(fire_at) + HOUR).toISOString(),
      attempt_count: 1,
      last_status_code: 503,
      idempotency_key: pending.idempotency_key,
    });
  });

  it('while its delivery is claimed: 200 with the actual state, and nothing changes', async () => {
    const { id } = await created(api, ONE_SHOT);
    const pending = await onlyDelivery(api, id);
    await drive.claim(pending.id);
    const before = await schedule(api, id);
    const claimed = await delivery(api, pending.id);
    expect(await rescheduled(api, id, { delay: '5h' })).toEqual(before);
    expect(await rescheduled(api, id, { cron: '0 9 * * *' })).toEqual(before);
    expect(before).toMatchObject({ state: 'active', kind: 'one_shot', next_fire_at: null, next_runs: [] });
    expect(await delivery(api, pending.id)).toEqual(claimed);
  });
});

describe('a recurring schedule', () => {
  it('by an instant: only the next occurrence moves', async () => {
    const before = await created(api, YEARLY);
    const pending = await onlyDelivery(api, before.id);
    const fire_at = fromNow(HOUR);
    const after = await rescheduled(api, before.id, { fire_at });
    expect(after).toMatchObject({
      kind: 'recurring',
      fire_at: null,
      cron: YEARLY.cron,
      next_fire_at: fire_at,
    });
    expect(after.next_runs).toEqual([fire_at, ...before.next_runs.slice(1)]);
    expect(await onlyDelivery(api, before.id)).toEqual({
      ...pending,
      scheduled_for: fire_at,
      next_fire_at: fire_at,
      idempotency_key: `${before.id}:${fire_at}`,
    });

    await drive.claim(pending.id);
    expect((await deliveriesOf(api, before.id))[0]?.scheduled_for).toBe(before.next_runs[1]);
  });

  it('by an instant beyond its next occurrences: those are skipped', async () => {
    const before = await created(api, YEARLY);
    const fire_at = new Date(ms(before.next_runs[1]) + DAY).toISOString();
    const after = await rescheduled(api, before.id, { fire_at });
    expect(after.next_runs.slice(0, 3)).toEqual([fire_at, before.next_runs[2], before.next_runs[3]]);
  });

  it.each([
    ['delay', { delay: '1h' }],
    ['local_fire_at', { local_fire_at: fromNow(HOUR).slice(0, 19), timezone: 'UTC' }],
  ])('by %s: only the next occurrence moves, and the timezone stays', async (_what, timing) => {
    const before = await created(api, { ...YEARLY, timezone: 'Asia/Tokyo' });
    const after = await rescheduled(api, before.id, timing);
    expect(Math.abs(ms(after.next_fire_at) - Date.now() - HOUR)).toBeLessThan(MINUTE);
    expect(after).toMatchObject({ kind: 'recurring', cron: YEARLY.cron, timezone: 'Asia/Tokyo' });
  });

  it('by cron: the recurrence is replaced, and the default timezone is UTC', async () => {
    const { id } = await created(api, { ...YEARLY, timezone: 'Asia/Tokyo' });
    const pending = await onlyDelivery(api, id);
    const after = await rescheduled(api, id, { cron: '0 12 1 7 *' });
    expect(after).toMatchObject({ kind: 'recurring', cron: '0 12 1 7 *', timezone: 'UTC' });
    expect(after.next_runs.map((at) => at.slice(4))).toEqual(
      Array.from({ length: 5 }, () => '-07-01T12:00:00.000Z'),
    );
    expect(await onlyDelivery(api, id)).toMatchObject({
      id: pending.id,
      scheduled_for: after.next_fire_at,
      idempotency_key: `${id}:${after.next_fire_at}`,
    });
  });

  it('by cron, after its next occurrence was moved forward and sent: the new recurrence starts now', async () => {
    const { id } = await created(api, YEARLY);
    const pending = await onlyDelivery(api, id);
    await rescheduled(api, id, { delay: '1s' });
    await drive.fire(pending.id, OK);
    const after = await rescheduled(api, id, { cron: '*/5 * * * *' });
    // The moved occurrence is sent here up to a second before its instant, and the next one comes after that.
    expect(ms(after.next_fire_at) - ms(after.updated_at)).toBeLessThanOrEqual(5 * MINUTE + 1_000);
  });

  it('while an earlier occurrence is claimed or waits for a retry: only the next one moves', async () => {
    const { id } = await created(api, RECURRING);
    const first = await onlyDelivery(api, id);
    await drive.claim(first.id);
    const claimed = await delivery(api, first.id);
    const fire_at = fromNow(3 * DAY);
    expect(await rescheduled(api, id, { fire_at })).toMatchObject({ next_fire_at: fire_at });
    expect(await delivery(api, first.id)).toEqual(claimed);

    await drive.settle(first.id, SERVER_ERROR);
    const retrying = await delivery(api, first.id);
    expect(await rescheduled(api, id, { delay: '1h' })).toMatchObject({ state: 'active' });
    expect(await delivery(api, first.id)).toEqual(retrying);
  });
});

describe('by state', () => {
  it('a paused schedule is moved and stays paused, and fires at the new instant after a resume', async () => {
    const { id } = await created(api, ONE_SHOT);
    await ordered(api, id, 'pause');
    const fire_at = fromNow(DAY);
    expect(await rescheduled(api, id, { fire_at })).toMatchObject({
      state: 'paused',
      fire_at,
      next_fire_at: null,
      next_runs: [],
    });
    expect(await onlyDelivery(api, id)).toMatchObject({
      status: 'paused',
      scheduled_for: fire_at,
      next_fire_at: null,
    });
    expect(await ordered(api, id, 'resume')).toMatchObject({ state: 'active', next_fire_at: fire_at });
    expect(await onlyDelivery(api, id)).toMatchObject({ status: 'scheduled', next_fire_at: fire_at });
  });

  it.each(['canceled', 'completed'])('a %s schedule: 409 schedule_not_active', async (state) => {
    const { id } = await created(api, ONE_SHOT);
    if (state === 'canceled') await ordered(api, id, 'cancel');
    else await drive.fire((await onlyDelivery(api, id)).id, OK);
    const before = await schedule(api, id);
    expect(before.state).toBe(state);
    expectError(
      await api.post(`/v1/schedules/${id}/reschedule`, { delay: '1h' }),
      409,
      'schedule_not_active',
    );
    expect(await schedule(api, id)).toEqual(before);
  });
});

describe('a refused reschedule has the codes of create and changes nothing', () => {
  const far = new Date();
  far.setUTCFullYear(far.getUTCFullYear() + 11);
  it.each([
    ['none', {}, 422, 'missing_timing', null],
    ['only a timezone', { timezone: 'UTC' }, 422, 'missing_timing', null],
    ['only nulls', { delay: null, cron: null }, 422, 'missing_timing', null],
    ['several', { delay: '1h', cron: '* * * * *' }, 400, 'multiple_timing', ['delay', 'cron']],
    ['a bad delay', { delay: 'x' }, 400, 'invalid_duration', 'delay'],
    ['a delay of a wrong type', { delay: 60 }, 400, 'invalid_duration', 'delay'],
    ['a delay below 1 s', { delay: '999ms' }, 422, 'sub_floor_delay', 'delay'],
    ['a delay beyond 10 years', { delay: '90000h' }, 422, 'fire_at_too_far', 'delay'],
    ['a bad fire_at', { fire_at: 'tomorrow' }, 400, 'invalid_fire_at', 'fire_at'],
    ['a fire_at of a wrong type', { fire_at: 5 }, 400, 'invalid_fire_at', 'fire_at'],
    ['a fire_at in the past', { fire_at: fromNow(-HOUR) }, 422, 'fire_at_in_past', 'fire_at'],
    ['a fire_at too far', { fire_at: far.toISOString() }, 422, 'fire_at_too_far', 'fire_at'],
    ['a bad local_fire_at', { local_fire_at: fromNow(HOUR) }, 400, 'invalid_duration', 'local_fire_at'],
    [
      'a local_fire_at in the past',
      { local_fire_at: '2020-01-01T00:00:00' },
      422,
      'fire_at_in_past',
      'local_fire_at',
    ],
    ['a bad cron', { cron: '* * * * * *' }, 422, 'invalid_cron', 'cron'],
    ['a cron that never fires', { cron: '0 0 30 2 *' }, 422, 'invalid_cron', 'cron'],
    ['a bad timezone', { cron: '* * * * *', timezone: 'Mars' }, 422, 'invalid_cron', 'timezone'],
    ['a bad timezone that is not used', { delay: '1h', timezone: 'Mars' }, 422, 'invalid_cron', 'timezone'],
  ])('%s', async (_what, body, status, code, param) => {
    for (const kind of [ONE_SHOT, RECURRING]) {
      const before = await created(api, kind);
      const pending = await onlyDelivery(api, before.id);
      expectError(await api.post(`/v1/schedules/${before.id}/reschedule`, body), status, code, param);
      expect(await schedule(api, before.id)).toEqual(before);
      expect(await onlyDelivery(api, before.id)).toEqual(pending);
    }
  });

  it('an unknown id', async () => {
    const path = `/v1/schedules/${UNKNOWN.schedule}/reschedule`;
    expectError(await api.post(path, { delay: '1h' }), 404, 'not_found');
  });
});

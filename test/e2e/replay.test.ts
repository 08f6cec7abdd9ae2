/** POST /v1/deliveries/{id}/replay creates a new delivery from a finished one. */
import { describe, expect, it } from 'vitest';
import { CLOCK_OFF_MS_MAX } from '#test/process/store-in-use.ts';
import { OK, REDIRECT, SERVER_ERROR } from './drive.ts';
import {
  created,
  deliveriesOf,
  delivery,
  expectError,
  HOUR,
  idOf,
  ms,
  onlyDelivery,
  ordered,
  patched,
  replayed,
  schedule,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { type Delivery, ONE_SHOT, RECURRING, UNKNOWN } from './resources.ts';

const { api, drive } = useSched();

async function pendingOf(body: object): Promise<Delivery> {
  return onlyDelivery(api, (await created(api, body)).id);
}

/** One delivery in each status. */
const REACH: Readonly<Record<string, () => Promise<string>>> = {
  scheduled: async () => (await pendingOf(ONE_SHOT)).id,
  async claimed() {
    const { id } = await pendingOf(ONE_SHOT);
    await drive.claim(id);
    return id;
  },
  async retry_scheduled() {
    const { id } = await pendingOf(ONE_SHOT);
    await drive.fire(id, SERVER_ERROR);
    return id;
  },
  async paused() {
    const { id, schedule_id } = await pendingOf(ONE_SHOT);
    await ordered(api, schedule_id ?? '', 'pause');
    return id;
  },
  async canceled() {
    const { id, schedule_id } = await pendingOf(ONE_SHOT);
    await ordered(api, schedule_id ?? '', 'cancel');
    return id;
  },
  async succeeded() {
    const { id } = await pendingOf(ONE_SHOT);
    await drive.fire(id, OK);
    return id;
  },
  async dead_letter() {
    const { id } = await pendingOf(ONE_SHOT);
    await drive.fire(id, REDIRECT);
    return id;
  },
  async expired() {
    const { id } = await pendingOf({ ...ONE_SHOT, ttl: '0' });
    await drive.fire(id, SERVER_ERROR);
    return id;
  },
};

async function reach(status: string): Promise<Delivery> {
  const id = (await REACH[status]?.()) ?? '';
  const reached = await delivery(api, id);
  expect(reached.status).toBe(status);
  return reached;
}

describe('dead_letter, expired and succeeded: a new delivery is created, and the original stays unchanged', () => {
  it.each(['succeeded', 'dead_letter', 'expired'])('%s', async (status) => {
    const original = await reach(status);
    const before = Date.now();
    const fresh = await replayed(api, original.id);
    const after = Date.now();

    expect(fresh).toEqual({
      id: expect.stringMatching(idOf('dlv')),
      object: 'delivery',
      url: original.url,
      method: original.method,
      occurrence: original.occurrence,
      triggered: false,
      schedule_id: original.schedule_id,
      mode: 'test',
      status: 'scheduled',
      scheduled_for: fresh.created_at,
      deadline: original.deadline === null ? null : fresh.created_at,
      next_fire_at: fresh.created_at,
      attempt_count: 0,
      last_status_code: null,
      error: null,
      idempotency_key: original.idempotency_key,
      replay_of: original.id,
      notification_of: null,
      notify: null,
      endpoint_id: null,
      endpoint_version: null,
      created_at: fresh.created_at,
      finalized_at: null,
    });
    expect(fresh.id).not.toBe(original.id);
    expect(ms(fresh.created_at)).toBeGreaterThanOrEqual(before - CLOCK_OFF_MS_MAX);
    expect(ms(fresh.created_at)).toBeLessThanOrEqual(after + CLOCK_OFF_MS_MAX);
    expect(await delivery(api, fresh.id)).toEqual(fresh);
    expect(await delivery(api, original.id)).toEqual(original);
  });

  it('its deadline is now + ttl', async () => {
    const { id } = await pendingOf({ ...ONE_SHOT, ttl: '2h' });
    await drive.fire(id, REDIRECT);
    const fresh = await replayed(api, id);
    expect(ms(fresh.deadline) - ms(fresh.scheduled_for)).toBe(2 * HOUR);
  });

  it('uses the snapshot of the original, even if the schedule has changed', async () => {
    const pending = await pendingOf({ ...ONE_SHOT, ttl: '2h', retry_policy: { max_attempts: 1 } });
    await drive.fire(pending.id, SERVER_ERROR);
    await patched(api, pending.schedule_id ?? '', { ttl: '9h', retry_policy: { max_attempts: 9 } });
    const fresh = await replayed(api, pending.id);
    expect(ms(fresh.deadline) - ms(fresh.scheduled_for)).toBe(2 * HOUR);
    await drive.fire(fresh.id, SERVER_ERROR);
    expect((await delivery(api, fresh.id)).status).toBe('dead_letter');
  });

  it('can be repeated, and also works for a replay', async () => {
    const original = await reach('succeeded');
    const first = await replayed(api, original.id);
    const second = await replayed(api, original.id);
    expect(second.id).not.toBe(first.id);
    await drive.fire(first.id, OK);
    expect(await replayed(api, first.id)).toMatchObject({
      replay_of: first.id,
      idempotency_key: original.idempotency_key,
    });
    expect(await deliveriesOf(api, original.schedule_id ?? '')).toHaveLength(4);
  });
});

describe('409 not_replayable', () => {
  it.each(['scheduled', 'claimed', 'retry_scheduled', 'paused', 'canceled'])('%s', async (status) => {
    const original = await reach(status);
    expectError(await api.post(`/v1/deliveries/${original.id}/replay`), 409, 'not_replayable');
    expect(await deliveriesOf(api, original.schedule_id ?? '')).toEqual([original]);
  });

  it('an unknown id: 404', async () => {
    expectError(await api.post(`/v1/deliveries/${UNKNOWN.delivery}/replay`), 404, 'not_found');
  });
});

describe('a replay is independent of its schedule', () => {
  it('a completed one-shot stays completed, whatever happens to its replay', async () => {
    const original = await reach('succeeded');
    const before = await schedule(api, original.schedule_id ?? '');
    const fresh = await replayed(api, original.id);
    expect(await schedule(api, before.id)).toEqual(before);
    await drive.fire(fresh.id, REDIRECT);
    expect(await delivery(api, fresh.id)).toMatchObject({ status: 'dead_letter', replay_of: original.id });
    expect(await schedule(api, before.id)).toEqual(before);
  });

  it('a recurring schedule keeps its next occurrence, and a claimed replay adds no other', async () => {
    const { id } = await created(api, RECURRING);
    const first = await onlyDelivery(api, id);
    await drive.fire(first.id, OK);
    const before = await schedule(api, id);
    const fresh = await replayed(api, first.id);
    await drive.fire(fresh.id, OK);
    expect(await schedule(api, id)).toEqual(before);
    const scheduled = (await deliveriesOf(api, id)).filter(({ status }) => status === 'scheduled');
    expect(scheduled.map(({ replay_of }) => replay_of)).toEqual([null]);
  });

  it('of a canceled schedule is created, and retried like any other delivery', async () => {
    const { id } = await created(api, RECURRING);
    const first = await onlyDelivery(api, id);
    await drive.fire(first.id, OK);
    await ordered(api, id, 'cancel');
    const fresh = await replayed(api, first.id);
    await drive.fire(fresh.id, SERVER_ERROR);
    expect((await delivery(api, fresh.id)).status).toBe('retry_scheduled');
    await drive.fire(fresh.id, OK);
    expect((await delivery(api, fresh.id)).status).toBe('succeeded');
  });
});

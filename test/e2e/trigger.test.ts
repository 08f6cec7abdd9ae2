/** `trigger` of schedules, and `cancel` of deliveries. */
import { describe, expect, it } from 'vitest';
import { OK, SERVER_ERROR } from './drive.ts';
import {
  created,
  createdProfile,
  deliveriesOf,
  delivery,
  expectError,
  expectStatus,
  onlyDelivery,
  ordered,
  replayed,
  schedule,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { type Delivery, ONE_SHOT, PROFILE, RECURRING, UNKNOWN } from './resources.ts';

const { api, drive } = useSched();

const trigger = (id: string) => api.post<Delivery>(`/v1/schedules/${id}/trigger`);
const cancel = (id: string) => api.post<Delivery>(`/v1/deliveries/${id}/cancel`);

describe('a trigger of a recurring schedule', () => {
  it('creates a delivery that is due now, beside the recurrence', async () => {
    const before = await created(api, { ...RECURRING, idempotency_key: 'order', ttl: '1h' });
    const pending = await onlyDelivery(api, before.id);
    const first = expectStatus(await trigger(before.id), 201);
    const second = expectStatus(await trigger(before.id), 201);
    expect(first).toMatchObject({
      schedule_id: before.id,
      status: 'scheduled',
      occurrence: null,
      triggered: true,
      scheduled_for: first.created_at,
      next_fire_at: first.created_at,
      idempotency_key: `order:${first.id}`,
      replay_of: null,
    });
    expect(second.idempotency_key).toBe(`order:${second.id}`);
    expect(await schedule(api, before.id)).toEqual(before);
    expect(await deliveriesOf(api, before.id)).toEqual([second, first, pending]);
    const plain = await created(api, RECURRING);
    const { id, idempotency_key } = expectStatus(await trigger(plain.id), 201);
    expect(idempotency_key).toBe(`${plain.id}:${id}`);
  });

  it('is made from the present snapshot: the profile as it is now', async () => {
    const profile = await createdProfile(api, PROFILE);
    const { id } = await created(api, { endpoint_id: profile.id, cron: '0 9 * * *' });
    expectStatus(await api.patch(`/v1/endpoints/${profile.id}`, { url: 'https://new.example/' }), 200);
    expect(expectStatus(await trigger(id), 201)).toMatchObject({
      url: 'https://new.example/',
      endpoint_version: 2,
    });
  });

  it('is sent while the schedule is paused, and its retry waits', async () => {
    const { id } = await created(api, RECURRING);
    await ordered(api, id, 'pause');
    const triggered = expectStatus(await trigger(id), 201);
    expect(triggered.status).toBe('scheduled');
    await drive.fire(triggered.id, SERVER_ERROR);
    expect((await delivery(api, triggered.id)).status).toBe('paused');
    await ordered(api, id, 'resume');
    expect((await delivery(api, triggered.id)).status).toBe('retry_scheduled');
  });

  it('takes effect once per Idempotency-Key', async () => {
    const { id } = await created(api, RECURRING);
    const keyed = api.with({ 'idempotency-key': `trigger-${id}` });
    const first = expectStatus(await keyed.post<Delivery>(`/v1/schedules/${id}/trigger`), 201);
    const again = await keyed.post<Delivery>(`/v1/schedules/${id}/trigger`);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(expectStatus(again, 201)).toEqual(first);
    expect(await deliveriesOf(api, id)).toHaveLength(2);
  });

  it('can be replayed: the replay is of no occurrence either', async () => {
    const { id } = await created(api, RECURRING);
    const triggered = expectStatus(await trigger(id), 201);
    await drive.fire(triggered.id, OK);
    expect(await replayed(api, triggered.id)).toMatchObject({
      occurrence: null,
      triggered: true,
      replay_of: triggered.id,
      idempotency_key: triggered.idempotency_key,
    });
  });
});

describe('a trigger of a one-shot', () => {
  it('that waits makes it fire now', async () => {
    const before = await created(api, { ...ONE_SHOT, idempotency_key: 'order' });
    const pending = await onlyDelivery(api, before.id);
    const moved = expectStatus(await trigger(before.id), 200);
    expect(moved).toMatchObject({
      id: pending.id,
      status: 'scheduled',
      occurrence: null,
      triggered: true,
      idempotency_key: 'order',
    });
    expect(Date.parse(moved.scheduled_for)).toBeLessThan(Date.parse(pending.scheduled_for));
    expect((await schedule(api, before.id)).fire_at).toBe(before.fire_at);
    await drive.fire(pending.id, OK);
    expect((await schedule(api, before.id)).state).toBe('completed');
  });

  it('that waits for a retry makes the retry due, and keeps its attempts', async () => {
    const { id } = await created(api, ONE_SHOT);
    const pending = await onlyDelivery(api, id);
    await drive.fire(pending.id, SERVER_ERROR);
    const { next_fire_at } = await delivery(api, pending.id);
    const moved = expectStatus(await trigger(id), 200);
    expect(moved).toMatchObject({ id: pending.id, status: 'retry_scheduled', attempt_count: 1 });
    expect(Date.parse(moved.next_fire_at ?? '')).toBeLessThan(Date.parse(next_fire_at ?? ''));
  });

  it('that is being sent, paused or ended is refused', async () => {
    const sent = await created(api, ONE_SHOT);
    const pending = await onlyDelivery(api, sent.id);
    await drive.claim(pending.id);
    expectError(await trigger(sent.id), 409, 'delivery_in_progress');
    await drive.settle(pending.id, OK);
    expectError(await trigger(sent.id), 409, 'schedule_not_active');
    const { id } = await created(api, ONE_SHOT);
    await ordered(api, id, 'pause');
    expectError(await trigger(id), 409, 'schedule_not_active');
    await ordered(api, id, 'cancel');
    expectError(await trigger(id), 409, 'schedule_not_active');
    const recurring = await created(api, RECURRING);
    await ordered(api, recurring.id, 'cancel');
    expectError(await trigger(recurring.id), 409, 'schedule_not_active');
    expectError(await trigger(UNKNOWN.schedule), 404, 'not_found');
  });
});

describe('a cancel of a delivery', () => {
  it('ends one that waits for a retry', async () => {
    const { id } = await created(api, RECURRING);
    const triggered = expectStatus(await trigger(id), 201);
    await drive.fire(triggered.id, SERVER_ERROR);
    const canceled = expectStatus(await cancel(triggered.id), 200);
    expect(canceled).toMatchObject({ id: triggered.id, status: 'canceled', next_fire_at: null });
    expect(canceled.finalized_at).not.toBeNull();
    expect((await schedule(api, id)).state).toBe('active');
    expectError(await cancel(triggered.id), 409, 'not_cancelable');
    expectError(await api.post(`/v1/deliveries/${triggered.id}/replay`), 409, 'not_replayable');
  });

  it('ends a replay that waits for a retry', async () => {
    const { id } = await created(api, ONE_SHOT);
    const pending = await onlyDelivery(api, id);
    await drive.fire(pending.id, OK);
    const replay = await replayed(api, pending.id);
    await drive.fire(replay.id, SERVER_ERROR);
    expect(expectStatus(await cancel(replay.id), 200).status).toBe('canceled');
  });

  it('is refused for the only delivery of a one-shot, and for every other status', async () => {
    const { id } = await created(api, ONE_SHOT);
    const pending = await onlyDelivery(api, id);
    expectError(await cancel(pending.id), 409, 'not_cancelable');
    await drive.fire(pending.id, SERVER_ERROR);
    expectError(await cancel(pending.id), 409, 'not_cancelable');
    await ordered(api, id, 'pause');
    expectError(await cancel(pending.id), 409, 'not_cancelable');
    await ordered(api, id, 'resume');
    await drive.claim(pending.id);
    expectError(await cancel(pending.id), 409, 'not_cancelable');
    expectError(await cancel(UNKNOWN.delivery), 404, 'not_found');
  });
});

/** A replay of a finished delivery is a new delivery with the same key and body. */
import { describe, expect, it } from 'vitest';
import { planted } from '#test/e2e/client.ts';
import {
  createdProfile,
  delivery,
  expectError,
  ms,
  ordered,
  patched,
  patchedProfile,
  replayed,
  rescheduled,
  SECOND,
  schedule,
} from '#test/e2e/expectations.ts';
import { answer, held, redirect } from '#test/receiver/behaviours.ts';
import { headerOf } from '#test/receiver/receiver.ts';
import { useDeliveries } from './harness.ts';
import { waitForEnd, waitForStatus } from './waits.ts';

const { api, hook, given } = useDeliveries();

describe.concurrent('succeeded, dead_letter and expired: sent again at once', () => {
  it.each([
    ['succeeded', answer(200), {}],
    ['dead_letter', redirect(301, '/elsewhere'), {}],
    ['expired', answer(500), { ttl: '10m', retry_policy: { base: '1h' } }],
  ])('%s', async (status, first, more) => {
    const target = hook(first, answer(200));
    const headers = { 'X-Kept': planted('kept') };
    const { id, pending } = await given({ endpoint: target.url, headers, body: '{"n":1}', ...more });
    const { delivery: original } = await waitForEnd(api, pending.id);
    expect(original.status).toBe(status);

    const fresh = await replayed(api, original.id);
    expect(fresh).toMatchObject({ replay_of: original.id, idempotency_key: original.idempotency_key });
    const { delivery: done, attempts } = await waitForEnd(api, fresh.id);
    expect(done).toMatchObject({ status: 'succeeded', attempt_count: 1, replay_of: original.id });
    expect(attempts).toMatchObject([{ attempt_no: 1, due_at: fresh.scheduled_for, outcome: 'success' }]);

    const [before, after] = target.requests;
    if (before === undefined || after === undefined) throw new Error('Not sent twice.');
    expect(headerOf(after, 'Sched-Delivery-Id')).toBe(fresh.id);
    expect(headerOf(after, 'Sched-Attempt')).toBe('1');
    expect(headerOf(after, 'Idempotency-Key')).toBe(headerOf(before, 'Idempotency-Key'));
    expect(headerOf(after, 'Sched-Occurrence')).toBe(headerOf(before, 'Sched-Occurrence'));
    expect(headerOf(after, 'X-Kept')).toBe(planted('kept'));
    expect(after.body.equals(before.body)).toBe(true);
    expect(headerOf(after, 'traceparent').slice(0, 35)).not.toBe(
      headerOf(before, 'traceparent').slice(0, 35),
    );
    expect(after.arrivedAt).toBeGreaterThanOrEqual(ms(fresh.scheduled_for));

    expect(await delivery(api, original.id)).toEqual(original);
    expect((await schedule(api, id)).state).toBe('completed');
    expect(target.requests).toHaveLength(2);
  });
});

describe.concurrent('a replay is a delivery like any other', () => {
  it('it is retried by the original’s policy, with a new deadline', async () => {
    const target = hook(answer(200), answer(500), answer(500), answer(200));
    const { pending } = await given({
      endpoint: target.url,
      ttl: '30s',
      retry_policy: { base: '20ms', factor: 1, max_attempts: 3 },
    });
    await waitForStatus(api, pending.id, 'succeeded');
    const fresh = await replayed(api, pending.id);
    expect(ms(fresh.deadline) - ms(fresh.scheduled_for)).toBe(30 * SECOND);
    expect((await waitForEnd(api, fresh.id)).delivery).toMatchObject({
      status: 'succeeded',
      attempt_count: 3,
    });
  });

  it('it goes to the original’s destination, even if the schedule has changed', async () => {
    const target = hook();
    const other = hook();
    const { id, pending } = await given({ endpoint: target.url });
    await waitForStatus(api, pending.id, 'succeeded');
    await patched(api, id, { endpoint: other.url, method: 'DELETE' });
    const fresh = await replayed(api, pending.id);
    await waitForStatus(api, fresh.id, 'succeeded');
    expect((await target.arrived(2)).method).toBe('POST');
    expect(other.requests).toEqual([]);
  });

  it('with a profile it has the original’s version', async () => {
    const target = hook();
    const other = hook();
    const profile = await createdProfile(api, { url: target.url, headers: { 'X-Version': planted('1') } });
    const { pending } = await given({ endpoint_id: profile.id });
    await waitForStatus(api, pending.id, 'succeeded');
    await patchedProfile(api, profile.id, { url: other.url, headers: { 'X-Version': planted('2') } });
    const fresh = await replayed(api, pending.id);
    expect(fresh.endpoint_version).toBe(1);
    await waitForStatus(api, fresh.id, 'succeeded');
    expect(headerOf(await target.arrived(2), 'X-Version')).toBe(planted('1'));
    expect(other.requests).toEqual([]);
  });

  it('of a canceled schedule it is sent', async () => {
    const target = hook();
    const { id, pending } = await given({ endpoint: target.url, cron: '0 0 1 1 *' });
    expectError(await api.post(`/v1/deliveries/${pending.id}/replay`), 409, 'not_replayable');
    await rescheduled(api, id, { delay: '1s' });
    await waitForStatus(api, pending.id, 'succeeded');
    await ordered(api, id, 'cancel');
    const fresh = await replayed(api, pending.id);
    await waitForStatus(api, fresh.id, 'succeeded');
    expect(target.requests).toHaveLength(2);
  });

  it('of a paused schedule it is sent', async () => {
    const target = hook();
    const { id, pending } = await given({ endpoint: target.url, cron: '0 0 1 1 *' });
    await rescheduled(api, id, { delay: '1s' });
    await waitForStatus(api, pending.id, 'succeeded');
    await ordered(api, id, 'pause');
    const fresh = await replayed(api, pending.id);
    await waitForStatus(api, fresh.id, 'succeeded');
  });

  it('a replay that waits for a retry is canceled with its schedule', async () => {
    const target = hook(answer(200), answer(500));
    const { id, pending } = await given({
      endpoint: target.url,
      cron: '0 0 1 1 *',
      retry_policy: { base: '1h' },
    });
    await rescheduled(api, id, { delay: '1s' });
    await waitForStatus(api, pending.id, 'succeeded');
    const fresh = await replayed(api, pending.id);
    await waitForStatus(api, fresh.id, 'retry_scheduled');
    await ordered(api, id, 'cancel');
    await waitForStatus(api, fresh.id, 'canceled');
    expect((await delivery(api, pending.id)).status).toBe('succeeded');
  });

  it('ten replays at once make ten deliveries', async () => {
    const target = hook();
    const { pending } = await given({ endpoint: target.url });
    await waitForStatus(api, pending.id, 'succeeded');
    const fresh = await Promise.all(Array.from({ length: 10 }, () => replayed(api, pending.id)));
    await Promise.all(fresh.map(({ id }) => waitForStatus(api, id, 'succeeded')));
    expect(new Set(target.requests.map((request) => headerOf(request, 'Sched-Delivery-Id'))).size).toBe(11);
  });
});

describe.concurrent('409 not_replayable', () => {
  it('during an attempt, and while the delivery waits for a retry', async () => {
    const gate = held(answer(500));
    const target = hook(gate);
    const { pending } = await given({ endpoint: target.url, retry_policy: { base: '1h' } });
    await target.arrived();
    expectError(await api.post(`/v1/deliveries/${pending.id}/replay`), 409, 'not_replayable');
    gate.release();
    await waitForStatus(api, pending.id, 'retry_scheduled');
    expectError(await api.post(`/v1/deliveries/${pending.id}/replay`), 409, 'not_replayable');
    expect(target.requests).toHaveLength(1);
  });
});

/**
 * Pause, resume, cancel, reschedule and PATCH, on deliveries that wait and on deliveries that are being sent.
 */
import { describe, expect, it } from 'vitest';
import {
  attemptsOf,
  delivery,
  fromNow,
  HOUR,
  ms,
  onlyDelivery,
  ordered,
  patched,
  rescheduled,
  SECOND,
  schedule,
} from '#test/e2e/expectations.ts';
import { answer, held } from '#test/receiver/behaviours.ts';
import { headerOf } from '#test/receiver/receiver.ts';
import { useDeliveries } from './harness.ts';
import { sleep, waitForEnd, waitForStatus } from './waits.ts';

const { api, hook, given } = useDeliveries();

/** Waits until well after the instant. */
async function waitPast(instant: string): Promise<void> {
  await sleep(ms(instant) - Date.now() + 300);
}

describe.concurrent('pause', () => {
  it('stops a waiting delivery, and resume sends an overdue one at once', async () => {
    const target = hook();
    const { id, pending } = await given({ endpoint: target.url });
    await ordered(api, id, 'pause');
    await waitPast(pending.scheduled_for);
    expect(target.requests).toEqual([]);
    expect((await delivery(api, pending.id)).status).toBe('paused');

    const resumedAt = Date.now();
    await ordered(api, id, 'resume');
    const request = await target.arrived();
    expect(request.arrivedAt).toBeGreaterThanOrEqual(resumedAt);
    const { delivery: done, attempts } = await waitForEnd(api, pending.id);
    expect(done).toMatchObject({ status: 'succeeded', scheduled_for: pending.scheduled_for });
    expect(attempts).toMatchObject([{ attempt_no: 1, due_at: pending.scheduled_for }]);
    expect(attempts[0]?.lateness_ms).toBeGreaterThanOrEqual(300);
  });

  it('resume before the instant: it is sent at the instant and not before', async () => {
    const target = hook();
    const { id, pending } = await given({ endpoint: target.url, delay: '1.5s' });
    await ordered(api, id, 'pause');
    await ordered(api, id, 'resume');
    expect((await target.arrived()).arrivedAt).toBeGreaterThanOrEqual(ms(pending.scheduled_for));
    await waitForStatus(api, pending.id, 'succeeded');
  });

  it('resume after the deadline: it expires without an attempt', async () => {
    const target = hook();
    const { id, pending } = await given({ endpoint: target.url, ttl: '50ms' });
    await ordered(api, id, 'pause');
    await waitPast(pending.scheduled_for);
    await sleep(100);
    await ordered(api, id, 'resume');
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'expired', attempt_count: 0 });
    expect(attempts).toEqual([]);
    expect((await schedule(api, id)).state).toBe('completed');
    expect(target.requests).toEqual([]);
  });

  it('stops a retry, and resume continues it', async () => {
    const target = hook(answer(500), answer(200));
    const { id, pending } = await given({ endpoint: target.url, retry_policy: { base: '1s', factor: 1 } });
    const waiting = await waitForStatus(api, pending.id, 'retry_scheduled');
    await ordered(api, id, 'pause');
    await waitPast(waiting.next_fire_at ?? '');
    expect(target.requests).toHaveLength(1);
    await ordered(api, id, 'resume');
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'succeeded', attempt_count: 2 });
    expect(attempts[1]?.due_at).toBe(waiting.next_fire_at);
  });

  it('an attempt in flight finishes, and the delivery is paused instead of retried until resume', async () => {
    const gate = held(answer(500));
    const target = hook(gate, answer(200));
    const { id, pending } = await given({ endpoint: target.url, retry_policy: { base: '20ms', factor: 1 } });
    await target.arrived();
    expect((await ordered(api, id, 'pause')).state).toBe('paused');
    expect((await delivery(api, pending.id)).status).toBe('claimed');
    gate.release();
    await waitForStatus(api, pending.id, 'paused');
    await sleep(200);
    expect(target.requests).toHaveLength(1);
    await ordered(api, id, 'resume');
    await waitForStatus(api, pending.id, 'succeeded');
    expect(headerOf(await target.arrived(2), 'Sched-Attempt')).toBe('2');
  });

  it('an attempt in flight that succeeds completes the schedule', async () => {
    const gate = held();
    const target = hook(gate);
    const { id, pending } = await given({ endpoint: target.url });
    await target.arrived();
    await ordered(api, id, 'pause');
    gate.release();
    await waitForStatus(api, pending.id, 'succeeded');
    expect((await schedule(api, id)).state).toBe('completed');
  });
});

describe.concurrent('cancel', () => {
  it('a waiting delivery is never sent', async () => {
    const target = hook();
    const { id, pending } = await given({ endpoint: target.url });
    await ordered(api, id, 'cancel');
    await waitPast(pending.scheduled_for);
    expect(await delivery(api, pending.id)).toMatchObject({ status: 'canceled', attempt_count: 0 });
    expect(await attemptsOf(api, pending.id)).toEqual([]);
    expect(target.requests).toEqual([]);
  });

  it('a delivery that waits for a retry gets no retry', async () => {
    const target = hook(answer(500));
    const { id, pending } = await given({ endpoint: target.url, retry_policy: { base: '1s', factor: 1 } });
    const waiting = await waitForStatus(api, pending.id, 'retry_scheduled');
    await ordered(api, id, 'cancel');
    await waitPast(waiting.next_fire_at ?? '');
    expect(await delivery(api, pending.id)).toMatchObject({ status: 'canceled', attempt_count: 1 });
    expect(target.requests).toHaveLength(1);
  });

  it('an attempt in flight finishes, and the delivery is canceled instead of retried', async () => {
    const gate = held(answer(500));
    const target = hook(gate);
    const { id, pending } = await given({ endpoint: target.url, retry_policy: { base: '10ms' } });
    await target.arrived();
    expect((await ordered(api, id, 'cancel')).state).toBe('canceled');
    expect((await delivery(api, pending.id)).status).toBe('claimed');
    gate.release();
    const { delivery: done, attempts } = await waitForEnd(api, pending.id);
    expect(done).toMatchObject({
      status: 'canceled',
      attempt_count: 1,
      last_status_code: 500,
      finalized_at: attempts[0]?.finished_at,
    });
    expect(attempts).toMatchObject([{ outcome: 'retryable', status_code: 500 }]);
    await sleep(100);
    expect(target.requests).toHaveLength(1);
    expect((await schedule(api, id)).state).toBe('canceled');
  });

  it('an attempt in flight that succeeds counts, and the schedule stays canceled', async () => {
    const gate = held();
    const target = hook(gate);
    const { id, pending } = await given({ endpoint: target.url });
    await target.arrived();
    await ordered(api, id, 'cancel');
    gate.release();
    await waitForStatus(api, pending.id, 'succeeded');
    expect((await schedule(api, id)).state).toBe('canceled');
  });

  it('a moment before the instant the delivery is either canceled and never sent, or sent and recorded', async () => {
    const targets = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const target = hook();
        return { target, ...(await given({ endpoint: target.url })) };
      }),
    );
    const soonest = Math.min(...targets.map(({ pending }) => ms(pending.scheduled_for)));
    await sleep(soonest - Date.now() - 5);
    await Promise.all(targets.map(({ id }) => ordered(api, id, 'cancel')));
    for (const { target, pending } of targets) {
      const { delivery: done, attempts } = await waitForEnd(api, pending.id);
      const isSent = done.status === 'succeeded';
      expect({ status: done.status, attempts: attempts.length, requests: target.requests.length }).toEqual({
        status: isSent ? 'succeeded' : 'canceled',
        attempts: isSent ? 1 : 0,
        requests: isSent ? 1 : 0,
      });
    }
  });
});

describe.concurrent('reschedule', () => {
  it('to an earlier instant: it is sent then', async () => {
    const target = hook();
    const { id, pending } = await given({ endpoint: target.url, delay: '1h' });
    const moved = await rescheduled(api, id, { fire_at: fromNow(2_000) });
    expect((await target.arrived()).arrivedAt).toBeGreaterThanOrEqual(ms(moved.fire_at));
    const { attempts } = await waitForEnd(api, pending.id);
    expect(attempts).toMatchObject([{ due_at: moved.fire_at, outcome: 'success' }]);
  });

  it('to a later instant: it is not sent at the old one', async () => {
    const target = hook();
    const { id, pending } = await given({ endpoint: target.url });
    const moved = await rescheduled(api, id, { delay: '5s' });
    await waitPast(pending.scheduled_for);
    expect(target.requests).toEqual([]);
    expect((await target.arrived()).arrivedAt).toBeGreaterThanOrEqual(ms(moved.next_fire_at));
    await waitForStatus(api, pending.id, 'succeeded');
    expect(target.requests).toHaveLength(1);
  });

  it('back and forth: it is sent once, at the last instant', async () => {
    const target = hook();
    const { id, pending } = await given({ endpoint: target.url });
    await rescheduled(api, id, { delay: '1h' });
    await rescheduled(api, id, { delay: '2s' });
    await rescheduled(api, id, { delay: '30m' });
    const moved = await rescheduled(api, id, { delay: '1.5s' });
    expect((await target.arrived()).arrivedAt).toBeGreaterThanOrEqual(ms(moved.next_fire_at));
    await waitForStatus(api, pending.id, 'succeeded');
    expect(target.requests).toHaveLength(1);
  });

  it('also moves a delivery that waits for a retry: it keeps its attempts and key, and gets a new deadline', async () => {
    const target = hook(answer(500), answer(200));
    const { id, pending } = await given({ endpoint: target.url, ttl: '3h', retry_policy: { base: '30m' } });
    await waitForStatus(api, pending.id, 'retry_scheduled');
    const moved = await rescheduled(api, id, { delay: '1s' });
    const waiting = await onlyDelivery(api, id);
    expect(waiting).toMatchObject({
      status: 'retry_scheduled',
      attempt_count: 1,
      next_fire_at: moved.next_fire_at,
      deadline: new Date(ms(moved.next_fire_at) + 3 * HOUR).toISOString(),
    });
    const request = await target.arrived(2);
    expect(request.arrivedAt).toBeGreaterThanOrEqual(ms(moved.next_fire_at));
    expect(headerOf(request, 'Sched-Attempt')).toBe('2');
    expect(headerOf(request, 'Idempotency-Key')).toBe(pending.idempotency_key);
    await waitForStatus(api, pending.id, 'succeeded');
  });

  it('during an attempt: 200 with the actual state, and nothing changes', async () => {
    const gate = held();
    const target = hook(gate);
    const { id, pending, shown } = await given({ endpoint: target.url });
    await target.arrived();
    expect(await rescheduled(api, id, { delay: '5h' })).toMatchObject({
      state: 'active',
      fire_at: shown.fire_at,
    });
    gate.release();
    await waitForStatus(api, pending.id, 'succeeded');
    expect(target.requests).toHaveLength(1);
    expect((await schedule(api, id)).state).toBe('completed');
  });

  it('a paused delivery stays paused, and is sent at the new instant after resume', async () => {
    const target = hook();
    const { id } = await given({ endpoint: target.url, delay: '1h' });
    await ordered(api, id, 'pause');
    await rescheduled(api, id, { delay: '1s' });
    await sleep(1.3 * SECOND);
    expect(target.requests).toEqual([]);
    await ordered(api, id, 'resume');
    await target.arrived();
  });
});

describe.concurrent('PATCH changes a delivery that has not been claimed', () => {
  it('endpoint and method', async () => {
    const before = hook();
    const after = hook();
    const { id, pending } = await given({ endpoint: before.url, body: '{}' });
    await patched(api, id, { endpoint: after.url, method: 'PUT' });
    expect((await after.arrived()).method).toBe('PUT');
    await waitForStatus(api, pending.id, 'succeeded');
    expect(before.requests).toEqual([]);
  });

  it('ttl moves the deadline', async () => {
    const target = hook(answer(500));
    const { id, pending } = await given({ endpoint: target.url, retry_policy: { base: '1m' } });
    expect(pending.deadline).toBeNull();
    await patched(api, id, { ttl: '1s' });
    const { delivery } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({
      status: 'expired',
      deadline: new Date(ms(pending.scheduled_for) + SECOND).toISOString(),
    });
  });

  it('retry_policy', async () => {
    const target = hook(answer(500));
    const { id, pending } = await given({ endpoint: target.url, retry_policy: { base: '1h' } });
    await patched(api, id, { retry_policy: { base: '20ms', factor: 1, max_attempts: 2 } });
    expect((await waitForEnd(api, pending.id)).delivery).toMatchObject({
      status: 'dead_letter',
      attempt_count: 2,
    });
  });

  it('timing fields are ignored', async () => {
    const target = hook();
    const { id, pending } = await given({ endpoint: target.url });
    await patched(api, id, { delay: '9h', fire_at: fromNow(9 * HOUR), cron: '* * * * *' });
    await target.arrived();
    expect((await waitForEnd(api, pending.id)).attempts[0]?.due_at).toBe(pending.scheduled_for);
  });

  it('a delivery that is being sent does not change', async () => {
    const gate = held();
    const before = hook(gate);
    const after = hook();
    const { id, pending } = await given({ endpoint: before.url });
    await before.arrived();
    await patched(api, id, { endpoint: after.url });
    gate.release();
    await waitForStatus(api, pending.id, 'succeeded');
    expect([before.requests.length, after.requests.length]).toEqual([1, 0]);
  });
});

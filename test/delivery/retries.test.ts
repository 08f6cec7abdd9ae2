/** A failed delivery is retried with exponential backoff until a 2xx, the last attempt or the deadline. */
import { describe, expect, it } from 'vitest';
import { attemptsOf, createdProfile, delivery, ms, SECOND, schedule } from '#test/e2e/expectations.ts';
import type { Attempt } from '#test/e2e/resources.ts';
import { answer, delayed, held } from '#test/receiver/behaviours.ts';
import { headerOf } from '#test/receiver/receiver.ts';
import { useDeliveries } from './harness.ts';
import { sleep, waitForEnd, waitForStatus } from './waits.ts';

const { api, hook, given } = useDeliveries();

/** From the end of each attempt to the instant when the next one was due. */
function waits(attempts: readonly Attempt[]): readonly number[] {
  return attempts.slice(1).map(({ due_at }, i) => ms(due_at) - ms(attempts[i]?.finished_at));
}

describe.concurrent('the retry after attempt n is due at its end + min(max, base × factor^n)', () => {
  it.each([
    ['base × factor^n', { base: '20ms', factor: 2 }, [40, 80, 160]],
    ['capped at max', { base: '40ms', factor: 2, max: '100ms' }, [80, 100, 100]],
    ['factor 1: evenly', { base: '60ms', factor: 1 }, [60, 60, 60]],
    ['a fractional factor', { base: '100ms', factor: 1.5 }, [150, 225, 337.5]],
    ['base 0: at once', { base: '0', factor: 2 }, [0, 0, 0]],
    ['max 0: at once', { base: '1h', factor: 2, max: '0' }, [0, 0, 0]],
    ['jitter true is shown but not applied', { base: '50ms', factor: 2, jitter: true }, [100, 200, 400]],
    ['jitter false gives the same backoff', { base: '50ms', factor: 2, jitter: false }, [100, 200, 400]],
  ])('%s', async (_what, policy, expected) => {
    const target = hook(answer(500), answer(503), answer(404), answer(200));
    const { pending } = await given({ endpoint: target.url, retry_policy: policy });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({
      status: 'succeeded',
      attempt_count: 4,
      last_status_code: 200,
      error: null,
    });
    expect(attempts.map(({ status_code }) => status_code)).toEqual([500, 503, 404, 200]);
    // Instants have whole milliseconds.
    const differences = waits(attempts).map((wait, i) => Math.abs(wait - (expected[i] ?? 0)));
    for (const difference of differences) expect(difference).toBeLessThan(1);
    expect(differences).toHaveLength(3);
    expect(attempts[0]?.due_at).toBe(pending.scheduled_for);
  });

  it('a waiting retry is retry_scheduled, and next_fire_at of delivery and schedule is when it is due', async () => {
    const target = hook(answer(500));
    const { id, pending } = await given({ endpoint: target.url, retry_policy: { base: '2h', factor: 1.5 } });
    const waiting = await waitForStatus(api, pending.id, 'retry_scheduled');
    const [attempt] = await attemptsOf(api, pending.id);
    // The default cap is an hour.
    const capped = new Date(ms(attempt?.finished_at) + 3_600 * SECOND).toISOString();
    expect(waiting).toEqual({
      ...pending,
      status: 'retry_scheduled',
      attempt_count: 1,
      last_status_code: 500,
      error: expect.stringContaining('500'),
      next_fire_at: capped,
    });
    expect(await schedule(api, id)).toMatchObject({
      state: 'active',
      next_fire_at: capped,
      next_runs: [capped],
    });
  });

  it('the default policy: 10 s after the first attempt', async () => {
    const target = hook(answer(500));
    const { pending } = await given({ endpoint: target.url });
    const waiting = await waitForStatus(api, pending.id, 'retry_scheduled');
    const [attempt] = await attemptsOf(api, pending.id);
    expect(ms(waiting.next_fire_at) - ms(attempt?.finished_at)).toBe(10 * SECOND);
  });

  it('the backoff counts from the end of the attempt', async () => {
    const target = hook(delayed(300, answer(500)), answer(200));
    const { pending } = await given({ endpoint: target.url, retry_policy: { base: '100ms', factor: 1 } });
    const { attempts } = await waitForEnd(api, pending.id);
    expect(ms(attempts[1]?.due_at) - ms(attempts[0]?.fired_at)).toBeGreaterThanOrEqual(400);
    expect(waits(attempts)).toEqual([100]);
  });
});

describe.concurrent('retries at the receiver', () => {
  it('Sched-Attempt increases, id, key and body stay, and each attempt has a new signature', async () => {
    const target = hook(answer(500), delayed(1_100, answer(500)), answer(200));
    const { pending } = await given({
      endpoint: target.url,
      body: '{"n":1}',
      idempotency_key: 'the-same',
      retry_policy: { base: '20ms', factor: 1 },
    });
    await waitForEnd(api, pending.id);
    const seen = (name: string) => target.requests.map((request) => headerOf(request, name));
    expect(seen('Sched-Attempt')).toEqual(['1', '2', '3']);
    expect(seen('Sched-Delivery-Id')).toEqual([pending.id, pending.id, pending.id]);
    expect(seen('Idempotency-Key')).toEqual(['the-same', 'the-same', 'the-same']);
    expect(new Set(seen('Sched-Signature')).size).toBe(3);
    const [first, , third] = seen('Sched-Timestamp').map(Number);
    expect(third).toBeGreaterThan(first ?? 0);
    expect(target.requests.map(({ body }) => body.toString())).toEqual(['{"n":1}', '{"n":1}', '{"n":1}']);
  });
});

describe.concurrent('max_attempts', () => {
  it.each([1, 2, 4])('after %i attempts the delivery is a dead letter', async (maxAttempts) => {
    const target = hook(answer(502));
    const { id, pending } = await given({
      endpoint: target.url,
      retry_policy: { max_attempts: maxAttempts, base: '10ms', factor: 1 },
    });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({
      status: 'dead_letter',
      attempt_count: maxAttempts,
      last_status_code: 502,
      next_fire_at: null,
      finalized_at: attempts.at(-1)?.finished_at,
      error: attempts.at(-1)?.error,
    });
    expect(attempts.map(({ outcome }) => outcome)).toEqual(Array(maxAttempts).fill('retryable'));
    expect((await schedule(api, id)).state).toBe('completed');
    await sleep(100);
    expect(target.requests).toHaveLength(maxAttempts);
  });
});

describe.concurrent('the default', () => {
  it('8 attempts where max_attempts is left out', async () => {
    const target = hook(answer(500));
    const breaker_policy = { threshold: 1_000, base_open: '1s', max_open: '1s', probe_timeout: '1s' };
    const { id } = await createdProfile(api, { url: target.url, breaker_policy });
    const { pending } = await given({ endpoint_id: id, retry_policy: { base: '0' } });
    const { delivery } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'dead_letter', attempt_count: 8 });
    expect(target.requests).toHaveLength(8);
  });
});

describe.concurrent('the deadline is the first due instant + ttl, and no retry comes after it', () => {
  it('when the next retry would start after it, the delivery expires at once', async () => {
    const target = hook(answer(500));
    const { id, pending } = await given({ endpoint: target.url, ttl: '1h', retry_policy: { base: '1h' } });
    expect(ms(pending.deadline) - ms(pending.scheduled_for)).toBe(3_600 * SECOND);
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({
      status: 'expired',
      attempt_count: 1,
      last_status_code: 500,
      next_fire_at: null,
      finalized_at: attempts[0]?.finished_at,
      deadline: pending.deadline,
    });
    expect((await schedule(api, id)).state).toBe('completed');
    expect(target.requests).toHaveLength(1);
  });

  it('retries continue until the deadline', async () => {
    const target = hook(answer(500));
    const { pending } = await given({
      endpoint: target.url,
      ttl: '9s',
      retry_policy: { base: '2s', factor: 1 },
    });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery.status).toBe('expired');
    for (const { due_at } of attempts) expect(ms(due_at)).toBeLessThanOrEqual(ms(delivery.deadline));
    // On a machine that stands still, the last retry may be too late to be sent.
    const until = Math.max(ms(attempts.at(-1)?.finished_at) + 2000, ms(delivery.finalized_at));
    expect(until).toBeGreaterThan(ms(delivery.deadline));
    expect(attempts.length).toBeGreaterThanOrEqual(2);
  });

  it('after max_attempts before the deadline the delivery is a dead letter', async () => {
    const target = hook(answer(500));
    const retry_policy = { max_attempts: 1, base: '1h' };
    const { pending } = await given({ endpoint: target.url, ttl: '1h', retry_policy });
    expect((await waitForEnd(api, pending.id)).delivery.status).toBe('dead_letter');
  });

  // It is made if it starts within 300 ms of its instant. A busy machine may need several runs for that.
  it.each(['0', '0s', '1ms', '-5m'])('%s: the first attempt is still made', { retry: 4 }, async (ttl) => {
    const good = hook();
    const bad = hook(answer(500));
    const policy = { retry_policy: { base: '50ms', factor: 1 } };
    const [first, second] = await Promise.all([
      given({ endpoint: good.url, ttl, ...policy }),
      given({ endpoint: bad.url, ttl, ...policy }),
    ]);
    expect((await waitForEnd(api, first.pending.id)).delivery).toMatchObject({
      status: 'succeeded',
      attempt_count: 1,
    });
    expect((await waitForEnd(api, second.pending.id)).delivery).toMatchObject({
      status: 'expired',
      attempt_count: 1,
    });
    expect([good.requests.length, bad.requests.length]).toEqual([1, 1]);
  });

  it('an answer after the deadline counts', async () => {
    const gate = held(answer(200));
    const target = hook(gate);
    const { pending } = await given({ endpoint: target.url, ttl: '5s' });
    await target.arrived();
    await sleep(ms(pending.deadline) - Date.now() + 200);
    expect((await delivery(api, pending.id)).status).toBe('claimed');
    gate.release();
    expect((await waitForEnd(api, pending.id)).delivery.status).toBe('succeeded');
  });
});

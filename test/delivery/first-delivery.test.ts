/** The service sends an HTTP request once, at the scheduled instant and never before it. */
import { describe, expect, it } from 'vitest';
import {
  attemptsOf,
  created,
  delivery,
  fromNow,
  ms,
  onlyDelivery,
  SECOND,
  schedule,
  TIMESTAMP,
} from '#test/e2e/expectations.ts';
import { answer, held } from '#test/receiver/behaviours.ts';
import { headerOf } from '#test/receiver/receiver.ts';
import { audit } from './audit.ts';
import { SIGNING_SECRET, useDeliveries } from './harness.ts';
import { sleep, waitForEnd, waitForStatus } from './waits.ts';

const { api, live, hook, given, addReceiver: alsoReceiver } = useDeliveries();
const kept = alsoReceiver({});
const httpsOnIpv6 = alsoReceiver({ host: '::1' });
const http = alsoReceiver({ scheme: 'http' });
const httpOnIpv6 = alsoReceiver({ scheme: 'http', host: '::1' });

/** More than the promise, but a busy machine keeps it too. */
const LATE_MS_MAX = 10 * SECOND;

/** Even a busy machine reads a new delivery within this time, so the delivery still waits then. */
const AHEAD_MS = 8 * SECOND;

/** A wall-clock time without offset, at least `AHEAD_MS` ahead. */
function localTimeSoon(timeZone: string): string {
  const at = Math.ceil((Date.now() + AHEAD_MS) / SECOND) * SECOND;
  return new Date(at).toLocaleString('sv-SE', { timeZone }).replace(' ', 'T');
}

describe.concurrent('a one-shot is sent at its instant, in every form of timing', () => {
  it.each([
    ['delay', () => ({ delay: '8s' })],
    ['delay with a fraction of a second', () => ({ delay: '8.234s' })],
    ['fire_at', () => ({ fire_at: fromNow(AHEAD_MS + 345) })],
    [
      'fire_at with an offset',
      () => ({ fire_at: `${fromNow(AHEAD_MS + 456 + 5.5 * 3_600 * SECOND).slice(0, -1)}+05:30` }),
    ],
    ['local_fire_at', () => ({ local_fire_at: localTimeSoon('Asia/Tokyo'), timezone: 'Asia/Tokyo' })],
    ['delay with jitter', () => ({ delay: '8s', jitter: '900ms' })],
  ])('%s', async (_what, timing) => {
    const target = hook();
    const { shown, pending } = await given({ endpoint: target.url, ...timing() });
    expect(pending).toMatchObject({
      status: 'scheduled',
      attempt_count: 0,
      scheduled_for: shown.next_fire_at,
    });
    const request = await target.arrived();
    expect(request.arrivedAt).toBeGreaterThanOrEqual(ms(pending.scheduled_for));
    expect(request.arrivedAt).toBeLessThan(ms(pending.scheduled_for) + LATE_MS_MAX);

    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(attempts).toMatchObject([{ due_at: pending.scheduled_for, outcome: 'success' }]);
    expect(delivery.scheduled_for).toBe(pending.scheduled_for);
    expect(target.requests).toHaveLength(1);
  });
});

describe.concurrent('during and after the request', () => {
  it('a delivery is claimed during the request, then succeeded, and the one-shot is completed', async () => {
    const gate = held(answer(204));
    const target = hook(gate);
    const { id, pending } = await given({ endpoint: target.url });
    const request = await target.arrived();

    const claimed = await delivery(api, pending.id);
    expect(claimed).toEqual({ ...pending, status: 'claimed', attempt_count: 1, next_fire_at: null });
    const [open] = await attemptsOf(api, pending.id);
    expect(open).toEqual({
      id: expect.stringMatching(/^att_[0-9a-z]{26}$/),
      object: 'attempt',
      delivery_id: pending.id,
      attempt_no: 1,
      outcome: 'retryable',
      status_code: null,
      due_at: pending.scheduled_for,
      fired_at: expect.stringMatching(TIMESTAMP),
      lateness_ms: ms(open?.fired_at) - ms(pending.scheduled_for),
      finished_at: null,
      egress_ms: null,
      error: null,
    });
    expect((await schedule(api, id)).state).toBe('active');
    expect(ms(open?.fired_at)).toBeLessThanOrEqual(request.arrivedAt);

    await sleep(200);
    gate.release();
    const { delivery: done, attempts } = await waitForEnd(api, pending.id);
    const [attempt] = attempts;
    expect(attempts).toEqual([
      {
        ...open,
        outcome: 'success',
        status_code: 204,
        finished_at: expect.stringMatching(TIMESTAMP),
        egress_ms: expect.any(Number),
      },
    ]);
    expect(attempt?.egress_ms).toBeGreaterThanOrEqual(200);
    expect(attempt?.egress_ms).toBeLessThanOrEqual(ms(attempt?.finished_at) - ms(attempt?.fired_at));
    expect(done).toEqual({
      ...claimed,
      status: 'succeeded',
      last_status_code: 204,
      finalized_at: attempt?.finished_at,
    });
    expect(await schedule(api, id)).toMatchObject({ state: 'completed', next_fire_at: null, next_runs: [] });
    expect(target.requests).toHaveLength(1);
  });

  it('the request names its delivery, its attempt and the time of its signature', async () => {
    const target = hook();
    const { pending } = await given({ endpoint: target.url });
    const request = await target.arrived();
    const { attempts } = await waitForEnd(api, pending.id);
    expect(headerOf(request, 'Sched-Delivery-Id')).toBe(pending.id);
    expect(headerOf(request, 'Sched-Attempt')).toBe('1');
    const signedAt = Number(headerOf(request, 'Sched-Timestamp'));
    expect(signedAt).toBeGreaterThanOrEqual(Math.floor(ms(attempts[0]?.fired_at) / SECOND));
    expect(signedAt).toBeLessThanOrEqual(Math.floor(request.arrivedAt / SECOND));
  });
});

describe.concurrent('Idempotency-Key', () => {
  it('a one-shot has the given key', async () => {
    const target = hook();
    await given({ endpoint: target.url, idempotency_key: 'order-1704/a.b,c;d=e' });
    expect(headerOf(await target.arrived(), 'Idempotency-Key')).toBe('order-1704/a.b,c;d=e');
  });

  it('the default is the id of the delivery', async () => {
    const target = hook();
    const { pending } = await given({ endpoint: target.url });
    expect(headerOf(await target.arrived(), 'Idempotency-Key')).toBe(pending.id);
  });
});

describe.concurrent('many at the same instant', () => {
  it('each of a hundred is sent once, and none before the instant', async () => {
    const target = hook();
    const fireAt = fromNow(15 * SECOND);
    const pending = await Promise.all(
      Array.from({ length: 100 }, (_, i) => given({ endpoint: target.url, fire_at: fireAt, body: `${i}` })),
    );
    await target.arrived(100);
    await Promise.all(pending.map(({ pending: { id } }) => waitForStatus(api, id, 'succeeded')));
    expect(target.requests.map(({ body }) => Number(body.toString())).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, i) => i),
    );
    for (const { arrivedAt } of target.requests) expect(arrivedAt).toBeGreaterThanOrEqual(ms(fireAt));
  });
});

describe.concurrent('modes', () => {
  it('live and test deliveries are sent independently, each in its own partition', async () => {
    const target = hook();
    const { id } = await created(live, { endpoint: target.url, delay: '1s' });
    const pending = await onlyDelivery(live, id);
    expect(pending.mode).toBe('live');
    expect(headerOf(await target.arrived(), 'Sched-Delivery-Id')).toBe(pending.id);
    await waitForStatus(live, pending.id, 'succeeded');
    expect((await api.get(`/v1/deliveries/${pending.id}`)).status).toBe(404);
  });
});

describe.concurrent('connections', () => {
  it('are kept for the next delivery to the same origin', async () => {
    const target = kept().hook();
    for (let count = 1; count <= 4; count++) {
      const { pending } = await given({ endpoint: target.url });
      await waitForStatus(api, pending.id, 'succeeded');
    }
    expect(target.requests).toHaveLength(4);
    // A connection closes when it was idle for 4 s, which a busy machine can reach between two of them.
    expect(kept().connections).toBeLessThan(4);
  });
});

describe.concurrent('receivers that the operator allowed are reached', () => {
  it.each([
    ['https on ::1', httpsOnIpv6],
    ['plain http on 127.0.0.1', http],
    ['plain http on ::1', httpOnIpv6],
  ])('%s', async (_where, receiver) => {
    const target = receiver().hook();
    const { pending } = await given({ endpoint: target.url, body: '{"where":1}' });
    await target.arrived();
    await waitForStatus(api, pending.id, 'succeeded');
    await audit([api], receiver().requests, [SIGNING_SECRET]);
  });
});

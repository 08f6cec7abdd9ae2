/** The circuit breaker stops requests to a failing endpoint for a while, then probes it. */
import { describe, expect, it } from 'vitest';
import {
  attemptsOf,
  created,
  createdProfile,
  delivery,
  fromNow,
  MINUTE,
  ms,
  onlyDelivery,
  SECOND,
} from '#test/e2e/expectations.ts';
import type { Attempt } from '#test/e2e/resources.ts';
import { answer, type Behaviour, hang, held, redirect, reset } from '#test/receiver/behaviours.ts';
import { useDeliveries } from './harness.ts';
import { sleep, waitForDue, waitForEnd, waitForStatus } from './waits.ts';

const { api, live, hook, given } = useDeliveries();

const RETRY_MS = 10;
const FAST_RETRIES = { base: `${RETRY_MS}ms`, factor: 1, max_attempts: 50 };

interface Tuning {
  readonly threshold?: number;
  readonly base_open?: string;
  readonly max_open?: string;
  readonly probe_timeout?: string;
}

async function guarded(script: readonly Behaviour[], tuning: Tuning = {}, more: object = {}) {
  const target = hook(...script);
  const breaker_policy = {
    threshold: 2,
    base_open: '600ms',
    max_open: '10m',
    probe_timeout: '10s',
    ...tuning,
  };
  const profile = await createdProfile(api, {
    url: target.url,
    breaker_policy,
    retry_policy: FAST_RETRIES,
    ...more,
  });
  return { target, endpoint_id: profile.id };
}

/**
 * After the second attempt each delivery is deferred by a window. It is sent at the end of the window, unless
 * it was due later anyway.
 */
function expectWindows(attempts: readonly Attempt[], windowsMs: readonly number[]): void {
  windowsMs.forEach((windowMs, i) => {
    const openedAt = ms(attempts[i + 1]?.finished_at);
    const probe = attempts[i + 2];
    expect(ms(probe?.fired_at) - openedAt).toBeGreaterThanOrEqual(windowMs);
    expect([RETRY_MS, windowMs]).toContain(ms(probe?.due_at) - openedAt);
  });
}

describe.concurrent('as many consecutive failures as the threshold open the breaker', () => {
  it('due deliveries are deferred to the end of the window without an attempt, then a probe is sent', async () => {
    const { target, endpoint_id } = await guarded([answer(500), answer(500), answer(200)], {
      base_open: '2500ms',
    });
    const failing = await given({ endpoint_id });
    await target.arrived(2);
    const late = await given({ endpoint_id });
    const [, opening] = await comesToAttempts(failing.pending.id, 2);
    const openUntil = ms(opening?.finished_at) + 2_500;

    const waiting = await waitForDue(api, failing.pending.id, openUntil);
    expect(waiting).toMatchObject({ status: 'retry_scheduled', attempt_count: 2 });
    expect(ms(waiting.next_fire_at) - openUntil).toBeLessThan(50);
    const defer = await waitForDue(api, late.pending.id, openUntil);
    expect(defer).toMatchObject({
      status: 'scheduled',
      attempt_count: 0,
      scheduled_for: late.pending.scheduled_for,
    });
    expect(await attemptsOf(api, late.pending.id)).toEqual([]);
    expect(target.requests).toHaveLength(2);

    const probe = await target.arrived(3);
    expect(probe.arrivedAt).toBeGreaterThanOrEqual(openUntil);
    await waitForStatus(api, failing.pending.id, 'succeeded');
    await waitForStatus(api, late.pending.id, 'succeeded');
    expect(target.requests).toHaveLength(4);
  });

  it('the window doubles with each failed probe up to max_open, and a success resets it', async () => {
    const script = [500, 500, 500, 500, 500, 200, 500, 500, 200].map((status) => answer(status));
    const { target, endpoint_id } = await guarded(script, { base_open: '200ms', max_open: '500ms' });
    const first = await given({ endpoint_id });
    const { attempts } = await waitForEnd(api, first.pending.id);
    expect(attempts).toHaveLength(6);
    expectWindows(attempts, [200, 400, 500, 500]);
    const second = await given({ endpoint_id });
    const again = (await waitForEnd(api, second.pending.id)).attempts;
    expect(again).toHaveLength(3);
    expectWindows(again, [200]);
    expect(target.requests).toHaveLength(9);
  });

  it('other deliveries wait for the outcome of one probe, then they are sent', async () => {
    const gate = held();
    const { target, endpoint_id } = await guarded([answer(500), answer(500), gate, answer(200)], {
      probe_timeout: '60s',
    });
    const failing = await given({ endpoint_id });
    await target.arrived(2);
    const fireAt = fromNow(5_000);
    const others = await Promise.all(
      Array.from({ length: 5 }, () => given({ endpoint_id, fire_at: fireAt })),
    );
    await target.arrived(3);
    await sleep(ms(fireAt) - Date.now() + 400);
    expect(target.requests).toHaveLength(3);
    gate.release();
    for (const { pending } of [failing, ...others]) await waitForStatus(api, pending.id, 'succeeded');
    expect(target.requests).toHaveLength(8);
  });

  it('a probe without an outcome within probe_timeout is followed by another probe', async () => {
    const { target, endpoint_id } = await guarded(
      [answer(500), answer(500), hang(), answer(200)],
      { base_open: '200ms', probe_timeout: '1500ms' },
      { timeout: '20s' },
    );
    const { pending: probed } = await given({ endpoint_id });
    await target.arrived(3);
    const other = await given({ endpoint_id });
    const { attempts } = await waitForEnd(api, other.pending.id);
    const probe = (await attemptsOf(api, probed.id))[2];
    expect(ms(attempts[0]?.fired_at) - ms(probe?.fired_at)).toBeGreaterThanOrEqual(1_500);
    expect((await delivery(api, probed.id)).status).toBe('claimed');
  });

  it('a delivery that could not be sent before its deadline expires at once, without an attempt', async () => {
    const { target, endpoint_id } = await guarded([answer(500)], { base_open: '10m' });
    await given({ endpoint_id });
    await target.arrived(2);
    const { pending } = await given({ endpoint_id, ttl: '3s' });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'expired', attempt_count: 0 });
    expect(attempts).toEqual([]);
  });

  it('a breaker of test mode does not defer live deliveries', async () => {
    const target = hook(...Array.from({ length: 5 }, () => answer(500)), answer(200));
    const { pending } = await given({ endpoint: target.url, retry_policy: FAST_RETRIES });
    await waitForDue(api, pending.id, Date.now() + 20 * SECOND);
    const { id } = await created(live, { endpoint: target.url, delay: '1s' });
    await waitForStatus(live, (await onlyDelivery(live, id)).id, 'succeeded');
    expect((await delivery(api, pending.id)).attempt_count).toBe(5);
  });

  it('a breaker does not defer deliveries to another endpoint', async () => {
    const { target, endpoint_id } = await guarded([answer(500)], { base_open: '10m' });
    await given({ endpoint_id });
    await target.arrived(2);
    const other = hook();
    const { pending } = await given({ endpoint: other.url });
    expect((await waitForEnd(api, pending.id)).attempts[0]?.lateness_ms).toBeLessThan(2_000);
  });
});

async function comesToAttempts(id: string, count: number) {
  for (;;) {
    const attempts = await attemptsOf(api, id);
    if (attempts.length >= count && attempts[count - 1]?.finished_at !== null) return attempts;
    await sleep(20);
  }
}

describe.concurrent('outcomes that count as failures', () => {
  it('a success in between resets the count', async () => {
    const script = [500, 200, 500, 200, 500, 200].map((status) => answer(status));
    const { target, endpoint_id } = await guarded(script, { base_open: '10m' });
    for (let i = 0; i < 3; i++) {
      const { pending } = await given({ endpoint_id });
      await waitForStatus(api, pending.id, 'succeeded');
    }
    expect(target.requests).toHaveLength(6);
  });

  it.each([
    ['a name that does not resolve', 'https://nosuch.invalid/counts', 'retryable'],
    ['a blocked address', 'https://10.0.0.1/counts', 'terminal'],
  ])('%s does not count', async (_what, url, outcome) => {
    const { id } = await createdProfile(api, {
      url,
      breaker_policy: { threshold: 1, base_open: '10m', max_open: '10m', probe_timeout: '10m' },
      retry_policy: { max_attempts: 3, base: '20ms', factor: 1 },
    });
    const first = await given({ endpoint_id: id });
    expect((await waitForEnd(api, first.pending.id)).attempts.map((each) => each.outcome)).toEqual(
      Array(outcome === 'retryable' ? 3 : 1).fill(outcome),
    );
    const second = await given({ endpoint_id: id });
    expect((await waitForEnd(api, second.pending.id)).delivery.status).toBe('dead_letter');
  });

  it('a redirect does not count', async () => {
    const { endpoint_id, target } = await guarded([redirect(302, '/x')], { threshold: 1, base_open: '10m' });
    for (let i = 0; i < 2; i++) {
      const { pending } = await given({ endpoint_id });
      await waitForStatus(api, pending.id, 'dead_letter');
    }
    expect(target.requests).toHaveLength(2);
  });

  it.each([
    ['a time-out', () => hang(), { timeout: '300ms' }],
    ['a client error', () => answer(404), {}],
    ['a reset', () => reset('after reading'), {}],
  ])('%s counts', async (_what, behaviour, more) => {
    const { endpoint_id } = await guarded([behaviour()], { threshold: 1, base_open: '10m' }, more);
    const { pending } = await given({ endpoint_id });
    const waiting = await waitForDue(api, pending.id, Date.now() + MINUTE);
    expect(waiting).toMatchObject({ status: 'retry_scheduled', attempt_count: 1 });
  });
});

describe.concurrent('the defaults', () => {
  it('5 consecutive failures open the breaker for 30 s', async () => {
    const target = hook(answer(500));
    const { pending } = await given({ endpoint: target.url, retry_policy: FAST_RETRIES });
    const waiting = await waitForDue(api, pending.id, Date.now() + 20 * SECOND);
    expect(waiting).toMatchObject({ status: 'retry_scheduled', attempt_count: 5 });
    const fifth = (await attemptsOf(api, pending.id))[4];
    const openMs = ms(waiting.next_fire_at) - ms(fifth?.finished_at);
    expect(openMs).toBeGreaterThanOrEqual(30 * SECOND);
    expect(openMs).toBeLessThan(31 * SECOND);
    expect(target.requests).toHaveLength(5);
    expect((await delivery(api, pending.id)).attempt_count).toBe(5);
  });

  it('an inline endpoint is identified by origin and path, without the query', async () => {
    const target = hook(answer(500));
    const { pending } = await given({ endpoint: target.url, retry_policy: FAST_RETRIES });
    await target.arrived(5);
    await waitForDue(api, pending.id, Date.now() + 20 * SECOND);
    const other = await given({ endpoint: `${target.url}?other` });
    await waitForDue(api, other.pending.id, ms(other.pending.scheduled_for) + 1);
    expect(target.requests).toHaveLength(5);
  });
});

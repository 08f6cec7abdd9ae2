/** The retry budget of an endpoint, and the rate limit of a schedule towards its endpoint. */
import { describe, expect, it } from 'vitest';
import { attemptsOf, createdProfile, delivery, fromNow, ms } from '#test/e2e/expectations.ts';
import { answer } from '#test/receiver/behaviours.ts';
import { useDeliveries } from './harness.ts';
import { waitForEnd, waitForStatus, waitUntil } from './waits.ts';

const { api, hook, given } = useDeliveries();

/** Even a busy machine creates all deliveries of a test within this time. */
const AHEAD_MS = 8_000;
const RETRY_MS = 10;
/** A breaker that does not open, for endless failures. */
const NO_BREAKER = { threshold: 1_000, base_open: '1s', max_open: '1s', probe_timeout: '1s' };

/**
 * The instants at which the attempts from `first` on were let through. A deferred attempt is due at its
 * reservation. Any other passed when it was sent.
 */
async function passInstants(ids: readonly string[], first: number, retryMs = 0): Promise<readonly number[]> {
  const each = await Promise.all(
    ids.map(async (id) => {
      const { scheduled_for } = await delivery(api, id);
      const attempts = await attemptsOf(api, id);
      return attempts.slice(first - 1).map(({ attempt_no, due_at, fired_at }) => {
        const before = attempts[attempt_no - 2];
        const ownDue = before === undefined ? ms(scheduled_for) : ms(before.finished_at) + retryMs;
        return ms(due_at) === ownDue ? ms(fired_at) : ms(due_at);
      });
    }),
  );
  return each.flat().toSorted((a, b) => a - b);
}

/** Expects no more than a bucket of `burst` tokens, filled with `perSecond`, lets through. */
function expectPaced(due: readonly number[], perSecond: number, burst: number): void {
  const tooSoon = due.flatMap((second, j) =>
    due.slice(0, j).flatMap((first, i) => {
      const tokens = j - i + 1 - burst;
      // Instants are whole milliseconds.
      const leastMs = Math.floor((tokens * 1_000) / perSecond) - 1;
      return second - first < leastMs ? [`${j - i} after ${first}: ${second - first} ms`] : [];
    }),
  );
  expect(tooSoon).toEqual([]);
}

describe.concurrent('retry_budget', () => {
  it('rate 0, burst 0: no retry is possible, so the first failure makes a dead letter', async () => {
    const target = hook(answer(500));
    const { id } = await createdProfile(api, {
      url: target.url,
      retry_budget: { rate: 0, burst: 0 },
      retry_policy: { base: '300ms', factor: 1 },
    });
    const { pending } = await given({ endpoint_id: id });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'dead_letter', attempt_count: 1, last_status_code: 500 });
    expect(attempts).toHaveLength(1);
    expect(target.requests).toHaveLength(1);
  });

  it('rate 0, burst 2: two retries and no third', async () => {
    const target = hook(answer(500));
    const { id } = await createdProfile(api, {
      url: target.url,
      retry_budget: { rate: 0, burst: 2 },
      retry_policy: { base: '20ms', factor: 1 },
    });
    const { pending } = await given({ endpoint_id: id });
    expect((await waitForEnd(api, pending.id)).delivery).toMatchObject({
      status: 'dead_letter',
      attempt_count: 3,
    });
  });

  it('first attempts need no token', async () => {
    const target = hook();
    const { id } = await createdProfile(api, { url: target.url, retry_budget: { rate: 0, burst: 0 } });
    const all = await Promise.all(Array.from({ length: 5 }, () => given({ endpoint_id: id })));
    await Promise.all(all.map(({ pending }) => waitForStatus(api, pending.id, 'succeeded')));
  });

  it('retries up to the burst are sent at once, the others as tokens arrive', async () => {
    const target = hook(answer(500));
    const { id } = await createdProfile(api, {
      url: target.url,
      breaker_policy: NO_BREAKER,
      retry_budget: { rate: 4, burst: 2 },
      retry_policy: { base: `${RETRY_MS}ms`, factor: 1, max_attempts: 2 },
    });
    const fireAt = fromNow(AHEAD_MS);
    const all = await Promise.all(
      Array.from({ length: 7 }, () => given({ endpoint_id: id, fire_at: fireAt })),
    );
    const ids = all.map(({ pending }) => pending.id);
    await Promise.all(ids.map((id) => waitForStatus(api, id, 'dead_letter')));
    const retries = await passInstants(ids, 2, RETRY_MS);
    expect(retries).toHaveLength(7);
    expectPaced(retries, 4, 2);
    expect((retries.at(-1) ?? 0) - (retries[0] ?? 0)).toBeLessThan(5_000);
  });

  it('a delivery that waits for a token stays retry_scheduled, without an attempt and with a later next_fire_at', async () => {
    const target = hook(answer(500));
    const { id } = await createdProfile(api, {
      url: target.url,
      retry_budget: { rate: 0.01, burst: 0 },
      retry_policy: { base: '50ms', factor: 1 },
    });
    const { pending } = await given({ endpoint_id: id });
    await target.arrived();
    const isDeferred = ({ next_fire_at }: { next_fire_at: string | null }) =>
      next_fire_at !== null && ms(next_fire_at) > Date.now() + 10_000;
    const waiting = await waitUntil(api, pending.id, isDeferred);
    expect(waiting).toMatchObject({ status: 'retry_scheduled', attempt_count: 1 });
    expect(target.requests).toHaveLength(1);
  });
});

describe.concurrent('the default budget', () => {
  it('10 retries per second, burst 100', async () => {
    const target = hook(answer(500));
    const { id } = await createdProfile(api, {
      url: target.url,
      breaker_policy: NO_BREAKER,
      retry_policy: { base: `${RETRY_MS}ms`, factor: 1, max_attempts: 2 },
    });
    const fireAt = fromNow(AHEAD_MS);
    const all = await Promise.all(
      Array.from({ length: 106 }, () => given({ endpoint_id: id, fire_at: fireAt })),
    );
    const ids = all.map(({ pending }) => pending.id);
    await Promise.all(ids.map((id) => waitForStatus(api, id, 'dead_letter')));
    const due = await passInstants(ids, 2, RETRY_MS);
    expect(due).toHaveLength(106);
    expectPaced(due, 10, 100);
  });
});

describe.concurrent('rate_limit of a schedule', () => {
  it('limits retries too', async () => {
    const target = hook(answer(500), answer(500), answer(200));
    const retry_policy = { base: '0' };
    const { pending } = await given({ endpoint: target.url, rate_limit: { per_second: 4 }, retry_policy });
    await waitForStatus(api, pending.id, 'succeeded');
    expectPaced(await passInstants([pending.id], 1), 4, 1);
  });

  it('limits the requests per second to its endpoint, one at a time', async () => {
    const target = hook();
    const fireAt = fromNow(AHEAD_MS);
    const all = await Promise.all(
      Array.from({ length: 8 }, () =>
        given({ endpoint: target.url, fire_at: fireAt, rate_limit: { per_second: 5 } }),
      ),
    );
    const ids = all.map(({ pending }) => pending.id);
    await Promise.all(ids.map((id) => waitForStatus(api, id, 'succeeded')));
    const due = await passInstants(ids, 1);
    expectPaced(due, 5, 1);
    expect((due.at(-1) ?? 0) - (due[0] ?? 0)).toBeLessThan(6_000);
  });

  it('a delivery that waits stays scheduled, without an attempt and with a later next_fire_at', async () => {
    const target = hook();
    const fireAt = fromNow(AHEAD_MS);
    const slow = { endpoint: target.url, fire_at: fireAt, rate_limit: { per_second: 0.02 } };
    const [first, second] = await Promise.all([given(slow), given(slow)]);
    await target.arrived();
    const shown = await Promise.all(
      [first, second].map(({ pending }) =>
        waitUntil(
          api,
          pending.id,
          (each) => each.status === 'succeeded' || (each.next_fire_at ?? '') > fireAt,
        ),
      ),
    );
    const waiting = shown.find(({ status }) => status === 'scheduled');
    expect(waiting).toMatchObject({ attempt_count: 0, scheduled_for: fireAt });
    expect(ms(waiting?.next_fire_at) - ms(fireAt)).toBeGreaterThanOrEqual(50_000);
    expect(await attemptsOf(api, waiting?.id ?? '')).toEqual([]);
    expect(target.requests).toHaveLength(1);
  });

  it('per_second 0 is no limit, and another endpoint is not delayed', async () => {
    const free = hook();
    const all = await Promise.all(
      Array.from({ length: 10 }, () => given({ endpoint: free.url, rate_limit: { per_second: 0 } })),
    );
    await Promise.all(all.map(({ pending }) => waitForStatus(api, pending.id, 'succeeded')));
    const due = await passInstants(
      all.map(({ pending }) => pending.id),
      1,
    );
    expect((due.at(-1) ?? 0) - (due[0] ?? 0)).toBeLessThan(3_000);
  });

  it('the profile’s rate_limit is only stored and shown', async () => {
    const target = hook();
    const { id } = await createdProfile(api, { url: target.url, rate_limit: { per_second: 0.1 } });
    const all = await Promise.all(Array.from({ length: 3 }, () => given({ endpoint_id: id })));
    await Promise.all(all.map(({ pending }) => waitForStatus(api, pending.id, 'succeeded')));
    expect(target.requests).toHaveLength(3);
  });
});

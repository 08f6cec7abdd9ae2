/** The life cycle of a delivery as the API shows it: statuses, attempts, deadlines, recurrence. */
import { describe, expect, it } from 'vitest';
import { OK, REDIRECT, SERVER_ERROR } from './drive.ts';
import {
  attemptsOf,
  created,
  DAY,
  deliveriesOf,
  delivery,
  expectError,
  idOf,
  list,
  MINUTE,
  ms,
  onlyDelivery,
  SECOND,
  schedule,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { type Attempt, ONE_SHOT, RECURRING, UNKNOWN } from './resources.ts';

const { api, drive } = useSched();

async function pendingOf(body: object) {
  return onlyDelivery(api, (await created(api, body)).id);
}

describe('status by status', () => {
  it('scheduled → claimed → succeeded', async () => {
    const pending = await pendingOf(ONE_SHOT);
    expect(pending).toMatchObject({
      status: 'scheduled',
      next_fire_at: pending.scheduled_for,
      attempt_count: 0,
    });

    await drive.claim(pending.id);
    const claimed = await delivery(api, pending.id);
    expect(claimed).toEqual({ ...pending, status: 'claimed', next_fire_at: null, attempt_count: 1 });

    await drive.settle(pending.id, OK, 40);
    expect(await delivery(api, pending.id)).toEqual({
      ...claimed,
      status: 'succeeded',
      last_status_code: 200,
      finalized_at: new Date(ms(pending.scheduled_for) + 40).toISOString(),
    });
  });

  it('claimed → retry_scheduled → claimed → succeeded, with the same idempotency key', async () => {
    const pending = await pendingOf({ ...ONE_SHOT, retry_policy: { base: '10s', factor: 2 } });
    await drive.fire(pending.id, SERVER_ERROR);
    const retrying = await delivery(api, pending.id);
    expect(retrying).toEqual({
      ...pending,
      status: 'retry_scheduled',
      attempt_count: 1,
      last_status_code: 503,
      error: SERVER_ERROR.error,
      next_fire_at: new Date(ms(pending.scheduled_for) + 20 * SECOND).toISOString(),
    });
    await drive.fire(pending.id, OK);
    expect(await delivery(api, pending.id)).toMatchObject({
      status: 'succeeded',
      attempt_count: 2,
      last_status_code: 200,
      error: null,
      next_fire_at: null,
      idempotency_key: pending.idempotency_key,
      scheduled_for: pending.scheduled_for,
    });
  });

  it('claimed → dead_letter: a terminal outcome is never retried', async () => {
    const pending = await pendingOf(ONE_SHOT);
    await drive.fire(pending.id, REDIRECT);
    expect(await delivery(api, pending.id)).toMatchObject({
      status: 'dead_letter',
      attempt_count: 1,
      last_status_code: 302,
      error: REDIRECT.error,
      next_fire_at: null,
      finalized_at: pending.scheduled_for,
    });
  });

  it('max_attempts reached: dead_letter', async () => {
    const pending = await pendingOf({ ...ONE_SHOT, retry_policy: { max_attempts: 3 } });
    await drive.fire(pending.id, SERVER_ERROR, SERVER_ERROR);
    expect((await delivery(api, pending.id)).status).toBe('retry_scheduled');
    await drive.fire(pending.id, SERVER_ERROR);
    expect(await delivery(api, pending.id)).toMatchObject({
      status: 'dead_letter',
      attempt_count: 3,
      next_fire_at: null,
    });
  });

  it('max_attempts is 8 without a retry policy', async () => {
    const pending = await pendingOf(ONE_SHOT);
    await drive.fire(pending.id, ...Array.from({ length: 8 }, () => SERVER_ERROR));
    expect(await delivery(api, pending.id)).toMatchObject({ status: 'dead_letter', attempt_count: 8 });
  });

  it('a retry that would start after the deadline is not made, and the delivery expires at once', async () => {
    const pending = await pendingOf({ ...ONE_SHOT, ttl: '9s', retry_policy: { base: '5s', factor: 2 } });
    await drive.fire(pending.id, SERVER_ERROR);
    expect(await delivery(api, pending.id)).toMatchObject({
      status: 'expired',
      attempt_count: 1,
      next_fire_at: null,
      finalized_at: pending.scheduled_for,
    });
  });

  it('a retry exactly at the deadline is made', async () => {
    const pending = await pendingOf({ ...ONE_SHOT, ttl: '10s', retry_policy: { base: '5s', factor: 2 } });
    await drive.fire(pending.id, SERVER_ERROR);
    const retrying = await delivery(api, pending.id);
    expect(retrying).toMatchObject({ status: 'retry_scheduled', next_fire_at: retrying.deadline });
  });

  it('max_attempts is checked before the deadline: dead_letter', async () => {
    const pending = await pendingOf({ ...ONE_SHOT, ttl: '0', retry_policy: { max_attempts: 1 } });
    await drive.fire(pending.id, SERVER_ERROR);
    expect((await delivery(api, pending.id)).status).toBe('dead_letter');
  });
});

describe('the retry after attempt n is due min(max, base × factor^n) after its end', () => {
  it.each([
    ['the defaults', {}, [10, 20, 40, 80, 160, 320, 640]],
    ['a cap', { base: '1m', factor: 3, max: '10m' }, [180, 540, 600, 600]],
    ['a factor of 1', { base: '7s', factor: 1 }, [7, 7, 7]],
    ['a base of 0', { base: '0s', factor: 100 }, [0, 0, 0]],
    ['a cap of 0', { max: '0s' }, [0, 0]],
    ['a fraction', { base: '1s', factor: 1.5 }, [1.5, 2.25, 3.375]],
    ['jitter on or off is the same: backoff is deterministic', { jitter: false }, [10, 20, 40]],
  ])('%s', async (_what, retry_policy, waits) => {
    const pending = await pendingOf({ ...ONE_SHOT, retry_policy });
    let due = ms(pending.scheduled_for);
    for (const seconds of waits) {
      await drive.claim(pending.id);
      await drive.settle(pending.id, SERVER_ERROR, 250);
      due += 250 + seconds * SECOND;
      expect(ms((await delivery(api, pending.id)).next_fire_at)).toBe(due);
    }
  });
});

describe('a recurring schedule', () => {
  it('has exactly one scheduled delivery, and claiming it materializes the next', async () => {
    const shown = await created(api, { ...RECURRING, ttl: '1m' });
    for (const [i, run] of shown.next_runs.slice(0, 4).entries()) {
      const all = await deliveriesOf(api, shown.id);
      expect(all.map(({ status }) => status)).toEqual([
        'scheduled',
        ...Array.from({ length: i }, () => 'claimed'),
      ]);
      const [next] = all;
      expect(next).toMatchObject({
        scheduled_for: run,
        next_fire_at: run,
        deadline: new Date(ms(run) + MINUTE).toISOString(),
        idempotency_key: `${shown.id}:${run}`,
      });
      expect((await schedule(api, shown.id)).next_fire_at).toBe(run);
      await drive.claim(next?.id ?? '');
    }
  });

  it('does not wait for the retries of the last occurrence', async () => {
    const shown = await created(api, {
      ...RECURRING,
      retry_policy: { base: '24h', factor: 10, max: '168h' },
    });
    for (let i = 0; i < 3; i++) {
      const [next] = await deliveriesOf(api, shown.id);
      await drive.fire(next?.id ?? '', SERVER_ERROR);
    }
    const all = await deliveriesOf(api, shown.id);
    expect(all.map(({ status }) => status)).toEqual([
      'scheduled',
      ...Array.from({ length: 3 }, () => 'retry_scheduled'),
    ]);
    expect(new Set(all.map(({ idempotency_key }) => idempotency_key)).size).toBe(4);
  });

  it('that is claimed late skips missed occurrences, so that they never pile up', async () => {
    const shown = await created(api, RECURRING);
    const first = await onlyDelivery(api, shown.id);
    await drive.claim(first.id, 3 * DAY + 1);
    const [next, ...earlier] = await deliveriesOf(api, shown.id);
    expect(next?.scheduled_for).toBe(shown.next_runs[4]);
    expect(earlier).toHaveLength(1);
  });
});

describe('GET /deliveries/{id}/attempts', () => {
  it('shows each attempt with its lateness, in the order of attempt_no', async () => {
    const pending = await pendingOf({ ...ONE_SHOT, retry_policy: { base: '10s', factor: 1 } });
    const due = ms(pending.scheduled_for);
    await drive.claim(pending.id, 7);
    await drive.settle(pending.id, SERVER_ERROR, 120);
    await drive.claim(pending.id, 3);
    await drive.settle(pending.id, { outcome: 'retryable', statusCode: null, error: 'timeout' }, 30 * SECOND);
    await drive.claim(pending.id, 0);
    await drive.settle(pending.id, OK, 55);

    const at = (offset: number) => new Date(due + offset).toISOString();
    const common = { id: expect.stringMatching(idOf('att')), object: 'attempt', delivery_id: pending.id };
    const secondDue = 7 + 120 + 10 * SECOND;
    const thirdDue = secondDue + 3 + 30 * SECOND + 10 * SECOND;
    expect(await attemptsOf(api, pending.id)).toEqual([
      {
        ...common,
        attempt_no: 1,
        outcome: 'retryable',
        status_code: 503,
        due_at: at(0),
        fired_at: at(7),
        lateness_ms: 7,
        finished_at: at(127),
        egress_ms: 120,
        error: SERVER_ERROR.error,
      },
      {
        ...common,
        attempt_no: 2,
        outcome: 'retryable',
        status_code: null,
        due_at: at(secondDue),
        fired_at: at(secondDue + 3),
        lateness_ms: 3,
        finished_at: at(secondDue + 3 + 30 * SECOND),
        egress_ms: 30 * SECOND,
        error: 'timeout',
      },
      {
        ...common,
        attempt_no: 3,
        outcome: 'success',
        status_code: 200,
        due_at: at(thirdDue),
        fired_at: at(thirdDue),
        lateness_ms: 0,
        finished_at: at(thirdDue + 55),
        egress_ms: 55,
        error: null,
      },
    ]);
  });

  it('an attempt in flight: outcome retryable, not finished', async () => {
    const pending = await pendingOf(ONE_SHOT);
    await drive.claim(pending.id, 12);
    expect(await attemptsOf(api, pending.id)).toEqual([
      expect.objectContaining({
        attempt_no: 1,
        outcome: 'retryable',
        status_code: null,
        lateness_ms: 12,
        finished_at: null,
        egress_ms: null,
        error: null,
      }),
    ]);
  });

  it('a terminal attempt', async () => {
    const pending = await pendingOf(ONE_SHOT);
    await drive.fire(pending.id, { outcome: 'terminal', statusCode: null, error: 'blocked address' });
    const [attempt] = await attemptsOf(api, pending.id);
    expect(attempt).toMatchObject({ outcome: 'terminal', status_code: null, error: 'blocked address' });
  });

  it('is empty before the first attempt', async () => {
    expect(await attemptsOf(api, (await pendingOf(ONE_SHOT)).id)).toEqual([]);
  });

  it('is read in pages in ascending order while attempts are added', async () => {
    const pending = await pendingOf({ ...ONE_SHOT, retry_policy: { max_attempts: 50, base: '0s' } });
    await drive.fire(pending.id, ...Array.from({ length: 5 }, () => SERVER_ERROR));
    const path = `/v1/deliveries/${pending.id}/attempts`;
    const seen: number[] = [];
    let cursor = '';
    for (let pages = 0; pages < 4; pages++) {
      const page = await list<Attempt>(api, `${path}?limit=2&cursor=${cursor}`);
      seen.push(...page.data.map(({ attempt_no }) => attempt_no));
      expect(page.has_more).toBe(page.next_cursor !== null);
      cursor = page.next_cursor ?? '';
      if (pages === 0) await drive.fire(pending.id, SERVER_ERROR, SERVER_ERROR);
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(cursor).toBe('');
  });
});

it.each(['', '/attempts'])('GET of an unknown delivery%s: 404', async (suffix) => {
  expectError(await api.get(`/v1/deliveries/${UNKNOWN.delivery}${suffix}`), 404, 'not_found');
});

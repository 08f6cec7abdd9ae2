import { expect, test } from 'vitest';
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import * as life from '#src/domain/delivery-lifecycle.ts';
import { answerResult, failureResult } from '#src/domain/failures.ts';
import type { Partition } from '#src/domain/project.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import { Builders, FAILURE, REDIRECT, SUCCESS } from '#test/store-contract/builders.ts';
import { type DeliveryCircumstances, deliveryText } from './delivery-text.ts';

const build = new Builders(1 as Partition);
const ALONE: DeliveryCircumstances = { attempts: [], scheduleState: 'active', wait: null };

/** Returns a delivery after so many attempts, each with the same result. */
function attempted(
  result: life.AttemptResult,
  times: number,
  maxAttempts = DEFAULT_RETRY_POLICY.maxAttempts,
) {
  const { schedule, pending } = build.schedule({ retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts } });
  let delivery: Delivery = pending;
  const attempts: Attempt[] = [];
  for (let made = 0; made < times; made++) {
    const settled = build.settle(build.claim(delivery, { schedule, profile: null }), schedule, result);
    delivery = settled.delivery;
    attempts.push(settled.attempt);
  }
  return { delivery, attempts };
}

test('a delivery that waits says what it waits for', () => {
  const { pending } = build.schedule();
  expect(deliveryText(pending, { ...ALONE, wait: { reason: 'not_due' } })).toBe(
    'The delivery waits until it is due.',
  );
  expect(deliveryText(pending, { ...ALONE, wait: { reason: 'breaker_open' } })).toBe(
    'Too many attempts to its endpoint failed in a row, so the circuit breaker is open. The delivery is deferred until the breaker lets a probe through.',
  );
  expect(deliveryText(pending, { ...ALONE, wait: { reason: 'rate_limit' } })).toBe(
    'A rate limit defers the delivery. A token is reserved for that instant, so it does not wait again.',
  );
  expect(
    deliveryText(life.pause(pending, build.now), { ...ALONE, wait: { reason: 'schedule_paused' } }),
  ).toBe('The delivery waits because its schedule is paused. Resume the schedule to send it.');
});

test('a delivery that is being sent says which attempt is in flight', () => {
  const { schedule, pending } = build.schedule();
  const { delivery } = build.claim(pending, { schedule, profile: null });
  expect(deliveryText(delivery, ALONE)).toBe('Attempt 1 of 8 is in flight.');
});

test('a retry says what failed, which attempt follows and how long after', () => {
  const { delivery, attempts } = attempted(FAILURE, 1);
  expect(deliveryText(delivery, { ...ALONE, attempts, wait: { reason: 'backoff' } })).toBe(
    'example.com answered 503 (service unavailable). Check whether the receiver is overloaded or in maintenance. Attempt 2 of 8 follows 10 s after attempt 1 ended.',
  );
  expect(deliveryText(delivery, { ...ALONE, attempts, wait: { reason: 'breaker_open' } })).toMatch(
    /^example\.com answered 503 .* the circuit breaker is open\./,
  );
});

test.each([
  [
    'a redirect',
    attempted(REDIRECT, 1),
    'The attempt failed in a way that a retry cannot help. example.com answered 302 (redirect). Redirects are not followed. Change the destination to the final address. A replay does not help, because it repeats the old request.',
  ],
  [
    'a name that no setting allows',
    attempted(failureResult('localhost_not_allowed'), 1),
    'The attempt failed in a way that a retry cannot help. The name localhost means the machine of the service itself. Only sched dev sends to it, and no setting allows it elsewhere. Use a public host, or write the address 127.0.0.1, which the operator can allow with SCHED_EGRESS_ALLOW. A replay does not help, because it repeats the old request.',
  ],
  [
    'an address that the operator can allow',
    attempted(failureResult('address_not_allowed'), 1),
    'The attempt failed in a way that a retry cannot help. example.com has an address that is not public. Such addresses are blocked to protect private networks. Use a public address, or ask the operator to allow this one with SCHED_EGRESS_ALLOW, then replay the delivery.',
  ],
  [
    'the last attempt',
    attempted(answerResult(500), 4, 4),
    'All 4 attempts failed. example.com answered 500 (internal server error). Check its log, then replay the delivery.',
  ],
  [
    'the only attempt',
    attempted(failureResult('aborted'), 1, 1),
    'The only attempt failed. The service aborted the attempt, most likely because it was stopping. Replay the delivery.',
  ],
])('a dead letter after %s says why, and what to do', (_, { delivery, attempts }, text) => {
  expect(delivery.status).toBe('dead_letter');
  expect(deliveryText(delivery, { ...ALONE, attempts })).toBe(text);
});

test('a delivery that the retry budget ended says so', () => {
  const { delivery, attempts } = attempted(FAILURE, 1);
  const ended = life.endUnsent(delivery, 'exhausted', build.now);
  expect(deliveryText(ended, { ...ALONE, attempts })).toMatch(
    /^The retry budget of the endpoint allows no further attempt\. .*, then replay the delivery\.$/,
  );
});

test('a delivery that expired says when, and that a replay has a new deadline', () => {
  const { pending } = build.schedule({ ttl: '1s' });
  expect(deliveryText(life.endUnsent(pending, 'expired', build.now), ALONE)).toBe(
    'The delivery expired: its deadline (ttl) passed before the first attempt. Replay the delivery. A replay has a new deadline.',
  );
  const { delivery, attempts } = attempted(FAILURE, 1);
  const expired = life.endUnsent(delivery, 'expired', build.now);
  expect(deliveryText(expired, { ...ALONE, attempts })).toMatch(
    /^The delivery expired: the next attempt would have come after its deadline \(ttl\)\. example\.com answered/,
  );
});

test('a delivery that was canceled will not be sent', () => {
  const { pending } = build.schedule();
  const canceled = life.cancel(pending, build.now);
  expect(deliveryText(canceled, { ...ALONE, scheduleState: 'canceled' })).toBe(
    'The delivery was canceled with its schedule and will not be sent.',
  );
  expect(deliveryText(canceled, ALONE)).toBe('The delivery was canceled and will not be sent.');
  const notification = { ...canceled, scheduleId: null };
  expect(deliveryText(notification, { ...ALONE, scheduleState: null })).toBe(
    'The delivery was canceled and will not be sent.',
  );
});

test('a delivery that succeeded says with which attempt', () => {
  const once = attempted(SUCCESS, 1);
  expect(deliveryText(once.delivery, { ...ALONE, attempts: once.attempts })).toBe(
    'The first attempt succeeded.',
  );
  const { delivery } = attempted(FAILURE, 1);
  expect(deliveryText({ ...delivery, status: 'succeeded', attemptCount: 3 }, ALONE)).toBe(
    'Attempt 3 of 8 succeeded.',
  );
});

import { expect, test } from 'vitest';
import { Builders, FAILURE, REDIRECT, SUCCESS } from '#src/store/contract/builders.ts';
import type { Attempt, Delivery } from './delivery.ts';
import * as life from './delivery-lifecycle.ts';
import type { DeliverySurroundings } from './delivery-words.ts';
import { deliveryWords } from './delivery-words.ts';
import type { Partition } from './project.ts';
import { DEFAULT_RETRY_POLICY } from './retry.ts';

const build = new Builders(1 as Partition);
const ALONE: DeliverySurroundings = { attempts: [], scheduleState: 'active', isDeferredByBreaker: false };

/** A delivery tried so often, each time with the same result. */
function tried(result: life.AttemptResult, times: number, maxAttempts = DEFAULT_RETRY_POLICY.maxAttempts) {
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

test('what waits says what for', () => {
  const { pending } = build.schedule();
  expect(deliveryWords(pending, ALONE)).toBe('It waits for its instant.');
  expect(deliveryWords(pending, { ...ALONE, isDeferredByBreaker: true })).toContain(
    'circuit breaker is open',
  );
  expect(deliveryWords({ ...pending, reserved: true }, ALONE)).toContain('Its turn is reserved');
  expect(deliveryWords(life.pause(pending, build.now), ALONE)).toContain('Resume the schedule');
});

test('a retry says what went wrong, which attempt follows and how long after', () => {
  const { delivery, attempts } = tried(FAILURE, 1);
  expect(deliveryWords(delivery, { ...ALONE, attempts })).toBe(
    'example.com answered with 503: it is overloaded or being maintained. It is worth another attempt. Attempt 2 of 8 follows 10 s after the last one ended.',
  );
});

test.each([
  ['a redirect', tried(REDIRECT, 1), 'given up at once'],
  ['the last attempt', tried(FAILURE, 2, 2), 'after all of its 2 attempts'],
  ['the only attempt', tried(FAILURE, 1, 1), 'the only attempt it had'],
])('a dead letter after %s says why', (_, { delivery, attempts }, part) => {
  expect(delivery.status).toBe('dead_letter');
  const words = deliveryWords(delivery, { ...ALONE, attempts });
  expect(words).toContain(part);
  expect(words).toContain('It can be replayed');
});

test('one that the retry budget ended says so', () => {
  const { delivery, attempts } = tried(FAILURE, 1);
  const ended = life.endUnsent(delivery, 'exhausted', build.now);
  expect(deliveryWords(ended, { ...ALONE, attempts })).toContain('retry budget');
});

test('what ended otherwise says how', () => {
  const { pending } = build.schedule({ ttl: '1s' });
  expect(deliveryWords(life.endUnsent(pending, 'expired', build.now), ALONE)).toContain('could not be tried');
  expect(deliveryWords(life.cancel(pending, build.now), { ...ALONE, scheduleState: 'canceled' })).toContain(
    'canceled with its schedule',
  );
  const once = tried(SUCCESS, 1);
  expect(deliveryWords(once.delivery, { ...ALONE, attempts: once.attempts })).toBe(
    'Delivered with the first attempt.',
  );
});

import { expect, test } from 'vitest';
import { Builders, FAILURE, REDIRECT, SUCCESS } from '#src/store/contract/builders.ts';
import type { Attempt, Delivery } from './delivery.ts';
import * as life from './delivery-life.ts';
import type { DeliverySurroundings } from './delivery-words.ts';
import { deliveryWords } from './delivery-words.ts';
import type { Partition } from './partition.ts';
import { DEFAULT_RETRY_POLICY } from './retry.ts';

const build = new Builders(1 as Partition);
const ALONE: DeliverySurroundings = { tries: [], scheduleState: 'active', isHeldBack: false };

/** A delivery tried so often, each time with the same result. */
function tried(result: life.TryResult, times: number, maxAttempts = DEFAULT_RETRY_POLICY.maxAttempts) {
  const { schedule, pending } = build.schedule({ retryPolicy: { ...DEFAULT_RETRY_POLICY, maxAttempts } });
  let delivery: Delivery = pending;
  const tries: Attempt[] = [];
  for (let made = 0; made < times; made++) {
    const settled = build.settle(build.claim(delivery, { schedule, profile: null }), schedule, result);
    delivery = settled.delivery;
    tries.push(settled.attempt);
  }
  return { delivery, tries };
}

test('what waits says what for', () => {
  const { pending } = build.schedule();
  expect(deliveryWords(pending, ALONE)).toBe('It waits for its instant.');
  expect(deliveryWords(pending, { ...ALONE, isHeldBack: true })).toContain('circuit breaker is open');
  expect(deliveryWords({ ...pending, booked: true }, ALONE)).toContain('Its turn is booked');
  expect(deliveryWords(life.pause(pending, build.now), ALONE)).toContain('Resume the schedule');
});

test('a retry says what went wrong, which try follows and how long after', () => {
  const { delivery, tries } = tried(FAILURE, 1);
  expect(deliveryWords(delivery, { ...ALONE, tries })).toBe(
    'example.com answered with 503: it is overloaded or being maintained. It is worth another try. Try 2 of 8 follows 10 s after the last one ended.',
  );
});

test.each([
  ['a redirect', tried(REDIRECT, 1), 'given up at once'],
  ['the last try', tried(FAILURE, 2, 2), 'after all of its 2 tries'],
  ['the only try', tried(FAILURE, 1, 1), 'the only try it had'],
])('a dead letter after %s says why', (_, { delivery, tries }, part) => {
  expect(delivery.status).toBe('dead_letter');
  const words = deliveryWords(delivery, { ...ALONE, tries });
  expect(words).toContain(part);
  expect(words).toContain('It can be replayed');
});

test('one that the retry budget ended says so', () => {
  const { delivery, tries } = tried(FAILURE, 1);
  const ended = life.endUnsent(delivery, 'exhausted', build.now);
  expect(deliveryWords(ended, { ...ALONE, tries })).toContain('retry budget');
});

test('what ended otherwise says how', () => {
  const { pending } = build.schedule({ ttl: '1s' });
  expect(deliveryWords(life.endUnsent(pending, 'expired', build.now), ALONE)).toContain('could not be tried');
  expect(deliveryWords(life.cancel(pending, build.now), { ...ALONE, scheduleState: 'canceled' })).toContain(
    'canceled with its schedule',
  );
  const once = tried(SUCCESS, 1);
  expect(deliveryWords(once.delivery, { ...ALONE, tries: once.tries })).toBe('Delivered with the first try.');
});

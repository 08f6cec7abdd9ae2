import { describe, expect, test } from 'vitest';
import { Builders, scheduleIdOf } from '#test/store-contract/builders.ts';
import type { Delivery } from './delivery.ts';
import { pause, type UnfinishedSweep } from './delivery-lifecycle.ts';
import { NEW_GATE } from './gate.ts';
import { type Instant, instant } from './instant.ts';
import type { Partition } from './project.ts';
import { waitOf } from './wait.ts';

const build = new Builders(1 as Partition);
const NOW = build.now;
const UNLIMITED = { rateLimit: null };
const LIMITED = { rateLimit: { perSecond: 2 } };

function at(ms: number): Instant {
  return instant(NOW + ms);
}

function waiting(changes: Partial<Delivery> = {}): Delivery {
  return { ...build.schedule().pending, scheduledFor: NOW, dueAt: NOW, ...changes };
}

function wait(delivery: Delivery, changes: Partial<Parameters<typeof waitOf>[0]> = {}, now = NOW) {
  return waitOf({ delivery, schedule: UNLIMITED, gate: null, sweep: null, ...changes }, now);
}

function gate(openUntil: Instant, probeUntil: Instant | null = null) {
  return { ...NEW_GATE, breaker: { failures: 5, openUntil, windowMs: 30_000, probeUntil } };
}

test('a delivery whose instant has not come waits for it', () => {
  expect(wait(waiting({ scheduledFor: at(5_000), dueAt: at(5_000) }))).toEqual({
    reason: 'not_due',
    until: at(5_000),
  });
});

test('a retry waits for its backoff', () => {
  expect(wait(waiting({ status: 'retry_scheduled', attemptCount: 1, dueAt: at(10_000) }))).toEqual({
    reason: 'backoff',
    until: at(10_000),
  });
});

test('a delivery that is due waits in the queue', () => {
  expect(wait(waiting(), {}, at(33_000))).toEqual({ reason: 'in_queue', until: null });
});

test('a delivery that waits for nothing has no reason', () => {
  for (const status of ['claimed', 'succeeded', 'dead_letter', 'expired', 'canceled'] as const) {
    expect(wait(waiting({ status, dueAt: null }))).toBeNull();
  }
});

describe('the breaker', () => {
  test('defers what is due within its window', () => {
    const deferred = { reason: 'breaker_open', until: at(30_000) };
    expect(wait(waiting(), { gate: gate(at(30_000)) })).toEqual(deferred);
    expect(wait(waiting({ dueAt: at(30_000) }), { gate: gate(at(30_000)) })).toEqual(deferred);
    const retry = waiting({ status: 'retry_scheduled', attemptCount: 1, dueAt: at(10_000) });
    expect(wait(retry, { gate: gate(at(30_000)) })).toEqual(deferred);
  });

  test('does not concern what is due later', () => {
    const later = waiting({ scheduledFor: at(30_001), dueAt: at(30_001) });
    expect(wait(later, { gate: gate(at(30_000)) })).toMatchObject({ reason: 'not_due' });
  });

  test('defers the others while a probe is in flight', () => {
    const probing = gate(at(-1), at(9_000));
    expect(wait(waiting({ dueAt: at(9_000) }), { gate: probing })).toEqual({
      reason: 'probe_in_flight',
      until: at(9_000),
    });
    expect(wait(waiting(), { gate: gate(at(-1)) })).toMatchObject({ reason: 'in_queue' });
  });
});

describe('a reserved token is', () => {
  const RETRY = { status: 'retry_scheduled', attemptCount: 1 } as const;
  test.for([
    ['of the rate limit for a first attempt', {}, LIMITED, 'rate_limit'],
    ['of the retry budget for a retry without a rate limit', RETRY, UNLIMITED, 'retry_budget'],
    ['of either for a retry with a rate limit', RETRY, LIMITED, 'rate_limit_or_retry_budget'],
  ] as const)('%s', ([, changes, schedule, reason]) => {
    const delivery = waiting({ ...changes, dueAt: at(500), reserved: true });
    expect(wait(delivery, { schedule })).toEqual({ reason, until: at(500) });
  });
});

test('a delivery that a gate deferred before it changed still waits until that instant', () => {
  expect(wait(waiting({ dueAt: at(30_000) }), { gate: NEW_GATE })).toEqual({
    reason: 'deferred',
    until: at(30_000),
  });
});

test('a paused delivery waits for its schedule, and one that an action has not reached yet for the action', () => {
  const delivery = waiting();
  expect(wait(pause(delivery, NOW))).toEqual({ reason: 'schedule_paused', until: null });
  const sweep: UnfinishedSweep = {
    partition: delivery.partition,
    scheduleId: scheduleIdOf(delivery),
    action: 'pause',
    requestedAt: NOW,
    lastId: delivery.id,
  };
  expect(wait(delivery, { sweep })).toEqual({ reason: 'schedule_changing', until: null });
});

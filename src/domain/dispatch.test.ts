import { describe, expect, test } from 'vitest';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import { Builders } from '#test/store-contract/builders.ts';
import { DELIVERY_STATUSES, type Delivery } from './delivery.ts';
import { deadlineOf, FIRST_ATTEMPT_GRACE_MS } from './delivery-lifecycle.ts';
import { decideDispatch } from './dispatch.ts';
import { type Gate, type GateTerms, gateTerms, NEW_GATE, withEvidence } from './gate.ts';
import { type Instant, instant } from './instant.ts';
import type { Partition } from './project.ts';
import { DEFAULT_RETRY_POLICY } from './retry.ts';

const build = new Builders(1 as Partition);
const DUE_AT = instant(build.now + 60_000);
const TERMS = gateTerms(null, null);
const OPENED_FOR_MS = 30_000;

function at(ms: number): Instant {
  return instant(DUE_AT + ms);
}

function firstAttempt(changes: Partial<Delivery> = {}, ttl: string | null = null): Delivery {
  const { pending } = build.schedule({ timing: build.oneShot(60_000), ttl });
  return { ...pending, ...changes };
}

/**
 * Returns a delivery that waits for its second attempt, due at the same instant. Its deadline counts from the first.
 */
function retry(changes: Partial<Delivery> = {}, ttl: string | null = null): Delivery {
  const scheduledFor = instant(DUE_AT - 10_000);
  return firstAttempt({
    status: 'retry_scheduled',
    attemptCount: 1,
    scheduledFor,
    dueAt: DUE_AT,
    deadline: deadlineOf(scheduledFor, ttl),
    ...changes,
  });
}

/** Returns a gate whose breaker opened at that instant, for 30 s. */
function openedAt(now: Instant): Gate {
  let gate = NEW_GATE;
  for (let failures = 0; failures < 5; failures++) {
    gate = withEvidence(gate, TERMS.breaker, 'failure', false, now);
  }
  return gate;
}

describe('a delivery that was read', () => {
  test.for(DELIVERY_STATUSES)('%s: is sent when it waits and is due, and is gone otherwise', (status) => {
    const isWaiting = status === 'scheduled' || status === 'retry_scheduled';
    const { kind } = decideDispatch(firstAttempt({ status }), NEW_GATE, TERMS, DUE_AT);
    expect(kind).toBe(isWaiting ? 'send' : 'gone');
  });

  test('is gone when it has no due instant', () => {
    expect(decideDispatch(firstAttempt({ dueAt: null }), NEW_GATE, TERMS, DUE_AT)).toEqual({ kind: 'gone' });
  });

  test('is not sent before its instant, and the gate is not asked', () => {
    expect(decideDispatch(firstAttempt(), NEW_GATE, TERMS, at(-1))).toEqual({
      kind: 'not_yet',
      dueAt: DUE_AT,
    });
    const never: GateTerms = { ...TERMS, budget: { rate: 0, burst: 0 } };
    expect(decideDispatch(retry(), NEW_GATE, never, at(-1))).toEqual({ kind: 'not_yet', dueAt: DUE_AT });
  });

  test('is sent at its instant', () => {
    expect(decideDispatch(firstAttempt(), NEW_GATE, TERMS, DUE_AT)).toEqual({
      kind: 'send',
      probe: false,
      gate: NEW_GATE,
    });
  });

  test('is sent long after its instant when it has no deadline', () => {
    expect(decideDispatch(firstAttempt(), NEW_GATE, TERMS, at(1e10)).kind).toBe('send');
  });
});

describe('the deadline', () => {
  test.for([
    ['0', FIRST_ATTEMPT_GRACE_MS, 'send'],
    ['0', FIRST_ATTEMPT_GRACE_MS + 1, 'end'],
    ['-1h', FIRST_ATTEMPT_GRACE_MS, 'send'],
    ['-1h', FIRST_ATTEMPT_GRACE_MS + 1, 'end'],
    ['100ms', FIRST_ATTEMPT_GRACE_MS, 'send'],
    ['100ms', FIRST_ATTEMPT_GRACE_MS + 1, 'end'],
    ['5s', 5_000, 'send'],
    ['5s', 5_001, 'end'],
  ] as const)('a first attempt with ttl %s, %i ms after its instant: %s', ([ttl, lateMs, kind]) => {
    const verdict = decideDispatch(firstAttempt({}, ttl), NEW_GATE, TERMS, at(lateMs));
    expect(verdict).toMatchObject(kind === 'end' ? { kind, why: 'expired' } : { kind });
  });

  test.for([
    ['10s', 0, 'send'],
    ['10s', 1, 'end'],
    ['10.3s', 300, 'send'],
    ['10.3s', 301, 'end'],
  ] as const)('a retry is not made after the deadline: ttl %s, %i ms late: %s', ([ttl, lateMs, kind]) => {
    const verdict = decideDispatch(retry({}, ttl), NEW_GATE, TERMS, at(lateMs));
    expect(verdict).toMatchObject(kind === 'end' ? { kind, why: 'expired' } : { kind });
  });

  test('a delivery that would be deferred beyond its deadline expires at once, without a token', () => {
    const opened = openedAt(DUE_AT);
    expect(decideDispatch(firstAttempt({}, '29.999s'), opened, TERMS, DUE_AT)).toEqual({
      kind: 'end',
      why: 'expired',
    });
    expect(decideDispatch(retry({}, '39.999s'), opened, TERMS, DUE_AT)).toEqual({
      kind: 'end',
      why: 'expired',
    });
  });

  test('a delivery that is deferred up to its deadline waits', () => {
    const opened = openedAt(DUE_AT);
    const until = at(OPENED_FOR_MS);
    const expected = { kind: 'defer', until, reserved: false };
    expect(decideDispatch(firstAttempt({}, '30s'), opened, TERMS, DUE_AT)).toMatchObject(expected);
    expect(decideDispatch(retry({}, '40s'), opened, TERMS, DUE_AT)).toMatchObject(expected);
    expect(decideDispatch(firstAttempt(), opened, TERMS, DUE_AT)).toMatchObject(expected);
  });

  test('a first attempt that is deferred by 300 ms at most is made even with a shorter ttl', () => {
    const limited = { ...TERMS, rateLimit: { perSecond: 1_000 / FIRST_ATTEMPT_GRACE_MS } };
    const { gate } = mustSend(firstAttempt(), NEW_GATE, limited, DUE_AT);
    const second = decideDispatch(firstAttempt({}, '0'), gate, limited, DUE_AT);
    expect(second).toMatchObject({ kind: 'defer', until: at(FIRST_ATTEMPT_GRACE_MS), reserved: true });
    const third = decideDispatch(
      firstAttempt({}, '0'),
      second.kind === 'defer' ? second.gate : gate,
      limited,
      DUE_AT,
    );
    expect(third).toEqual({ kind: 'end', why: 'expired' });
  });
});

function mustSend(delivery: Delivery, gate: Gate, terms: GateTerms, now: Instant) {
  const verdict = decideDispatch(delivery, gate, terms, now);
  if (verdict.kind !== 'send') throw new Error(`The verdict is ${verdict.kind}.`);
  return verdict;
}

describe('the attempts', () => {
  const retryPolicy = { ...DEFAULT_RETRY_POLICY, maxAttempts: 3 };

  test('a retry beyond max_attempts, which an edit may have lowered, is not made', () => {
    expect(decideDispatch(retry({ attemptCount: 2, retryPolicy }), NEW_GATE, TERMS, DUE_AT).kind).toBe(
      'send',
    );
    for (const attemptCount of [3, 4]) {
      const verdict = decideDispatch(retry({ attemptCount, retryPolicy }), NEW_GATE, TERMS, DUE_AT);
      expect(verdict).toEqual({ kind: 'end', why: 'exhausted' });
    }
  });

  test('reaching max_attempts counts before the deadline', () => {
    const both = retry({ attemptCount: 3, retryPolicy }, '1s');
    expect(decideDispatch(both, NEW_GATE, TERMS, at(1))).toEqual({ kind: 'end', why: 'exhausted' });
  });

  test('a retry that can never get a token of the budget is exhausted', () => {
    const terms = { ...TERMS, budget: { rate: 0, burst: 0 } };
    expect(decideDispatch(retry(), NEW_GATE, terms, DUE_AT)).toEqual({ kind: 'end', why: 'exhausted' });
    expect(decideDispatch(firstAttempt(), NEW_GATE, terms, DUE_AT).kind).toBe('send');
  });
});

describe('the gate', () => {
  test('defers a delivery and reserves a token where it took one', () => {
    const terms = { ...TERMS, budget: { rate: 2, burst: 0 } };
    const verdict = decideDispatch(retry(), NEW_GATE, terms, DUE_AT);
    expect(verdict).toMatchObject({
      kind: 'defer',
      until: at(500),
      reserved: true,
      gate: { budget: { tokens: -1 } },
    });
  });

  test('reports when the delivery is a probe', () => {
    expect(mustSend(firstAttempt(), openedAt(at(-OPENED_FOR_MS)), TERMS, DUE_AT).probe).toBe(true);
  });
});

describe('the form in which the dispatcher keeps a delivery', () => {
  test.for(DELIVERY_STATUSES)('%s: exists while the delivery waits to be sent', (status) => {
    const delivery = firstAttempt({ status }, '5s');
    const isWaiting = status === 'scheduled' || status === 'retry_scheduled';
    expect(dueDeliveryOf(delivery)).toEqual(
      isWaiting
        ? {
            partition: 1,
            id: delivery.id,
            dueAt: DUE_AT,
            deadline: at(5_000),
            endpoint: 'https://example.com/hook',
            origin: 'https://example.com',
            payloadBytes: 0,
          }
        : null,
    );
  });

  test('does not exist without a due instant', () => {
    expect(dueDeliveryOf(firstAttempt({ dueAt: null }))).toBeNull();
  });
});

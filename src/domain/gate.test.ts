import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Builders } from '#test/store-contract/builders.ts';
import { type Evidence, stateOf } from './breaker.ts';
import type { Delivery } from './delivery.ts';
import { DEFAULT_BREAKER_POLICY, DEFAULT_RETRY_BUDGET } from './endpoint-profile.ts';
import {
  type Admission,
  admit,
  type Gate,
  type GateTerms,
  gateTerms,
  isForgettable,
  NEW_GATE,
  NOTIFICATION_LIMIT,
  RESERVATION_LAPSES_MS,
  withEvidence,
} from './gate.ts';
import { type Instant, instant } from './instant.ts';
import type { Partition } from './project.ts';

const build = new Builders(1 as Partition);
const START = build.now;
const TERMS: GateTerms = {
  breaker: { threshold: 2, baseOpen: '30s', maxOpen: '3m', probeTimeout: '10s' },
  budget: { rate: 10, burst: 2 },
  rateLimit: null,
};
const LIMITED: GateTerms = { ...TERMS, rateLimit: { perSecond: 2 } };

function at(ms: number): Instant {
  return instant(START + ms);
}

/** A delivery due at the start. */
function firstAttempt(changes: Partial<Delivery> = {}): Delivery {
  return { ...build.schedule().pending, scheduledFor: START, dueAt: START, ...changes };
}

function retry(changes: Partial<Delivery> = {}): Delivery {
  return firstAttempt({ status: 'retry_scheduled', attemptCount: 1, ...changes });
}

/** A delivery with a token reserved for `dueAt`. */
function reserved(delivery: Delivery, dueAt: Instant): Delivery {
  return { ...delivery, dueAt, reserved: true };
}

function gateAfter(admission: Admission): Gate {
  if (admission.kind === 'never') throw new Error('A gate that never opens does not change.');
  return admission.gate;
}

/** Admits deliveries one after the other at one instant. Returns the gate after that, and each admission. */
function admitAll(from: Gate, deliveries: readonly Delivery[], terms: GateTerms = TERMS, now = START) {
  let gate = from;
  const admissions = deliveries.map((delivery) => {
    const admission = admit(gate, terms, delivery, now);
    if (admission.kind !== 'never') ({ gate } = admission);
    return admission;
  });
  return { gate, admissions, waits: admissions.map((admission) => waitMs(admission, now)) };
}

function waitMs(admission: Admission, now: Instant): number | 'never' {
  if (admission.kind === 'never') return 'never';
  return admission.kind === 'pass' ? 0 : admission.until - now;
}

function many(count: number, make: () => Delivery): readonly Delivery[] {
  return Array.from({ length: count }, make);
}

function opened(from: Gate = NEW_GATE, now = START): Gate {
  const failed = (gate: Gate) => withEvidence(gate, TERMS.breaker, 'failure', false, now);
  return failed(failed(from));
}

describe('the policies of a gate', () => {
  test('are the defaults for an inline destination', () => {
    expect(gateTerms(null, null)).toEqual({
      breaker: DEFAULT_BREAKER_POLICY,
      budget: DEFAULT_RETRY_BUDGET,
      rateLimit: null,
    });
    expect(DEFAULT_RETRY_BUDGET).toEqual({ rate: 10, burst: 100 });
  });

  test("are the profile's where the profile has them", () => {
    const profile = build.profile({ breakerPolicy: TERMS.breaker, retryBudget: TERMS.budget });
    expect(gateTerms(profile, null)).toEqual(TERMS);
    expect(gateTerms(build.profile(), null)).toEqual(gateTerms(null, null));
  });

  test("include the rate limit of the schedule, never the profile's, and 0 means no limit", () => {
    const profile = build.profile({ rateLimit: { perSecond: 1 } });
    expect(gateTerms(profile, null).rateLimit).toBeNull();
    expect(gateTerms(profile, { perSecond: 7 }).rateLimit).toEqual({ perSecond: 7 });
    expect(gateTerms(profile, { perSecond: 0 }).rateLimit).toBeNull();
  });
});

describe('the retry budget', () => {
  test('first attempts need no token', () => {
    const { gate, waits } = admitAll(NEW_GATE, many(50, firstAttempt));
    expect(waits).toEqual(waits.map(() => 0));
    expect(gate).toBe(NEW_GATE);
  });

  test('a retry without a token waits for the next one, which is reserved for it', () => {
    const { admissions } = admitAll(NEW_GATE, many(4, retry));
    expect(admissions).toMatchObject([
      { kind: 'pass' },
      { kind: 'pass' },
      { kind: 'wait', until: at(100), reserved: true },
      { kind: 'wait', until: at(200), reserved: true },
    ]);
  });

  test('a retry is never made when no token can ever come', () => {
    const terms = { ...TERMS, budget: { rate: 0, burst: 1 } };
    const { admissions } = admitAll(NEW_GATE, [retry(), retry(), firstAttempt()], terms);
    expect(admissions).toMatchObject([{ kind: 'pass' }, { kind: 'never' }, { kind: 'pass' }]);
  });
});

describe('a reserved token', () => {
  const spent = admitAll(NEW_GATE, many(3, retry)).gate;

  test.for([0, 1, RESERVATION_LAPSES_MS])(
    'passes without a second token %i ms after its instant',
    (lateMs) => {
      const admission = admit(spent, TERMS, reserved(retry(), at(100)), at(100 + lateMs));
      expect(admission).toMatchObject({ kind: 'pass', probe: false });
      expect(gateAfter(admission)).toBe(spent);
    },
  );

  test('passes without a second token of the rate limit', () => {
    const { gate } = admitAll(NEW_GATE, many(2, firstAttempt), LIMITED);
    const admission = admit(gate, LIMITED, reserved(firstAttempt(), at(500)), at(500));
    expect(admission.kind).toBe('pass');
    expect(gateAfter(admission)).toBe(gate);
  });

  test('lapses when it is missed by more than 300 ms; then the delivery takes another token', () => {
    const { gate } = admitAll(NEW_GATE, many(8, retry));
    const admission = admit(gate, TERMS, reserved(retry(), at(100)), at(401));
    expect(admission).toMatchObject({ kind: 'wait', until: at(700), reserved: true });
  });

  test('lapses after a downtime, so that there is no burst', () => {
    const { gate } = admitAll(NEW_GATE, many(20, firstAttempt), LIMITED);
    const late = many(4, () => reserved(firstAttempt(), at(5_000)));
    expect(admitAll(gate, late, LIMITED, at(3_600_000)).waits).toEqual([0, 500, 1_000, 1_500]);
  });

  test('does not pass an open breaker, and is no longer reserved', () => {
    const admission = admit(opened(spent), TERMS, reserved(retry(), START), START);
    expect(admission).toMatchObject({ kind: 'wait', until: at(30_000), reserved: false });
  });
});

describe('the rate limit', () => {
  test('limits first attempts and retries alike, and reserves their tokens', () => {
    const { admissions, waits } = admitAll(
      NEW_GATE,
      [firstAttempt(), retry(), firstAttempt(), retry()],
      LIMITED,
    );
    expect(waits).toEqual([0, 500, 1_000, 1_500]);
    expect(admissions.slice(1)).toMatchObject([{ reserved: true }, { reserved: true }, { reserved: true }]);
  });

  test('a retry waits for the later of its two tokens', () => {
    const terms = { ...LIMITED, budget: { rate: 1, burst: 1 } };
    expect(admitAll(NEW_GATE, many(3, retry), terms).waits).toEqual([0, 1_000, 2_000]);
    const quick = { ...LIMITED, budget: { rate: 100, burst: 1 } };
    expect(admitAll(NEW_GATE, many(3, retry), quick).waits).toEqual([0, 500, 1_000]);
  });

  test('counts from the instant at which a retry is sent, not from when it asked', () => {
    const terms = { ...LIMITED, budget: { rate: 1, burst: 0 } };
    expect(admitAll(NEW_GATE, [retry(), firstAttempt()], terms).waits).toEqual([1_000, 1_500]);
  });

  test('of notifications is not used up until a retry has its budget', () => {
    const terms = { ...TERMS, budget: { rate: 0.01, burst: 0 }, rateLimit: NOTIFICATION_LIMIT };
    expect(admitAll(NEW_GATE, [retry(), firstAttempt(), firstAttempt()], terms).waits).toEqual([
      100_000, 20, 40,
    ]);
  });

  test('is shared by schedules with the same limit; schedules with another limit or none are not delayed', () => {
    const slow: GateTerms = { ...TERMS, rateLimit: { perSecond: 1 } };
    const first = admit(NEW_GATE, slow, firstAttempt(), START);
    const second = admit(gateAfter(first), LIMITED, firstAttempt(), START);
    const third = admit(gateAfter(second), slow, firstAttempt(), START);
    const unlimited = admit(gateAfter(third), TERMS, firstAttempt(), START);
    const waits = [first, second, third, unlimited].map((admission) => waitMs(admission, START));
    expect(waits).toEqual([0, 0, 1_000, 0]);
  });

  test('is never exceeded by reserved and new tokens together', () => {
    const arrivals = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 900 }), isRetry: fc.boolean() }), {
      minLength: 2,
      maxLength: 40,
      size: 'max',
    });
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 20 }), (given, perSecond) => {
        const terms: GateTerms = { ...TERMS, rateLimit: { perSecond }, budget: { rate: 5, burst: 3 } };
        let gate = NEW_GATE;
        let now = START;
        const waiting = given.map(({ ms, isRetry }) => {
          now = instant(now + ms);
          return isRetry ? retry({ dueAt: now }) : firstAttempt({ dueAt: now });
        });
        const passedAt: number[] = [];
        let retriesPassed = 0;
        while (waiting.length > 0) {
          waiting.sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0));
          const delivery = waiting.shift() ?? firstAttempt();
          const dueAt = delivery.dueAt ?? START;
          const admission = admit(gate, terms, delivery, dueAt);
          gate = gateAfter(admission);
          if (admission.kind === 'wait') {
            // A reserved delivery passes, so no delivery waits twice.
            expect(delivery.reserved).toBe(false);
            waiting.push({ ...delivery, dueAt: admission.until, reserved: admission.reserved });
          } else {
            passedAt.push(dueAt);
            retriesPassed += delivery.attemptCount;
          }
        }
        expect(passedAt).toHaveLength(given.length);
        passedAt.sort((a, b) => a - b);
        for (let index = 1; index < passedAt.length; index++) {
          const gapMs = (passedAt[index] ?? 0) - (passedAt[0] ?? 0);
          expect(index).toBeLessThanOrEqual((perSecond * (gapMs + 1)) / 1_000 + 1e-6);
        }
        expect(retriesPassed).toBe(given.filter(({ isRetry }) => isRetry).length);
      }),
    );
  });
});

describe('the breaker is asked first', () => {
  test('while it is open, no token is taken, and deliveries have to ask again', () => {
    const gate = opened();
    for (const delivery of [firstAttempt(), retry()]) {
      const admission = admit(gate, LIMITED, delivery, at(1));
      expect(admission).toEqual({ kind: 'wait', until: at(30_000), reserved: false, gate });
      expect(gateAfter(admission)).toBe(gate);
    }
  });

  test('while it is open, even a retry that can never get a token waits', () => {
    const terms = { ...TERMS, budget: { rate: 0, burst: 0 } };
    expect(admit(opened(), terms, retry(), START).kind).toBe('wait');
  });

  test('the probe takes its tokens like any other delivery', () => {
    const { admissions } = admitAll(opened(), [retry(), retry()], LIMITED, at(30_000));
    expect(admissions).toMatchObject([
      { kind: 'pass', probe: true },
      { kind: 'wait', until: at(40_000), reserved: false },
    ]);
    expect(gateAfter(admissions[0] ?? { kind: 'never' })).toMatchObject({
      budget: { tokens: 1 },
      rateLimiters: { 2: { freeAt: at(30_500) } },
    });
  });

  test('a probe that has to wait for its token is not sent, and another one may be the probe', () => {
    const spent = admitAll(NEW_GATE, many(3, retry), TERMS, at(29_990)).gate;
    const { admissions } = admitAll(opened(spent), [retry(), firstAttempt()], TERMS, at(30_000));
    expect(admissions).toMatchObject([
      { kind: 'wait', reserved: true },
      { kind: 'pass', probe: true },
    ]);
  });
});

describe('the evidence of an attempt', () => {
  test('failures open the breaker, a success closes it; tokens stay as they are', () => {
    const { gate } = admitAll(NEW_GATE, many(2, retry), LIMITED);
    const broken = opened(gate);
    expect(stateOf(broken.breaker, START)).toBe('open');
    expect(broken).toMatchObject({ budget: gate.budget, rateLimiters: gate.rateLimiters });
    const mended = withEvidence(broken, TERMS.breaker, 'success', true, at(30_000));
    expect(stateOf(mended.breaker, START)).toBe('closed');
  });

  test.for<Evidence>(['success', 'nothing'])(
    '%s leaves the same gate object when there were no failures',
    (evidence) => {
      expect(withEvidence(NEW_GATE, TERMS.breaker, evidence, false, START)).toBe(NEW_GATE);
      const { gate } = admitAll(NEW_GATE, [retry()]);
      expect(withEvidence(gate, TERMS.breaker, evidence, false, START)).toBe(gate);
    },
  );
});

describe('a gate can be dropped', () => {
  test('when its breaker is closed, its budget full and its rate limiters free', () => {
    expect(isForgettable(NEW_GATE, START)).toBe(true);
    const { gate } = admitAll(NEW_GATE, [retry()], LIMITED);
    expect(isForgettable(gate, at(99))).toBe(false);
    expect(isForgettable(gate, at(499))).toBe(false);
    expect(isForgettable(gate, at(500))).toBe(true);
  });

  test('not after a failure, and not while the breaker is `open` or `half_open`', () => {
    expect(isForgettable(withEvidence(NEW_GATE, TERMS.breaker, 'failure', false, START), at(1e9))).toBe(
      false,
    );
    expect(isForgettable(opened(), START)).toBe(false);
    expect(isForgettable(opened(), at(1e9))).toBe(false);
  });

  test('not when a budget without refill has been used', () => {
    const terms = { ...TERMS, budget: { rate: 0, burst: 2 } };
    const { gate } = admitAll(NEW_GATE, [retry()], terms);
    expect(isForgettable(gate, at(1e12))).toBe(false);
  });

  test('because a new one decides exactly the same', () => {
    const happenings = fc.array(
      fc.record({
        ms: fc.integer({ min: 0, max: 2_000 }),
        what: fc.constantFrom<('firstAttempt' | 'retry' | Evidence)[]>(
          'firstAttempt',
          'retry',
          'retry',
          'failure',
          'success',
        ),
      }),
      { maxLength: 25, size: 'max' },
    );
    fc.assert(
      fc.property(happenings, (given) => {
        let gate = NEW_GATE;
        let now = START;
        for (const { ms, what } of given) {
          now = instant(now + ms);
          if (isForgettable(gate, now)) {
            const next = [...many(6, retry), ...many(3, firstAttempt)];
            expect(admitAll(gate, next, LIMITED, now).waits).toEqual(
              admitAll(NEW_GATE, next, LIMITED, now).waits,
            );
          }
          gate =
            what === 'firstAttempt' || what === 'retry'
              ? admitAll(gate, [what === 'retry' ? retry() : firstAttempt()], LIMITED, now).gate
              : withEvidence(gate, TERMS.breaker, what, false, now);
        }
      }),
    );
  });
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Breaker,
  CLOSED,
  countsAfterReset,
  type Evidence,
  isAgainstEndpoint,
  recordEvidence,
  requestPass,
  reset,
  stateOf,
} from './breaker.ts';
import { type BreakerPolicy, DEFAULT_BREAKER_POLICY } from './endpoint-profile.ts';
import { type Instant, instant } from './instant.ts';

const START = instant(Date.UTC(2026, 10, 15, 8));
const POLICY: BreakerPolicy = { threshold: 3, baseOpen: '30s', maxOpen: '3m', probeTimeout: '10s' };
const BASE_MS = 30_000;
const MAX_MS = 180_000;
const PROBE_MS = 10_000;

function at(ms: number): Instant {
  return instant(START + ms);
}

/** Records the evidence of attempts that were not probes, one after the other, at one instant. */
function withEvidence(
  before: Breaker,
  evidences: readonly Evidence[],
  now = START,
  policy = POLICY,
): Breaker {
  return evidences.reduce(
    (breaker, evidence) => recordEvidence(breaker, policy, evidence, false, now),
    before,
  );
}

function failures(count: number): readonly Evidence[] {
  return Array.from({ length: count }, () => 'failure');
}

const OPENED = withEvidence(CLOSED, failures(3));

/** Returns the breaker after its window, with a probe in flight. */
function withProbe(breaker: Breaker, now: Instant, policy = POLICY): Breaker {
  const passage = requestPass(breaker, policy, now);
  expect(passage).toMatchObject({ kind: 'pass', probe: true });
  return passage.breaker;
}

/** Returns the breaker after a probe that was sent at the end of the window and failed at once. */
function probeFailed(breaker: Breaker, policy = POLICY): { readonly breaker: Breaker; readonly at: Instant } {
  const now = breaker.openUntil ?? START;
  return { breaker: recordEvidence(withProbe(breaker, now, policy), policy, 'failure', true, now), at: now };
}

describe('a closed breaker', () => {
  test('lets everything pass, never as a probe', () => {
    expect(requestPass(CLOSED, POLICY, START)).toEqual({ kind: 'pass', probe: false, breaker: CLOSED });
    const failing = withEvidence(CLOSED, failures(2));
    expect(requestPass(failing, POLICY, START)).toEqual({ kind: 'pass', probe: false, breaker: failing });
  });

  test.for([1, 2, 5, 1_000])('is opened by %i failures in a row, not by one fewer', (threshold) => {
    const policy = { ...POLICY, threshold };
    const almost = withEvidence(CLOSED, failures(threshold - 1), START, policy);
    expect(stateOf(almost, START)).toBe('closed');
    expect(stateOf(withEvidence(almost, ['failure'], START, policy), START)).toBe('open');
  });

  test('is opened by default after 5 failures, for 30 s', () => {
    const almost = withEvidence(CLOSED, failures(4), START, DEFAULT_BREAKER_POLICY);
    expect(stateOf(almost, START)).toBe('closed');
    const opened = withEvidence(almost, ['failure'], START, DEFAULT_BREAKER_POLICY);
    expect(opened.openUntil).toBe(at(30_000));
  });

  test('counts from zero after a success', () => {
    const almost = withEvidence(CLOSED, ['failure', 'failure', 'success', 'failure', 'failure']);
    expect(stateOf(almost, START)).toBe('closed');
    expect(stateOf(withEvidence(almost, ['failure']), START)).toBe('open');
  });

  test('ignores attempts that say nothing about the destination', () => {
    const almost = withEvidence(CLOSED, ['failure', 'nothing', 'failure', 'nothing', 'nothing']);
    expect(stateOf(almost, START)).toBe('closed');
    expect(stateOf(withEvidence(almost, ['failure']), START)).toBe('open');
  });

  test('opens exactly when the last threshold attempts with evidence were failures', () => {
    const attempts = fc.array(fc.constantFrom<Evidence>('success', 'failure', 'nothing'), {
      maxLength: 60,
      size: 'max',
    });
    fc.assert(
      fc.property(attempts, fc.integer({ min: 1, max: 6 }), (evidences, threshold) => {
        const policy = { ...POLICY, threshold };
        let breaker = CLOSED;
        let inARow = 0;
        for (const evidence of evidences) {
          breaker = recordEvidence(breaker, policy, evidence, false, START);
          if (evidence !== 'nothing') inARow = evidence === 'failure' ? inARow + 1 : 0;
          expect(stateOf(breaker, START)).toBe(inARow >= threshold ? 'open' : 'closed');
          if (inARow >= threshold) return;
        }
      }),
    );
  });

  test('stays the same object when nothing changes', () => {
    expect(recordEvidence(CLOSED, POLICY, 'success', false, START)).toBe(CLOSED);
    expect(recordEvidence(CLOSED, POLICY, 'nothing', false, START)).toBe(CLOSED);
    expect(requestPass(CLOSED, POLICY, START).breaker).toBe(CLOSED);
  });
});

describe('an open breaker', () => {
  test('defers everything to the end of the window', () => {
    for (const now of [START, at(1), at(BASE_MS - 1)]) {
      expect(stateOf(OPENED, now)).toBe('open');
      expect(requestPass(OPENED, POLICY, now)).toEqual({ kind: 'wait', until: at(BASE_MS), breaker: OPENED });
    }
  });

  test('ignores a failure of an attempt that was sent before it opened', () => {
    for (const evidence of ['failure', 'nothing'] as const) {
      expect(recordEvidence(OPENED, POLICY, evidence, false, at(1_000))).toBe(OPENED);
    }
  });

  test('is closed by a success, also of an attempt that was sent before it opened', () => {
    expect(recordEvidence(OPENED, POLICY, 'success', false, at(1_000))).toEqual(CLOSED);
  });

  test('is never open longer than max_open, even if base_open is longer', () => {
    const policy = { ...POLICY, baseOpen: '1h', maxOpen: '1m' };
    expect(withEvidence(CLOSED, failures(3), START, policy).openUntil).toBe(at(60_000));
  });
});

describe('when the window is over', () => {
  test('one probe passes, exactly at its end', () => {
    expect(requestPass(OPENED, POLICY, at(BASE_MS - 1)).kind).toBe('wait');
    expect(stateOf(OPENED, at(BASE_MS))).toBe('half_open');
    expect(requestPass(OPENED, POLICY, at(BASE_MS))).toMatchObject({ kind: 'pass', probe: true });
  });

  test('the others wait for the probe, up to probe_timeout; then another one is the probe', () => {
    const sentAt = BASE_MS + 5;
    const out = withProbe(OPENED, at(sentAt));
    for (const ms of [0, 1, PROBE_MS - 1]) {
      const passage = requestPass(out, POLICY, at(sentAt + ms));
      expect(passage).toEqual({ kind: 'wait', until: at(sentAt + PROBE_MS), breaker: out });
    }
    const next = withProbe(out, at(sentAt + PROBE_MS));
    expect(requestPass(next, POLICY, at(sentAt + PROBE_MS))).toMatchObject({
      until: at(sentAt + 2 * PROBE_MS),
    });
  });

  test('a failed probe opens it for twice the window, up to max_open', () => {
    const windows: number[] = [];
    for (let breaker = OPENED; windows.length < 5; ) {
      const failed = probeFailed(breaker);
      windows.push((failed.breaker.openUntil ?? 0) - failed.at);
      breaker = failed.breaker;
    }
    expect(windows).toEqual([2 * BASE_MS, 4 * BASE_MS, MAX_MS, MAX_MS, MAX_MS]);
  });

  test('by default the window grows from 30 s to 1 h', () => {
    const windows: number[] = [];
    let breaker = withEvidence(CLOSED, failures(5), START, DEFAULT_BREAKER_POLICY);
    for (let now = START; windows.length < 9; ) {
      windows.push(((breaker.openUntil ?? 0) - now) / 1_000);
      ({ breaker, at: now } = probeFailed(breaker, DEFAULT_BREAKER_POLICY));
    }
    expect(windows).toEqual([30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
  });

  test('the doubled window begins with the result of the probe, not with its start', () => {
    const out = withProbe(OPENED, at(BASE_MS));
    const reopened = recordEvidence(out, POLICY, 'failure', true, at(BASE_MS + 7_000));
    expect(reopened.openUntil).toBe(at(BASE_MS + 7_000 + 2 * BASE_MS));
    expect(reopened.probeUntil).toBeNull();
  });

  test('a successful probe closes it, and the next window is base_open again', () => {
    const grown = probeFailed(probeFailed(OPENED).breaker).breaker;
    const now = grown.openUntil ?? START;
    const closed = recordEvidence(withProbe(grown, now), POLICY, 'success', true, now);
    expect(closed).toEqual(CLOSED);
    expect(withEvidence(closed, failures(3), now).openUntil).toBe(now + BASE_MS);
  });

  test('a probe without evidence lets the next one pass at once, with the same window', () => {
    const out = withProbe(OPENED, at(BASE_MS));
    const inconclusive = recordEvidence(out, POLICY, 'nothing', true, at(BASE_MS + 1));
    expect(stateOf(inconclusive, at(BASE_MS + 1))).toBe('half_open');
    const next = withProbe(inconclusive, at(BASE_MS + 1));
    const reopened = recordEvidence(next, POLICY, 'failure', true, at(BASE_MS + 2));
    expect(reopened.openUntil).toBe(at(BASE_MS + 2 + 2 * BASE_MS));
  });

  test('a failure of an attempt that was sent before it opened does not end the wait for the probe', () => {
    const out = withProbe(OPENED, at(BASE_MS));
    for (const evidence of ['failure', 'nothing'] as const) {
      expect(recordEvidence(out, POLICY, evidence, false, at(BASE_MS + 1))).toBe(out);
    }
  });

  test('a probe that fails after probe_timeout still doubles the window', () => {
    const first = withProbe(OPENED, at(BASE_MS));
    const second = withProbe(first, at(BASE_MS + PROBE_MS));
    const late = recordEvidence(second, POLICY, 'failure', true, at(BASE_MS + PROBE_MS + 1));
    expect(late.openUntil).toBe(at(BASE_MS + PROBE_MS + 1 + 2 * BASE_MS));
  });

  test('a probe_timeout below a millisecond still lets one probe pass at a time', () => {
    const policy = { ...POLICY, probeTimeout: '500us' };
    const out = withProbe(OPENED, at(BASE_MS), policy);
    expect(requestPass(out, policy, at(BASE_MS)).kind).toBe('wait');
  });

  test('a base_open below a millisecond still doubles at each failed probe', () => {
    const policy = { ...POLICY, baseOpen: '500us' };
    let breaker = withEvidence(CLOSED, failures(3), START, policy);
    for (let probes = 0; probes < 10; probes++) ({ breaker } = probeFailed(breaker, policy));
    expect(breaker.windowMs).toBeGreaterThanOrEqual(512);
  });
});

describe('a clock that is set back', () => {
  const HOUR_MS = 3_600_000;

  test('does not lengthen the window', () => {
    const passage = requestPass(OPENED, POLICY, at(-HOUR_MS));
    expect(passage).toMatchObject({ kind: 'wait', until: at(-HOUR_MS + BASE_MS) });
    expect(requestPass(passage.breaker, POLICY, at(-HOUR_MS + BASE_MS))).toMatchObject({
      kind: 'pass',
      probe: true,
    });
  });

  test('does not lengthen the wait for a probe', () => {
    const out = withProbe(OPENED, at(BASE_MS));
    const early = requestPass(out, POLICY, at(-HOUR_MS));
    const opened = requestPass(early.breaker, POLICY, at(-HOUR_MS + BASE_MS));
    expect([early.kind, opened]).toMatchObject(['wait', { kind: 'pass', probe: true }]);

    const grown = withProbe({ ...OPENED, openUntil: at(-2 * HOUR_MS) }, at(0));
    expect(requestPass(grown, POLICY, at(-HOUR_MS))).toMatchObject({
      kind: 'wait',
      until: at(-HOUR_MS + PROBE_MS),
    });
  });

  test('changes nothing while the ends are within their windows', () => {
    const passage = requestPass(OPENED, POLICY, START);
    expect(passage.breaker).toBe(OPENED);
  });
});

describe('with any sequence of events', () => {
  interface Step {
    readonly kind: 'ask' | Evidence;
    readonly late: boolean;
    readonly ms: number;
  }
  const steps: fc.Arbitrary<readonly Step[]> = fc.array(
    fc.record({
      kind: fc.constantFrom<Step['kind'][]>('ask', 'ask', 'failure', 'failure', 'success', 'nothing'),
      late: fc.boolean(),
      ms: fc.oneof(
        fc.integer({ min: 0, max: 2_000 }),
        fc.integer({ min: 0, max: 400_000 }),
        fc.integer({ min: -4_000_000, max: 0 }),
      ),
    }),
    { maxLength: 80, size: 'max' },
  );

  test('no wait exceeds the longest window, and there is one probe at a time', () => {
    fc.assert(
      fc.property(steps, (given) => {
        let breaker = CLOSED;
        let now = START;
        let probeOutSince: Instant | null = null;
        for (const { kind, late, ms } of given) {
          now = instant(now + ms);
          // After the clock was set back it is not known how long the probe is in flight.
          if (probeOutSince !== null && now < probeOutSince) probeOutSince = null;
          if (kind !== 'ask') {
            breaker = recordEvidence(breaker, POLICY, kind, !late, now);
            if (!late || kind === 'success') probeOutSince = null;
            expect(breaker.windowMs).toBeLessThanOrEqual(MAX_MS);
            continue;
          }
          const passage = requestPass(breaker, POLICY, now);
          if (passage.kind === 'wait') {
            expect(passage.until).toBeGreaterThan(now);
            expect(passage.until).toBeLessThanOrEqual(now + Math.max(passage.breaker.windowMs, PROBE_MS));
          } else if (passage.probe) {
            if (probeOutSince !== null) expect(now).toBeGreaterThanOrEqual(probeOutSince + PROBE_MS);
            probeOutSince = now;
          }
          breaker = passage.breaker;
        }
      }),
      { numRuns: 500 },
    );
  });

  test('asking again at the given time leads to a probe in the end', () => {
    fc.assert(
      fc.property(steps, (given) => {
        let breaker = CLOSED;
        let now = START;
        for (const { kind, late, ms } of given) {
          now = instant(now + ms);
          breaker =
            kind === 'ask'
              ? requestPass(breaker, POLICY, now).breaker
              : recordEvidence(breaker, POLICY, kind, !late, now);
        }
        let passage = requestPass(breaker, POLICY, now);
        for (let waits = 0; passage.kind === 'wait' && waits < 2; waits++) {
          passage = requestPass(passage.breaker, POLICY, passage.until);
        }
        expect(passage.kind).toBe('pass');
      }),
    );
  });
});

test.each<Evidence>(['success', 'failure', 'nothing'])(
  'the evidence %j is against the endpoint exactly if it changes a new breaker',
  (evidence) => {
    const after = recordEvidence(CLOSED, POLICY, evidence, false, START);
    expect(isAgainstEndpoint(evidence)).toBe(after !== CLOSED);
  },
);

describe('a breaker that a person reset', () => {
  test('has forgotten all failures', () => {
    const halfOpen = { failures: 7, openUntil: instant(5), windowMs: 60_000, probeUntil: instant(9) };
    expect(reset(halfOpen)).toEqual(CLOSED);
    expect(reset({ ...CLOSED, failures: 2 })).toEqual(CLOSED);
  });

  test('stays the same object when it had no failures', () => {
    expect(reset(CLOSED)).toBe(CLOSED);
  });

  test.each([
    ['before', 9, 20, false],
    ['at that instant', 10, 20, false],
    ['after', 11, 20, true],
    ['before, by a clock that was set back since', 3, 5, true],
  ] as const)('a failure of an attempt that was sent %s: does it count?', (_, firedAt, now, expected) => {
    expect(countsAfterReset(instant(firedAt), instant(10), instant(now))).toBe(expected);
  });
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instant } from './instant.ts';
import { backoffMs, DEFAULT_RETRY_POLICY, RETRY_BOUNDS, type RetryPolicy, retryDueAt } from './retry.ts';

const HOUR_MS = 3_600_000;

function policy(changes: Partial<RetryPolicy>): RetryPolicy {
  return { ...DEFAULT_RETRY_POLICY, ...changes };
}

test('the defaults and bounds are those of the specification', () => {
  expect(DEFAULT_RETRY_POLICY).toEqual({
    maxAttempts: 8,
    strategy: 'exponential',
    base: '5s',
    factor: 2,
    max: '1h',
    jitter: true,
  });
  expect(RETRY_BOUNDS).toEqual({
    maxAttempts: { min: 1, max: 50 },
    baseMs: { min: 0, max: 24 * HOUR_MS },
    factor: { min: 1, max: 100 },
    maxMs: { min: 0, max: 168 * HOUR_MS },
  });
});

describe('the wait after attempt n is base x factor^n, at most max', () => {
  test.for([
    ['the defaults', {}, [10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000]],
    ['a cap', { max: '30s' }, [10_000, 20_000, 30_000, 30_000]],
    ['a factor of 1', { factor: 1 }, [5_000, 5_000, 5_000]],
    ['a fractional factor', { base: '1s', factor: 1.5 }, [1_500, 2_250, 3_375]],
    ['no base', { base: '0' }, [0, 0, 0]],
    ['no base and the largest factor', { base: '0s', factor: 100 }, [0, 0, 0]],
    ['no max', { max: '0' }, [0, 0, 0]],
    ['the largest base and factor', { base: '24h', factor: 100, max: '168h' }, [604_800_000, 604_800_000]],
    ['a base below a millisecond', { base: '500us', factor: 100 }, [50, 5_000, 500_000]],
    ['a base between milliseconds', { base: '1.5ms', factor: 2 }, [3, 6, 12]],
  ] as const)('%s', ([, changes, waits]) => {
    expect(waits.map((_, index) => backoffMs(policy(changes), index + 1))).toEqual(waits);
  });

  test('and counts from the end of the attempt', () => {
    expect(retryDueAt(DEFAULT_RETRY_POLICY, 3, instant(1_000_007))).toBe(1_040_007);
  });

  test('for any policy within the bounds it is a whole number of milliseconds that never decreases', () => {
    const policies = fc.record({
      base: fc.integer({ min: 0, max: RETRY_BOUNDS.baseMs.max }).map((ms) => `${ms}ms`),
      factor: fc.double({ min: 1, max: 100, noNaN: true }),
      max: fc.integer({ min: 0, max: RETRY_BOUNDS.maxMs.max }).map((ms) => `${ms}ms`),
    });
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 50 }), (changes, attemptNo) => {
        const wait = backoffMs(policy(changes), attemptNo);
        const grown = Number.parseInt(changes.base, 10) * changes.factor ** attemptNo;
        expect(Number.isInteger(wait)).toBe(true);
        expect(wait).toBe(Math.min(Number.parseInt(changes.max, 10), Math.floor(grown)));
        expect(backoffMs(policy(changes), attemptNo + 1)).toBeGreaterThanOrEqual(wait);
      }),
      { numRuns: 2_000, seed: 1 },
    );
  });

  test('with or without jitter', () => {
    expect(backoffMs(policy({ jitter: true }), 4)).toBe(backoffMs(policy({ jitter: false }), 4));
  });
});

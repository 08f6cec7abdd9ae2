import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatInstant, type Instant, instant } from './instant.ts';
import { isFree, type RateLimiter, takeToken } from './rate-limiter.ts';

const START = instant(Date.UTC(2026, 10, 15, 8));

function at(ms: number): Instant {
  return instant(START + ms);
}

/** Takes tokens at one instant. Returns the limiter after that, and how long each token has to wait. */
function takeTokens(count: number, perSecond: number, now = START, from: RateLimiter | null = null) {
  let limiter = from;
  const waits: number[] = [];
  for (let taken = 0; taken < count; taken++) {
    const next = takeToken(limiter, perSecond, now);
    waits.push(next.readyAt - now);
    ({ limiter } = next);
  }
  return { limiter, waits };
}

describe('a rate limiter', () => {
  test('gives the first token at once and the others at its rate', () => {
    expect(takeTokens(4, 10).waits).toEqual([0, 100, 200, 300]);
    expect(takeTokens(3, 0.5).waits).toEqual([0, 2_000, 4_000]);
  });

  test('rounds the wait for each token up, and the rounding does not add up', () => {
    expect(takeTokens(7, 3).waits).toEqual([0, 334, 667, 1_000, 1_334, 1_667, 2_000]);
    expect(takeTokens(6, 4_000).waits).toEqual([0, 1, 1, 1, 1, 2]);
  });

  test('has no burst: after a pause it gives one token at once', () => {
    const { limiter } = takeTokens(2, 10);
    expect(takeTokens(3, 10, at(3_600_000), limiter).waits).toEqual([0, 100, 200]);
  });

  test('a token that is taken early has to wait', () => {
    const { limiter } = takeTokens(1, 10);
    expect(takeTokens(1, 10, at(40), limiter).waits).toEqual([60]);
    expect(takeTokens(1, 10, at(100), limiter).waits).toEqual([0]);
  });

  test('is shared by several rates: each token delays the next one by its own rate', () => {
    const { limiter } = takeTokens(1, 1);
    const { limiter: after, waits } = takeTokens(1, 100, START, limiter);
    expect(waits).toEqual([1_000]);
    expect(takeTokens(1, 1, START, after).waits).toEqual([1_010]);
  });

  test('a clock that is set back leaves reserved tokens as far ahead as they were', () => {
    const { limiter } = takeTokens(3, 1);
    expect(takeTokens(2, 1, at(-3_600_000), limiter).waits).toEqual([3_000, 4_000]);
    expect(isFree(limiter, at(-3_600_000))).toBe(false);
  });

  test('is free when the next token may be used at once', () => {
    expect(isFree(null, START)).toBe(true);
    const { limiter } = takeTokens(2, 10);
    expect(isFree(limiter, at(199))).toBe(false);
    expect(isFree(limiter, at(200))).toBe(true);
    expect(takeTokens(5, 10, at(200), limiter).waits).toEqual(takeTokens(5, 10, at(200), null).waits);
  });
});

const rates = fc.oneof(
  fc.constantFrom(0.1, 1, 3, 10, 7_000),
  fc.double({ min: 0.01, max: 5_000, noNaN: true }),
);
const moments = fc.array(
  fc.record({
    ms: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 5_000 })),
    setBackMs: fc.oneof(
      { weight: 9, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 100_000 }) },
    ),
  }),
  { minLength: 2, maxLength: 60, size: 'max' },
);

describe('tokens taken at any instants', () => {
  test('are never more than 1 + rate × t in t seconds', () => {
    fc.assert(
      fc.property(rates, moments, (perSecond, given) => {
        let limiter: RateLimiter | null = null;
        let elapsedMs = 0;
        let clockMs: number = START;
        const taken: number[] = [];
        for (const { ms, setBackMs } of given) {
          elapsedMs += ms;
          clockMs += ms - setBackMs;
          const next = takeToken(limiter, perSecond, instant(clockMs));
          ({ limiter } = next);
          taken.push(elapsedMs + next.readyAt - clockMs);
        }
        let tooSoonMs = 0;
        for (const [first, from] of taken.entries()) {
          for (let last = first + 1; last < taken.length; last++) {
            const ms = (taken[last] ?? 0) - from;
            tooSoonMs = Math.max(tooSoonMs, ((last - first) * 1_000) / perSecond - ms);
          }
        }
        // Each instant is rounded up to a whole millisecond.
        expect(tooSoonMs).toBeLessThan(1 + 1e-3);
      }),
    );
  });

  test('have instants that can be written, at every rate', () => {
    const extremes = fc.oneof(
      fc.constantFrom(Number.MIN_VALUE, 1e-300, 1e-9, 1e9, 1e300, Number.MAX_VALUE),
      fc.double({ min: Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true }),
    );
    fc.assert(
      fc.property(extremes, moments, (perSecond, given) => {
        let limiter: RateLimiter | null = null;
        let now = START;
        for (const { ms } of given) {
          now = instant(now + ms);
          const next = takeToken(limiter, perSecond, now);
          ({ limiter } = next);
          expect(next.readyAt).toBeGreaterThanOrEqual(now);
          expect(formatInstant(next.readyAt)).toMatch(/^\d{4}-/);
        }
      }),
    );
  });

  test('a limiter that is stored and read again is the same, also with a very small rate', () => {
    const { limiter } = takeTokens(1, 1e-306);
    expect(JSON.parse(JSON.stringify(limiter))).toEqual(limiter);
  });
});

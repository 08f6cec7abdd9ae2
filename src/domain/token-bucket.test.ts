import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_RETRY_BUDGET } from './endpoint-profile.ts';
import { formatInstant, type Instant, instant } from './instant.ts';
import {
  availableTokens,
  type Bucket,
  type BucketTerms,
  isFull,
  reserveToken,
  takeTokens,
} from './token-bucket.ts';

const START = instant(Date.UTC(2026, 10, 15, 8));
const TERMS: BucketTerms = { rate: 10, burst: 5 };

function at(ms: number): Instant {
  return instant(START + ms);
}

/** Takes tokens at one instant. Returns the bucket after that, and the wait of each token. */
function takes(count: number, terms: BucketTerms, now = START, from: Bucket | null = null) {
  let bucket = from;
  const waits: (number | null)[] = [];
  for (let taken = 0; taken < count; taken++) {
    const { bucket: next, readyAt } = reserveToken(bucket, terms, now);
    waits.push(readyAt === null ? null : readyAt - now);
    bucket = next;
  }
  return { bucket, waits };
}

describe('a token bucket', () => {
  test('is full at first: a burst passes at once, then tokens come at the rate, each reserved once', () => {
    expect(takes(8, TERMS).waits).toEqual([0, 0, 0, 0, 0, 100, 200, 300]);
  });

  test('by default gives 100 retries at once, then 10 per second', () => {
    const { waits } = takes(103, DEFAULT_RETRY_BUDGET);
    expect(waits.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 0));
    expect(waits.slice(100)).toEqual([100, 200, 300]);
  });

  test('refills at the rate, never beyond the burst', () => {
    const { bucket } = takes(5, TERMS);
    expect(takes(4, TERMS, at(300), bucket).waits).toEqual([0, 0, 0, 100]);
    expect(takes(6, TERMS, at(3_600_000), bucket).waits).toEqual([0, 0, 0, 0, 0, 100]);
  });

  test('pays off reserved tokens first', () => {
    const { bucket } = takes(8, TERMS);
    expect(reserveToken(bucket, TERMS, at(100)).readyAt).toBe(at(400));
    expect(reserveToken(bucket, TERMS, at(399)).readyAt).toBe(at(400));
    expect(reserveToken(bucket, TERMS, at(400)).readyAt).toBe(at(400));
  });

  test('with rate 0 gives its burst once and then nothing', () => {
    const terms = { rate: 0, burst: 2 };
    const { bucket, waits } = takes(4, terms);
    expect(waits).toEqual([0, 0, null, null]);
    expect(reserveToken(bucket, terms, at(1e12)).readyAt).toBeNull();
  });

  test('with burst 0 makes everyone wait for a token', () => {
    expect(takes(3, { rate: 4, burst: 0 }).waits).toEqual([250, 500, 750]);
    expect(takes(1, { rate: 0, burst: 0 }).waits).toEqual([null]);
  });

  test('with a burst below one token waits for the rest of it', () => {
    expect(takes(2, { rate: 1, burst: 0.5 }).waits).toEqual([500, 1_500]);
    expect(takes(1, { rate: 0, burst: 0.5 }).waits).toEqual([null]);
  });

  test.for<BucketTerms>([
    { rate: 10, burst: 7 },
    { rate: 11, burst: 5 },
  ])('starts again when its terms are changed: %o', (terms) => {
    const { bucket } = takes(50, TERMS);
    expect(reserveToken(bucket, terms, START)).toEqual(reserveToken(null, terms, START));
  });

  test('continues when the same terms are written again', () => {
    const { bucket } = takes(6, TERMS);
    expect(reserveToken(bucket, { ...TERMS }, START).readyAt).toBe(at(200));
  });

  test('a clock that is set back adds no tokens and causes no wait', () => {
    const { bucket } = takes(6, TERMS);
    const back = takes(1, TERMS, at(-3_600_000), bucket);
    expect(back.waits).toEqual([200]);
    expect(takes(1, TERMS, at(-3_600_000 + 300), back.bucket).waits).toEqual([0]);
  });

  test('can be dropped as soon as it is full again', () => {
    expect(isFull(null, START)).toBe(true);
    const { bucket } = takes(3, TERMS);
    expect(isFull(bucket, at(299))).toBe(false);
    expect(isFull(bucket, at(300))).toBe(true);
    expect(isFull(takes(8, TERMS).bucket, at(799))).toBe(false);
    expect(isFull(takes(2, { rate: 0, burst: 2 }).bucket, at(1e12))).toBe(false);
  });
});

const rates = fc.oneof(
  fc.constantFrom(0.1, 1, 10, 333, 1_000),
  fc.double({ min: 0.01, max: 2_000, noNaN: true }),
);
const bursts = fc.oneof(fc.constantFrom(0, 0.5, 1, 5, 100), fc.double({ min: 0, max: 200, noNaN: true }));

/** Time that passes, and how far the clock is set back in the meantime. */
const moments = fc.array(
  fc.record({
    ms: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 5_000 })),
    setBackMs: fc.oneof(
      { weight: 9, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 100_000 }) },
    ),
    takes: fc.integer({ min: 1, max: 8 }),
  }),
  { minLength: 1, maxLength: 40, size: 'max' },
);

describe('for requests at any instants', () => {
  test('never more than burst + rate × t are granted in t seconds', () => {
    fc.assert(
      fc.property(rates, bursts, moments, (rate, burst, given) => {
        const terms = { rate, burst };
        let bucket: Bucket | null = null;
        let elapsedMs = 0;
        let clockMs: number = START;
        const granted: number[] = [];
        for (const moment of given) {
          elapsedMs += moment.ms;
          clockMs += moment.ms - moment.setBackMs;
          for (let count = 0; count < moment.takes; count++) {
            const taken = reserveToken(bucket, terms, instant(clockMs));
            bucket = taken.bucket;
            if (taken.readyAt !== null) granted.push(elapsedMs + taken.readyAt - clockMs);
          }
        }
        granted.sort((a, b) => a - b);
        let excess = 0;
        for (const [first, from] of granted.entries()) {
          for (let last = first; last < granted.length; last++) {
            // Grants are rounded up to whole milliseconds, so two of them may be a millisecond closer together.
            const seconds = ((granted[last] ?? 0) - from + 1) / 1_000;
            excess = Math.max(excess, last - first + 1 - Math.max(burst, 1) - rate * seconds);
          }
        }
        expect(excess).toBeLessThan(1e-6);
      }),
    );
  });

  test('every reserved token is granted at its own time, in the order of the requests', () => {
    fc.assert(
      fc.property(rates, bursts, fc.integer({ min: 2, max: 100 }), (rate, burst, count) => {
        const { waits } = takes(count, { rate, burst });
        const reserved = waits.map((wait) => wait ?? Number.NaN).filter((wait) => wait > 0);
        for (const [index, wait] of reserved.entries()) {
          const ideal = ((index + 1 + Math.floor(burst) - burst) * 1_000) / rate;
          expect(Math.abs(wait - ideal)).toBeLessThan(1 + 1e-6);
        }
      }),
    );
  });

  test('dropping a full bucket changes nothing', () => {
    fc.assert(
      fc.property(rates, bursts, moments, (rate, burst, given) => {
        const terms = { rate, burst };
        let bucket: Bucket | null = null;
        let now = START;
        for (const { ms, takes: count } of given) {
          now = instant(now + ms);
          if (isFull(bucket, now)) {
            expect(takes(20, terms, now, bucket).waits).toEqual(takes(20, terms, now, null).waits);
          }
          ({ bucket } = takes(count, terms, now, bucket));
        }
      }),
    );
  });

  test('instants and tokens can be stored for any rate and burst', () => {
    const extremes = fc.oneof(
      fc.constantFrom(0, Number.MIN_VALUE, 1e-300, 1e-9, 1e9, 1e300, Number.MAX_VALUE),
      fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
    );
    fc.assert(
      fc.property(extremes, extremes, moments, (rate, burst, given) => {
        let bucket: Bucket | null = null;
        let now = START;
        for (const { ms } of given) {
          now = instant(now + ms);
          const taken = reserveToken(bucket, { rate, burst }, now);
          if (taken.readyAt !== null) {
            expect(taken.readyAt).toBeGreaterThanOrEqual(now);
            expect(formatInstant(taken.readyAt)).toMatch(/^\d{4}-/);
          }
          bucket = taken.bucket;
          expect(JSON.parse(JSON.stringify(bucket))).toEqual(bucket);
        }
      }),
    );
  });
});

describe('available tokens', () => {
  test('are counted as whole tokens, with the instant of the next; taking them reserves nothing', () => {
    expect(availableTokens(null, TERMS, START)).toEqual({ count: 5, nextAt: at(100) });
    const empty = takeTokens(null, TERMS, 5, START);
    expect(availableTokens(empty, TERMS, START)).toEqual({ count: 0, nextAt: at(100) });
    expect(availableTokens(empty, TERMS, at(99))).toEqual({ count: 0, nextAt: at(100) });
    expect(availableTokens(empty, TERMS, at(250))).toEqual({ count: 2, nextAt: at(300) });
    expect(availableTokens(takeTokens(empty, TERMS, 2, at(250)), TERMS, at(250)).count).toBe(0);
    expect(availableTokens(empty, TERMS, at(10_000)).count).toBe(5);
  });

  test('are none while some are reserved', () => {
    const { bucket } = takes(7, TERMS);
    expect(availableTokens(bucket, TERMS, START)).toEqual({ count: 0, nextAt: at(300) });
  });

  test('with rate 0 are the burst, once', () => {
    const terms = { rate: 0, burst: 2 };
    expect(availableTokens(null, terms, START)).toEqual({ count: 2, nextAt: null });
    expect(availableTokens(takeTokens(null, terms, 2, START), terms, at(1e12))).toEqual({
      count: 0,
      nextAt: null,
    });
  });
});

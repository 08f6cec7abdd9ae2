import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatInstant, type Instant, instant } from './instant.ts';
import { isFree, type Pace, step } from './pace.ts';

const START = instant(Date.UTC(2026, 10, 15, 8));

function at(ms: number): Instant {
  return instant(START + ms);
}

/** So many steps asked for at one instant: the pace after, and how long each has to wait. */
function steps(count: number, perSecond: number, now = START, from: Pace | null = null) {
  let pace = from;
  const waits: number[] = [];
  for (let taken = 0; taken < count; taken++) {
    const next = step(pace, perSecond, now);
    waits.push(next.readyAt - now);
    ({ pace } = next);
  }
  return { pace, waits };
}

describe('a steady pace', () => {
  test('lets the first step be taken at once and every further one in its time', () => {
    expect(steps(4, 10).waits).toEqual([0, 100, 200, 300]);
    expect(steps(3, 0.5).waits).toEqual([0, 2_000, 4_000]);
  });

  test('rounds every step up and none of them adds up', () => {
    expect(steps(7, 3).waits).toEqual([0, 334, 667, 1_000, 1_334, 1_667, 2_000]);
    expect(steps(6, 4_000).waits).toEqual([0, 1, 1, 1, 1, 2]);
  });

  test('saves nothing up: after a rest there is one step at once, not a burst', () => {
    const { pace } = steps(2, 10);
    expect(steps(3, 10, at(3_600_000), pace).waits).toEqual([0, 100, 200]);
  });

  test('a step that is asked for early waits for its turn', () => {
    const { pace } = steps(1, 10);
    expect(steps(1, 10, at(40), pace).waits).toEqual([60]);
    expect(steps(1, 10, at(100), pace).waits).toEqual([0]);
  });

  test('is shared by several rates: each step keeps the distance of its own rate from the next', () => {
    const { pace } = steps(1, 1);
    const { pace: after, waits } = steps(1, 100, START, pace);
    expect(waits).toEqual([1_000]);
    expect(steps(1, 1, START, after).waits).toEqual([1_010]);
  });

  test('a clock that is set back leaves reserved steps as far ahead as they were', () => {
    const { pace } = steps(3, 1);
    expect(steps(2, 1, at(-3_600_000), pace).waits).toEqual([3_000, 4_000]);
    expect(isFree(pace, at(-3_600_000))).toBe(false);
  });

  test('is free when the next step may be taken at once', () => {
    expect(isFree(null, START)).toBe(true);
    const { pace } = steps(2, 10);
    expect(isFree(pace, at(199))).toBe(false);
    expect(isFree(pace, at(200))).toBe(true);
    expect(steps(5, 10, at(200), pace).waits).toEqual(steps(5, 10, at(200), null).waits);
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

describe('whenever steps are asked for', () => {
  test('they are taken one after the other, never more than 1 + rate × t in t seconds', () => {
    fc.assert(
      fc.property(rates, moments, (perSecond, given) => {
        let pace: Pace | null = null;
        let elapsedMs = 0;
        let clockMs: number = START;
        const taken: number[] = [];
        for (const { ms, setBackMs } of given) {
          elapsedMs += ms;
          clockMs += ms - setBackMs;
          const next = step(pace, perSecond, instant(clockMs));
          ({ pace } = next);
          taken.push(elapsedMs + next.readyAt - clockMs);
        }
        let tooSoonMs = 0;
        for (const [first, from] of taken.entries()) {
          for (let last = first + 1; last < taken.length; last++) {
            const ms = (taken[last] ?? 0) - from;
            tooSoonMs = Math.max(tooSoonMs, ((last - first) * 1_000) / perSecond - ms);
          }
        }
        // Each is rounded up to a whole millisecond.
        expect(tooSoonMs).toBeLessThan(1 + 1e-3);
      }),
    );
  });

  test('however small or large the rate is, the instants can be written', () => {
    const extremes = fc.oneof(
      fc.constantFrom(Number.MIN_VALUE, 1e-300, 1e-9, 1e9, 1e300, Number.MAX_VALUE),
      fc.double({ min: Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true }),
    );
    fc.assert(
      fc.property(extremes, moments, (perSecond, given) => {
        let pace: Pace | null = null;
        let now = START;
        for (const { ms } of given) {
          now = instant(now + ms);
          const next = step(pace, perSecond, now);
          ({ pace } = next);
          expect(next.readyAt).toBeGreaterThanOrEqual(now);
          expect(formatInstant(next.readyAt)).toMatch(/^\d{4}-/);
        }
      }),
    );
  });

  test('a pace that is kept and read again is the same, however small its rate', () => {
    const { pace } = steps(1, 1e-306);
    expect(JSON.parse(JSON.stringify(pace))).toEqual(pace);
  });
});

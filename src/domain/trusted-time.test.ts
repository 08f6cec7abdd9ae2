import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Instant, instant, MS_PER_DAY } from './instant.ts';
import { DISTRUST_MS, observeClock, STEP_MS, type TrustedTime } from './trusted-time.ts';

const START = instant(Date.UTC(2027, 0, 5));
const MINUTE_MS = 60_000;
const YEAR_MS = 365 * MS_PER_DAY;

function at(ms: number): Instant {
  return instant(START + ms);
}

/** Observes a clock every minute, from `from` to `to`, while it runs steadily. */
function observeEveryMinute(before: TrustedTime | null, from: number, to: number): TrustedTime {
  let trusted = observeClock(before, at(from));
  for (let ms = from + MINUTE_MS; ms <= to; ms += MINUTE_MS) trusted = observeClock(trusted, at(ms));
  return trusted;
}

const BELIEVED: TrustedTime = { seenAt: START, trustedAt: START, believedFrom: null };

describe('the trusted time', () => {
  test('is the reading of the clock at the first observation', () => {
    expect(observeClock(null, START)).toEqual(BELIEVED);
  });

  test.for([0, MINUTE_MS, STEP_MS, -1, -YEAR_MS])('follows a clock that advanced by %i ms', (ms) => {
    expect(observeClock(BELIEVED, at(ms))).toEqual({ seenAt: at(ms), trustedAt: at(ms), believedFrom: null });
  });

  test('continues at the speed of a clock that is a year ahead and not trusted yet', () => {
    const late = observeEveryMinute(BELIEVED, YEAR_MS, YEAR_MS + DISTRUST_MS - MINUTE_MS);
    expect(late).toEqual({
      seenAt: at(YEAR_MS + DISTRUST_MS - MINUTE_MS),
      trustedAt: at(DISTRUST_MS - MINUTE_MS),
      believedFrom: at(YEAR_MS + DISTRUST_MS),
    });
  });

  test('is the clock again after it has run steadily for an hour', () => {
    const end = YEAR_MS + DISTRUST_MS;
    expect(observeEveryMinute(BELIEVED, YEAR_MS, end)).toEqual({
      seenAt: at(end),
      trustedAt: at(end),
      believedFrom: null,
    });
  });

  test('is the clock at once when it is set back to the trusted time', () => {
    const ahead = observeEveryMinute(BELIEVED, YEAR_MS, YEAR_MS + 30 * MINUTE_MS);
    expect(observeClock(ahead, at(31 * MINUTE_MS))).toMatchObject({
      trustedAt: at(31 * MINUTE_MS),
      believedFrom: null,
    });
  });

  test.for([
    ['ahead again', 2 * YEAR_MS],
    ['back by half of it', YEAR_MS / 2],
  ] as const)('begins the hour again when a clock that is not trusted is set %s', ([, ms]) => {
    const ahead = observeEveryMinute(BELIEVED, YEAR_MS, YEAR_MS + DISTRUST_MS - MINUTE_MS);
    const again = observeClock(ahead, at(ms));
    expect(again).toEqual({
      seenAt: at(ms),
      trustedAt: ahead.trustedAt,
      believedFrom: at(ms + DISTRUST_MS),
    });
  });

  test('does not stand still for a service that is never up for an hour', () => {
    let trusted: TrustedTime = BELIEVED;
    for (let day = 1; day <= 100; day++) {
      const from = day * MS_PER_DAY;
      trusted = observeEveryMinute(trusted, from, from + 30 * MINUTE_MS);
    }
    expect(trusted.trustedAt - START).toBe(100 * 30 * MINUTE_MS);
  });

  test('is never ahead of the clock, nor of an hour in which the clock ran steadily', () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 0, max: MINUTE_MS }) },
      { weight: 1, arbitrary: fc.integer({ min: -YEAR_MS, max: YEAR_MS }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let trusted: TrustedTime = BELIEVED;
        let heldMs = 0;
        for (const ms of steps) {
          const before = trusted;
          trusted = observeClock(before, instant(before.seenAt + ms));
          heldMs = ms < 0 || ms > STEP_MS ? 0 : heldMs + ms;
          expect(trusted.trustedAt).toBeLessThanOrEqual(trusted.seenAt);
          const isJump = trusted.trustedAt - before.trustedAt > STEP_MS;
          if (isJump) expect(heldMs).toBeGreaterThanOrEqual(DISTRUST_MS);
        }
      }),
    );
  });
});

/** What the benchmark says of many numbers. */
import { describe, expect, test } from 'vitest';
import { CURVE_SHARES, latenessRound, perSecondOf, UNKNOWN_CPU } from '../../bench/lateness.ts';
import { median, quantile, spreadOf } from '../../bench/statistics.ts';

describe('quantiles', () => {
  test('lie between the two nearest, in whichever order the numbers come', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1])).toBe(2.5);
    expect(quantile([10, 0], 0.25)).toBe(2.5);
    expect(quantile([7], 0.99)).toBe(7);
  });

  test('of rounds come with the least and the most', () => {
    expect(spreadOf([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 });
  });
});

describe('a round', () => {
  const latenessMs = Array.from({ length: 1_000 }, (_, n) => 1_000 - n);

  test('tells how late, in quantiles and as a curve', () => {
    const round = latenessRound({
      expected: 1_000,
      latenessMs,
      repeated: 2,
      cpu: { ownMs: 500, databaseMs: 0 },
    });
    expect(round).toMatchObject({ arrived: 1_000, early: 0, repeated: 2, p50Ms: 500.5, maxMs: 1_000 });
    expect(round.cpuMsEach).toBe(0.5);
    expect(round.curveMs).toHaveLength(CURVE_SHARES.length);
    expect(round.curveMs[0]).toBe(1);
    expect(round.curveMs.at(-1)).toBe(1_000);
    expect(round.curveMs).toEqual(round.curveMs.toSorted((a, b) => Number(a) - Number(b)));
  });

  test('of which only a part arrived has a curve that ends there', () => {
    const round = latenessRound({ expected: 2_000, latenessMs, repeated: 0, cpu: UNKNOWN_CPU });
    expect(round).toMatchObject({ expected: 2_000, arrived: 1_000, cpuMsEach: null });
    expect(round.curveMs[CURVE_SHARES.indexOf(0.25)]).toBeCloseTo(501, 0);
    expect(round.curveMs[CURVE_SHARES.indexOf(0.75)]).toBeNull();
  });

  test('counts what came before its instant', () => {
    expect(latenessRound({ expected: 3, latenessMs: [-1, 0, 1], repeated: 0, cpu: UNKNOWN_CPU }).early).toBe(
      1,
    );
  });

  test('that is a burst has a rate: from the instant to the last arrival', () => {
    expect(perSecondOf(latenessRound({ expected: 1_000, latenessMs, repeated: 0, cpu: UNKNOWN_CPU }))).toBe(
      1_000,
    );
  });
});

/** The figures of one round of requests: how late they arrived, and what they cost. */
import type { LatenessRound } from './results.ts';
import { quantileOfSorted } from './statistics.ts';

const CURVE_STEPS = 200;
const CURVE_TAIL = [0.996, 0.997, 0.998, 0.999, 0.9995, 0.9999, 1];
export const CURVE_SHARES: readonly number[] = [
  ...Array.from({ length: CURVE_STEPS }, (_, n) => n / CURVE_STEPS),
  ...CURVE_TAIL,
];

export interface Arrived {
  readonly expected: number;
  /** The lateness of each first arrival, in any order. */
  readonly latenessMs: readonly number[];
  readonly repeated: number;
  readonly cpu: CpuTime;
}

/** The processor time for all requests together. Null if it is not known. */
export interface CpuTime {
  /** The contender's processes, without the database. */
  readonly ownMs: number | null;
  readonly databaseMs: number | null;
  /** The part of it that the workers of a Citus cluster took. */
  readonly workersMs?: number | null;
}

export const UNKNOWN_CPU: CpuTime = { ownMs: null, databaseMs: null };

export function latenessRound({ expected, latenessMs, repeated, cpu }: Arrived): LatenessRound {
  const sorted = latenessMs.toSorted((a, b) => a - b);
  const arrived = sorted.length;
  const at = (q: number) => rounded(quantileOfSorted(sorted, q));
  const each = (ms: number | null) => (ms === null || arrived === 0 ? null : rounded(ms / arrived));
  return {
    expected,
    arrived,
    early: sorted.filter((late) => late < 0).length,
    repeated,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    maxMs: at(1),
    cpuMsEach: each(cpu.ownMs),
    databaseCpuMsEach: each(cpu.databaseMs),
    ...(cpu.workersMs === undefined ? {} : { workersCpuMsEach: each(cpu.workersMs) }),
    curveMs: CURVE_SHARES.map((share) => {
      const late = sorted[Math.round(share * (expected - 1))];
      return late === undefined ? null : rounded(late);
    }),
  };
}

const MS_PER_SECOND = 1_000;

/** The rate of a burst, counted from its instant to the last arrival. */
export function perSecondOf({ arrived, maxMs }: LatenessRound): number {
  return maxMs > 0 ? (arrived * MS_PER_SECOND) / maxMs : 0;
}

/** A thousandth of a millisecond is finer than any clock here. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

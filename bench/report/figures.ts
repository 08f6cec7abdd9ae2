/** Formats the numbers of the report: the median and the range of the rounds. */

import { perSecondOf } from '../lateness.ts';
import type { CreatesRound, LatenessRound } from '../results.ts';
import { type Spread, spreadOf } from '../statistics.ts';

export const NOTHING = '–';
const EXACT_BELOW = 10;
const TENTHS_BELOW = 100;
const MS_PER_SECOND = 1_000;
const MICROS_PER_MS = 1_000;

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-GB');
}

/** Writes only significant digits. */
export function milliseconds(value: number): string {
  const size = Math.abs(value);
  if (size < EXACT_BELOW) return value.toFixed(2);
  return size < TENTHS_BELOW ? value.toFixed(1) : whole(value);
}

/** Writes the number with its unit, for a sentence. */
export function shortMilliseconds(value: number): string {
  return `${value.toFixed(value < EXACT_BELOW ? 1 : 0)} ms`;
}

export function ratio(value: number): string {
  return value.toFixed(2);
}

/** Bars need three digits, because 0.396 is below a bar of 0.40. */
export function exactRatio(value: number): string {
  return value.toFixed(3);
}

/** Writes `12 (11–15)`, or only the number of a single round. Rounds without the number do not count. */
export function spread<T>(
  rounds: readonly T[],
  pick: (round: T) => number | null,
  format: (value: number) => string,
): string {
  const numbers = known(rounds.map(pick));
  if (numbers.length === 0) return NOTHING;
  const { median, min, max } = spreadOf(numbers);
  return numbers.length === 1 ? format(median) : `${format(median)} (${format(min)}–${format(max)})`;
}

export function known(numbers: readonly (number | null)[]): readonly number[] {
  return numbers.filter((number) => number !== null);
}

/** Returns null if there was no round. */
export function medianOf(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : spreadOf(numbers).median;
}

export function isComplete({ arrived, expected }: LatenessRound): boolean {
  return arrived === expected;
}

/** Returns null if a round is incomplete, because its rate could not be compared. */
export function burstRate(rounds: readonly LatenessRound[]): Spread | null {
  const complete = rounds.filter(isComplete);
  return complete.length < rounds.length || complete.length === 0
    ? null
    : spreadOf(complete.map(perSecondOf));
}

/** The processor time of one delivery or create: of the contender's processes, and of its database. */
export interface Cost {
  readonly ownMs: number | null;
  readonly databaseMs: number | null;
}

/** A round of deliveries or creates whose processor time was measured. */
export type CostlyRound =
  | Pick<CreatesRound, 'cpuMicrosEach' | 'databaseCpuMicrosEach'>
  | { readonly cpuMsEach?: number | null; readonly databaseCpuMsEach?: number | null };

export function costOf(round: CostlyRound): Cost {
  if (!('cpuMicrosEach' in round))
    return { ownMs: round.cpuMsEach ?? null, databaseMs: round.databaseCpuMsEach ?? null };
  const { cpuMicrosEach: own, databaseCpuMicrosEach: database = null } = round;
  return {
    ownMs: own === null ? null : own / MICROS_PER_MS,
    databaseMs: database === null ? null : database / MICROS_PER_MS,
  };
}

/** Null if a part is not known. */
export function wholeCostMs({ ownMs, databaseMs }: Cost): number | null {
  return ownMs === null || databaseMs === null ? null : ownMs + databaseMs;
}

/** The deliveries or creates for each second of processor time: the median of the rounds. */
export function perCore(rounds: readonly CostlyRound[]): number | null {
  const costs = known(rounds.map((round) => wholeCostMs(costOf(round)))).filter((ms) => ms > 0);
  return medianOf(costs.map((ms) => MS_PER_SECOND / ms));
}

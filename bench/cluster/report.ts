/** What the turns say: medians over the rounds, and between which values they lie. */
import { median, quantile } from '../statistics.ts';
import type { Load, Turn } from './turn.ts';

const MS_PER_SECOND = 1_000;

export interface Range {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Line {
  readonly name: string;
  readonly burst: {
    /** From the instant at which all are due to the last arrival. */
    readonly perSecond: Range;
    /** Of the first contender's. */
    readonly ofLimit: number | null;
    /** Of the contender's processes, without the database's. */
    readonly cpuMsEach: number | null;
  };
  readonly paced: { readonly p50Ms: Range; readonly p99Ms: Range; readonly maxMs: Range };
  /** Arrived before their instant. */
  readonly early: number;
  /** Arrived once more than they should have. */
  readonly repeated: number;
}

export function lineOf(name: string, turns: readonly Turn[], limit: readonly Turn[]): Line {
  const all = turns.flatMap(({ burst, paced }) => [burst, paced]);
  const perSecond = rangeOf(turns.map(perSecondOf));
  const cpu = turns.map(({ burst }) => (burst.cpuMs === null ? null : burst.cpuMs / burst.lateness.length));
  const known = cpu.filter((each) => each !== null);
  const pacedAt = (q: number) => rangeOf(turns.map(({ paced }) => quantile(paced.lateness, q)));
  return {
    name,
    burst: {
      perSecond,
      ofLimit: limit.length === 0 ? null : perSecond.median / median(limit.map(perSecondOf)),
      cpuMsEach: known.length === 0 ? null : median(known),
    },
    paced: { p50Ms: pacedAt(0.5), p99Ms: pacedAt(0.99), maxMs: pacedAt(1) },
    early: all.flatMap(({ lateness }) => lateness).filter((late) => late < 0).length,
    repeated: all.reduce((sum, { repeated }) => sum + repeated, 0),
  };
}

export function perSecondOf({ burst: { lateness } }: Turn): number {
  return (lateness.length * MS_PER_SECOND) / quantile(lateness, 1);
}

function rangeOf(numbers: readonly number[]): Range {
  return { median: median(numbers), min: Math.min(...numbers), max: Math.max(...numbers) };
}

export function print(lines: readonly Line[], load: Load): void {
  console.log(`\nBurst: ${load.deliveries} due at one instant, until the last has arrived\n`);
  console.log(row('', 'per second', 'of limit', 'cpu ms each', 'early', 'repeated'));
  for (const { name, burst, early, repeated } of lines) {
    console.log(
      row(
        name,
        text(burst.perSecond, 0),
        burst.ofLimit?.toFixed(2) ?? '-',
        burst.cpuMsEach?.toFixed(2) ?? '-',
        String(early),
        String(repeated),
      ),
    );
  }
  console.log(`\nPaced: ${load.rate} a second for ${load.seconds} s, lateness in ms\n`);
  console.log(row('', 'p50', 'p99', 'max'));
  for (const { name, paced } of lines) {
    console.log(row(name, text(paced.p50Ms, 1), text(paced.p99Ms, 1), text(paced.maxMs, 1)));
  }
}

const NAME_WIDTH = 28;
const GAP = 2;
/** Of a range, and of a single number. */
const WIDTHS = { burst: [22, 8, 11, 5, 8], paced: [22, 22, 22] };

function row(name: string, ...cells: readonly string[]): string {
  const widths = cells.length === WIDTHS.paced.length ? WIDTHS.paced : WIDTHS.burst;
  return [name.padEnd(NAME_WIDTH), ...cells.map((cell, n) => cell.padStart((widths[n] ?? 0) + GAP))].join('');
}

function text({ median, min, max }: Range, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}-${max.toFixed(digits)})`;
}

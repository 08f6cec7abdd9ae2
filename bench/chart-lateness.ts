/** The chart of the README: which share of requests had arrived how late, Sched beside the limit of the machine. */
import { lineChart, type Series } from './chart.ts';
import { quantile } from './statistics.ts';

export interface Measured {
  readonly name: string;
  /** Of all rounds together, in milliseconds. */
  readonly latenessMs: readonly number[];
}

export interface Circumstances {
  readonly rate: number;
  readonly seconds: number;
  readonly rounds: number;
}

/** What the specification asks for: within 100 to 300 ms. */
const TARGET_MS = { from: 100, to: 300 } as const;
const LATENESS_MS_MIN = 0.1;
const LATENESS_MS_MAX = 1_000;
const POINTS = 300;
const TAIL = [0.999, 0.9999, 1];

export function latenessChart(
  measured: readonly Measured[],
  { rate, seconds, rounds }: Circumstances,
): string {
  const told = measured.map(({ name, latenessMs }) => {
    const at = (q: number) => milliseconds(quantile(latenessMs, q));
    return `${name}: half within ${at(0.5)}, 99 % within ${at(0.99)}`;
  });
  const requests = (rate * seconds * rounds).toLocaleString('en-GB');
  return lineChart({
    title: 'How late requests arrive',
    subtitle: `${requests} requests over TLS, ${rate} a second, to a receiver on the same machine`,
    description: `Share of requests that had arrived by each lateness. ${told.join('. ')}.`,
    x: {
      label: 'late by, in milliseconds (logarithmic)',
      min: LATENESS_MS_MIN,
      max: LATENESS_MS_MAX,
      scale: 'log',
      ticks: [0.1, 1, 10, 100, 1_000],
      format: (value) => value.toLocaleString('en-GB'),
    },
    y: {
      label: 'arrived',
      min: 0,
      max: 1,
      scale: 'linear',
      ticks: [0, 0.25, 0.5, 0.75, 1],
      format: (value) => `${value * 100} %`,
    },
    series: measured.map(({ latenessMs }, n) => ({ name: told[n] ?? '', points: cumulative(latenessMs) })),
    bands: [{ label: 'target: 100 to 300 ms', ...TARGET_MS }],
  });
}

function cumulative(numbers: readonly number[]): Series['points'] {
  const sorted = numbers.toSorted((a, b) => a - b);
  const shares = [...Array.from({ length: POINTS }, (_, n) => n / POINTS), ...TAIL];
  const curve = shares.map(
    (share) => [sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN, share] as const,
  );
  // Once all have arrived, all have arrived.
  return [...curve, [LATENESS_MS_MAX, 1]];
}

function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

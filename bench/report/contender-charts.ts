/** Charts that compare the contenders: the lateness of requests, and the arrivals of a burst over time. */

import { CURVE_SHARES } from '../lateness.ts';
import type { LatenessRound, Results } from '../results.ts';
import { median } from '../statistics.ts';
import { linear, logarithmic, powerOfTen } from './axes.ts';
import { type ChartFile, chartFile, SERIES_MAX, type Series } from './chart.ts';
import { isComplete, known, shortMilliseconds, whole } from './figures.ts';
import { roundsOf } from './tables.ts';

/** The lateness that the specification allows. */
const ALLOWED_MS = { from: 100, to: 300 } as const;
const LATENESS_MS_MIN = 0.1;
const LATENESS_MS_MAX_LEAST = 1_000;
const BURST_MS_MIN = 10;
const MS_PER_SECOND = 1_000;

interface Line {
  readonly name: string;
  readonly rounds: readonly LatenessRound[];
}

/** Sched comes first, so that it is drawn over the others. */
function schedFirst({ contenders }: Results): Results['contenders'] {
  const isSched = (id: string) => id.startsWith('sched-');
  return [...contenders.filter(({ id }) => isSched(id)), ...contenders.filter(({ id }) => !isSched(id))];
}

export function latenessChart(results: Results): ChartFile | null {
  const lines = schedFirst(results)
    .map(({ name, paced }) => ({ name, rounds: paced }))
    .filter(({ rounds }) => rounds.length > 0)
    .slice(0, SERIES_MAX);
  if (lines.length === 0) return null;
  const labels = lines.map(({ name, rounds }) => {
    const at = (pick: (round: LatenessRound) => number) => shortMilliseconds(median(rounds.map(pick)));
    return `${name}: half within ${at(({ p50Ms }) => p50Ms)}, 99 % within ${at(({ p99Ms }) => p99Ms)}`;
  });
  const curves = lines.map(curveOf);
  const max = powerOfTen(Math.max(LATENESS_MS_MAX_LEAST, ...lastOf(curves)));
  const { rate, seconds } = results.scale.paced;
  const { rounds } = results.scale;
  return chartFile('lateness', {
    title: 'How late requests arrive',
    subtitle: `${whole(rate * seconds * rounds)} requests each over TLS, ${rate} a second, to a receiver on the same machine`,
    description: `Share of requests that had arrived by each lateness. ${labels.join('. ')}.`,
    x: logarithmic('late by, in milliseconds (logarithmic)', LATENESS_MS_MIN, max),
    y: {
      label: 'arrived',
      min: 0,
      max: 1,
      scale: 'linear',
      ticks: [0, 0.25, 0.5, 0.75, 1],
      format: (value) => `${value * 100} %`,
    },
    // A complete curve goes on at 100 % to the edge of the chart.
    series: curves.map((points, n) => ({ name: labels[n] ?? '', points: prolonged(points, max) })),
    bands: [{ label: 'allowed: 100 to 300 ms', ...ALLOWED_MS }],
  });
}

export function burstChart(results: Results): ChartFile | null {
  const count = Math.max(...results.scale.bursts, 0);
  const lines = schedFirst(results)
    .map((one) => ({ name: one.name, rounds: roundsOf(one, count) }))
    .filter(({ rounds }) => rounds.length > 0)
    .slice(0, SERIES_MAX);
  if (lines.length === 0) return null;
  const curves = lines.map(curveOf);
  const max = powerOfTen(Math.max(LATENESS_MS_MAX_LEAST, ...lastOf(curves)));
  const labels = lines.map(({ name, rounds }) => {
    const isWhole = rounds.every(isComplete);
    const lastMs = median(rounds.map(({ maxMs }) => maxMs));
    return `${name}: ${isWhole ? `all after ${(lastMs / MS_PER_SECOND).toFixed(2)} s` : 'not all in time'}`;
  });
  return chartFile('burst', {
    title: `${whole(count)} requests due at one instant`,
    subtitle: 'How many have arrived after how long; the further to the left, the faster',
    description: `How many requests had arrived by each time after the instant. ${labels.join('. ')}.`,
    x: logarithmic('milliseconds after the instant (logarithmic)', BURST_MS_MIN, max),
    y: {
      ...linear('arrived', count),
      max: count,
      ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => share * count),
    },
    series: curves.map((points, n) => ({
      name: labels[n] ?? '',
      points: points.map(([at, share]) => [at, share * count] as const),
    })),
  });
}

/** Each point is the median of the rounds. The curve ends at the share that some round did not reach. */
function curveOf({ rounds }: Line): Series['points'] {
  return CURVE_SHARES.flatMap((share, n) => {
    const at = known(rounds.map(({ curveMs }) => curveMs[n] ?? null));
    return at.length < rounds.length ? [] : [[median(at), share] as const];
  });
}

function prolonged(points: Series['points'], until: number): Series['points'] {
  return points.at(-1)?.[1] === 1 ? [...points, [until, 1]] : points;
}

function lastOf(curves: readonly Series['points'][]): readonly number[] {
  return curves.map((points) => points.at(-1)?.[0] ?? 0);
}

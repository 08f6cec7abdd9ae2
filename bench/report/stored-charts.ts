/** Charts of Sched with more and more schedules stored. */

import { perSecondOf } from '../lateness.ts';
import type { Results, StoredLine } from '../results.ts';
import { median } from '../statistics.ts';
import { linear, logarithmic, powerOfTen } from './axes.ts';
import { type Axis, type ChartFile, chartFile, type Series } from './chart.ts';
import { shortMilliseconds, whole } from './figures.ts';
import { STORE_NAMES } from './tables.ts';

const LATENESS_MS_MIN = 0.1;
const STORES = ['sqlite', 'postgres'] as const;

export function storedCharts({ stored, scale }: Results): readonly ChartFile[] {
  const lines = (stored?.lines ?? []).filter(({ rounds }) => rounds.length > 0);
  if (lines.length === 0) return [];
  const sizes = [...new Set(lines.map((line) => line.stored))].toSorted((a, b) => a - b);
  const rates = seriesOf(lines, sizes, '', rateOf);
  const lateness = [...seriesOf(lines, sizes, ', p50', p50Of), ...seriesOf(lines, sizes, ', p99', p99Of)];
  return [
    chartFile('stored-throughput', {
      title: 'Throughput against stored schedules',
      subtitle: `${whole(scale.stored.burst)} requests due at one instant, while so many others are stored`,
      description: `Requests a second. ${valuesText(rates, sizes, whole)}.`,
      x: sizesAxis(sizes),
      y: linear('requests a second', highest(rates)),
      series: rates,
    }),
    chartFile('stored-lateness', {
      title: 'Lateness against stored schedules',
      subtitle: `${scale.paced.rate} requests a second, while so many others are stored`,
      description: `How late. ${valuesText(lateness, sizes, shortMilliseconds)}.`,
      x: sizesAxis(sizes),
      y: logarithmic('milliseconds late (logarithmic)', LATENESS_MS_MIN, powerOfTen(highest(lateness))),
      series: lateness,
    }),
  ];
}

function rateOf({ rounds }: StoredLine): number {
  return median(rounds.map(({ burst }) => perSecondOf(burst)));
}

function p50Of({ rounds }: StoredLine): number {
  return median(rounds.map(({ paced }) => paced.p50Ms));
}

function p99Of({ rounds }: StoredLine): number {
  return median(rounds.map(({ paced }) => paced.p99Ms));
}

/** Makes one line for each measured store. The x-axis shows the index of a size. */
function seriesOf(
  lines: readonly StoredLine[],
  sizes: readonly number[],
  what: string,
  pick: (line: StoredLine) => number,
): readonly Series[] {
  return STORES.map((store) => ({
    name: STORE_NAMES[store] + what,
    points: lines
      .filter((line) => line.store === store)
      .map((line) => [sizes.indexOf(line.stored), pick(line)] as const)
      .toSorted(([a], [b]) => a - b),
  })).filter(({ points }) => points.length > 0);
}

/** Each size is one step. A logarithmic axis is impossible, because the first size is 0. */
function sizesAxis(sizes: readonly number[]): Axis {
  return {
    label: 'schedules stored, due in a year',
    min: 0,
    max: Math.max(sizes.length - 1, 1),
    scale: 'linear',
    ticks: sizes.map((_, n) => n),
    format: (n) => whole(sizes[n] ?? 0),
  };
}

function highest(series: readonly Series[]): number {
  return Math.max(...series.flatMap(({ points }) => points.map(([, value]) => value)));
}

function valuesText(
  series: readonly Series[],
  sizes: readonly number[],
  format: (value: number) => string,
): string {
  const valuesOf = ({ points }: Series) =>
    points.map(([n, value]) => `${format(value)} with ${whole(sizes[n] ?? 0)}`).join(', ');
  return series.map((line) => `${line.name}: ${valuesOf(line)}`).join('. ');
}

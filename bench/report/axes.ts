/** Makes axes that fit the measured values. */
import type { Axis } from './chart.ts';
import { whole } from './figures.ts';

/** A linear axis has about this many grid lines. */
const TICKS = 5;

export function powerOfTen(value: number): number {
  return 10 ** Math.ceil(Math.log10(Math.max(value, 1)));
}

export function logarithmic(label: string, min: number, max: number): Axis {
  const powers = Math.round(Math.log10(max / min));
  return {
    label,
    min,
    max,
    scale: 'log',
    ticks: Array.from({ length: powers + 1 }, (_, n) => min * 10 ** n),
    format: (value) => value.toLocaleString('en-GB', { maximumSignificantDigits: 3 }),
  };
}

/** The axis begins at 0. Its steps are 1, 2 or 5 times a power of ten. */
export function linear(label: string, highest: number): Axis {
  const rough = Math.max(highest, 1) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const steps = Math.ceil(Math.max(highest, 1) / step);
  return {
    label,
    min: 0,
    max: steps * step,
    scale: 'linear',
    ticks: Array.from({ length: steps + 1 }, (_, n) => n * step),
    format: whole,
  };
}

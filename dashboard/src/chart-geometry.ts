/** Positions in a chart: pure arithmetic, in pixels from the top left. */

/** `log` begins at 0 too: it is close to linear below `LOG_KNEE`, so that values below 1 can be told apart. */
export type Scale = 'linear' | 'log';

const LOG_KNEE = 0.1;

export interface Frame {
  readonly width: number;
  readonly height: number;
  /** Space for the figures at the side. */
  readonly left: number;
  readonly top: number;
  /** Space for the labels below. */
  readonly bottom: number;
}

/** Ticks in steps of 1, 2 or 5 × 10ⁿ: the smallest step that needs at most `ticksMax` ticks. */
export function linearTicks(highest: number, ticksMax = 4): readonly number[] {
  if (highest <= 0) return [0, 1];
  const rough = highest / ticksMax;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10));
  const count = Math.ceil(highest / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** 0 and the powers of ten, from 1 to the first one that is not below `highest`. */
export function logTicks(highest: number): readonly number[] {
  const powers = Math.max(1, Math.ceil(Math.log10(Math.max(1, highest))));
  return [0, ...Array.from({ length: powers + 1 }, (_, index) => 10 ** index)];
}

/** The height of a value above the bottom, as a share of the whole. */
function share(value: number, end: number, scale: Scale): number {
  const bounded = Math.min(end, Math.max(0, value));
  if (scale === 'linear') return bounded / end;
  return Math.log1p(bounded / LOG_KNEE) / Math.log1p(end / LOG_KNEE);
}

export function yOf(value: number, end: number, scale: Scale, { height, top, bottom }: Frame): number {
  const innerHeight = height - top - bottom;
  return top + innerHeight * (1 - share(value, end, scale));
}

export function bandWidth(count: number, { width, left }: Frame): number {
  return (width - left) / Math.max(1, count);
}

/** The step at a position. Outside of the chart it is the nearest step. */
export function stepAt(x: number, count: number, frame: Frame): number {
  const index = Math.floor((x - frame.left) / bandWidth(count, frame));
  return Math.min(count - 1, Math.max(0, index));
}

/** One path per series, since one element per bar would be far more elements. */
export function stackedBars(
  series: readonly (readonly (number | null)[])[],
  end: number,
  frame: Frame,
): readonly string[] {
  const count = series[0]?.length ?? 0;
  const band = bandWidth(count, frame);
  const gap = band > 4 ? 1 : 0;
  const bottoms = Array.from({ length: count }, () => 0);
  return series.map((values) =>
    values
      .map((value, index) => {
        if (value === null || value === 0) return '';
        const from = bottoms[index] ?? 0;
        bottoms[index] = from + value;
        const [low, high] = [yOf(from, end, 'linear', frame), yOf(from + value, end, 'linear', frame)];
        // A value above 0 is always visible.
        const height = Math.max(1, low - high);
        return bar(frame.left + index * band + gap / 2, low - height, band - gap, height);
      })
      .join(''),
  );
}

function bar(x: number, y: number, width: number, height: number): string {
  return `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
}

/** A line through the middles of the steps. It is interrupted where a value is missing. */
export function linePath(
  values: readonly (number | null)[],
  end: number,
  scale: Scale,
  frame: Frame,
): string {
  const band = bandWidth(values.length, frame);
  let isDown = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isDown = false;
        return '';
      }
      const point = `${round(frame.left + (index + 0.5) * band)} ${round(yOf(value, end, scale, frame))}`;
      const isAlone = !isDown && (values[index + 1] ?? null) === null;
      const text = isDown ? `L${point}` : `M${point}${isAlone ? 'h1' : ''}`;
      isDown = true;
      return text;
    })
    .join('');
}

export function highestStack(series: readonly (readonly (number | null)[])[]): number {
  const count = series[0]?.length ?? 0;
  let highest = 0;
  for (let index = 0; index < count; index += 1) {
    highest = Math.max(
      highest,
      series.reduce((sum, values) => sum + (values[index] ?? 0), 0),
    );
  }
  return highest;
}

/** The distance between two labels, in steps. */
export function labelStride(count: number, frame: Frame, labelWidth: number): number {
  return Math.max(1, Math.ceil(labelWidth / bandWidth(count, frame)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

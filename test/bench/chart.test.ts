/** Charts: what is measured is what is drawn, whatever it is called. */
import { describe, expect, test } from 'vitest';
import { CONTENDER_IDS } from '../../bench/contender.ts';
import { BACKGROUNDS, COLOURS, type LineChart, lineChart, SERIES_MAX } from '../../bench/report/chart.ts';
import { latenessChart } from '../../bench/report/contender-charts.ts';
import { CANNED } from './canned-results.ts';

const AXIS = { label: 'x', min: 0, max: 10, scale: 'linear', ticks: [0, 10], format: String } as const;
const CHART: LineChart = {
  title: 'A chart',
  subtitle: 'of nothing',
  description: 'Nothing at all.',
  x: AXIS,
  y: { ...AXIS, label: 'y' },
  series: [
    {
      name: 'one',
      points: [
        [0, 0],
        [5, 5],
        [10, 10],
      ],
    },
  ],
};

/** The points of a line, as drawn. */
function drawn(svg: string, n: number): readonly (readonly [number, number])[] {
  const [, path = ''] = new RegExp(`class="line-${n}" d="(M[^"h]+)"`).exec(svg) ?? [];
  return path
    .split(/[ML]/)
    .filter((pair) => pair !== '')
    .map((pair) => pair.split(' ').map(Number) as [number, number]);
}

describe('lineChart', () => {
  test('puts points where the axes say', () => {
    const [first, middle, last] = drawn(lineChart(CHART), 0);
    expect(middle?.[0]).toBeCloseTo(((first?.[0] ?? 0) + (last?.[0] ?? 0)) / 2, 1);
    expect(middle?.[1]).toBeCloseTo(((first?.[1] ?? 0) + (last?.[1] ?? 0)) / 2, 1);
    expect(first?.[1]).toBeGreaterThan(last?.[1] ?? 0);
  });

  test('gives each power of ten the same room on a logarithmic axis', () => {
    const x = { ...AXIS, min: 0.1, max: 100, scale: 'log' } as const;
    const points = [0.1, 1, 10, 100].map((value) => [value, 1] as const);
    const at = drawn(lineChart({ ...CHART, x, series: [{ name: 'one', points }] }), 0).map(([left]) => left);
    const steps = at.slice(1).map((left, n) => left - (at[n] ?? 0));
    expect(Math.max(...steps) - Math.min(...steps)).toBeLessThan(0.3);
  });

  test('keeps what lies outside at the edge', () => {
    const inside = drawn(lineChart(CHART), 0);
    const outside = lineChart({
      ...CHART,
      series: [
        {
          name: 'one',
          points: [
            [-5, -5],
            [5, 5],
            [99, 99],
          ],
        },
      ],
    });
    expect(drawn(outside, 0)).toEqual(inside);
  });

  test('escapes what it is told to write', () => {
    const svg = lineChart({ ...CHART, title: '<script>&"', series: [{ name: 'a < b', points: [[0, 0]] }] });
    expect(svg).not.toContain('<script');
    expect(svg).toContain('&lt;script&gt;&amp;&quot;');
    expect(svg).toContain('a &lt; b');
  });

  test('has a colour for each line, light and dark, and refuses more', () => {
    const [line = expect.fail()] = CHART.series;
    const svg = lineChart({ ...CHART, series: Array.from({ length: SERIES_MAX }, () => line) });
    expect(svg.match(/\.line-0\{stroke:/g)).toHaveLength(2);
    expect(() =>
      lineChart({ ...CHART, series: Array.from({ length: SERIES_MAX + 1 }, () => line) }),
    ).toThrow();
  });

  test('has colours that can be read on its backgrounds', () => {
    for (const pair of COLOURS) {
      for (const [shade, background] of BACKGROUNDS.entries()) {
        expect(contrast(pair[shade] ?? '', background), pair[shade]).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  test('leaves out points that would not be seen, but never the last', () => {
    const points = Array.from({ length: 10_001 }, (_, n) => [n / 1_000, n / 1_000] as const);
    const line = drawn(lineChart({ ...CHART, series: [{ name: 'one', points }] }), 0);
    expect(line.length).toBeLessThan(600);
    expect(line.at(-1)).toEqual(drawn(lineChart(CHART), 0).at(-1));
  });
});

describe('latenessChart', () => {
  test('has a colour for every contender that sends', () => {
    const senders = CONTENDER_IDS.filter((id) => id !== 'bare-route');
    expect(SERIES_MAX).toBeGreaterThanOrEqual(senders.length);
  });

  test('rises from nothing to everything, earlier for what is earlier', () => {
    const ids = new Set<string>(['sched-sqlite', 'limit', 'agenda']);
    const contenders = CANNED.contenders.filter(({ id }) => ids.has(id));
    const { svg = '' } = latenessChart({ ...CANNED, contenders }) ?? {};
    const lines = [0, 1, 2].map((n) => drawn(svg, n));
    for (const line of lines) {
      expect(line.map(([, y]) => y)).toEqual(line.map(([, y]) => y).toSorted((a, b) => b - a));
      expect(line.map(([x]) => x)).toEqual(line.map(([x]) => x).toSorted((a, b) => a - b));
    }
    const [sched = 0, limit = 0, agenda = 0] = lines.map((line) => leftAtHalf(line));
    expect(limit).toBeLessThan(sched);
    expect(sched).toBeLessThan(agenda);
  });
});

/** Where a line passes half of its height. */
function leftAtHalf(line: readonly (readonly [number, number])[]): number {
  const tops = line.map(([, top]) => top);
  const half = (Math.min(...tops) + Math.max(...tops)) / 2;
  return line.find(([, top]) => top <= half)?.[0] ?? Number.NaN;
}

/** As the accessibility guidelines reckon it. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

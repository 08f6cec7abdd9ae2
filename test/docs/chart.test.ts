/** The charts of the docs: what is measured is what is drawn, whatever it is called. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type LineChart, lineChart, SERIES_MAX } from '../../bench/chart.ts';
import { latenessChart } from '../../bench/chart-lateness.ts';
import { pageAt, ROOT } from './pages.ts';

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
});

describe('latenessChart', () => {
  const latenessMs = Array.from({ length: 1_000 }, (_, n) => (n + 1) / 100);
  const svg = latenessChart(
    [
      { name: 'this', latenessMs },
      { name: 'that', latenessMs: latenessMs.map((late) => late * 10) },
    ],
    { rate: 100, seconds: 5, rounds: 2 },
  );

  test('tells the median, the 99th percentile and how many there were', () => {
    expect(svg).toContain('this: half within 5.0 ms, 99 % within 9.9 ms');
    expect(svg).toContain('that: half within 50 ms, 99 % within 99 ms');
    expect(svg).toContain('1,000 requests');
  });

  test('rises from nothing to everything, earlier for what is earlier', () => {
    const [sooner, later] = [drawn(svg, 0), drawn(svg, 1)];
    for (const line of [sooner, later]) {
      expect(line.map(([, y]) => y)).toEqual(line.map(([, y]) => y).toSorted((a, b) => b - a));
      expect(line.map(([x]) => x)).toEqual(line.map(([x]) => x).toSorted((a, b) => a - b));
    }
    const middle = Math.floor(sooner.length / 2);
    expect(sooner[middle]?.[0]).toBeLessThan(later[middle]?.[0] ?? 0);
  });
});

describe('docs/lateness.svg', () => {
  const svg = readFileSync(join(ROOT, 'docs/lateness.svg'), 'utf8');

  test('is such a chart, small, and asks nothing of the outside', () => {
    for (const part of ['>Sched on SQLite: half within', 'prefers-color-scheme:dark']) {
      expect(svg.includes(part) ? '' : part).toBe('');
    }
    expect(svg.length).toBeLessThan(20_000);
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|<image|url\(/);
  });

  test('shows what the README says of it', () => {
    const [sched, bare] = [toldOf('Sched on SQLite', svg), toldOf('A bare timer, nothing stored', svg)];
    const { text } = pageAt('README.md');
    expect(text).toContain('Sched a millisecond or so behind a bare timer');
    expect(sched.halfMs - bare.halfMs, REDRAW).toBeLessThan(2);
    expect(text).toContain('99 % before the target of 100 to 300 ms');
    expect(sched.mostMs, REDRAW).toBeLessThan(100);
  });

  test('is not that of a busy machine', () => {
    expect(toldOf('A bare timer, nothing stored', svg).mostMs, REDRAW).toBeLessThan(30);
  });
});

const REDRAW = 'on a machine that does nothing else: npm run bench:lateness -- --chart docs/lateness.svg';

/** The median and the 99th percentile that a chart tells of one line. */
function toldOf(name: string, svg: string): { readonly halfMs: number; readonly mostMs: number } {
  const [, half, most] =
    new RegExp(`>${name}: half within ([\\d.]+) ms, 99 % within ([\\d.]+) ms<`).exec(svg) ?? [];
  return { halfMs: Number(half), mostMs: Number(most) };
}

/** The chart of the README comes from the benchmark, measured on an idle machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pageAt, ROOT } from './pages.ts';

describe('docs/benchmarks/lateness.svg', () => {
  const svg = readFileSync(join(ROOT, 'docs/benchmarks/lateness.svg'), 'utf8');

  test('is a small chart without external resources', () => {
    for (const part of ['>Sched on SQLite: half within', 'prefers-color-scheme:dark']) {
      expect(svg.includes(part) ? '' : part).toBe('');
    }
    expect(svg.length).toBeLessThan(30_000);
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|<image|url\(/);
  });

  test('shows the numbers of the README', () => {
    const [sched, bare] = [figuresOf('Sched on SQLite', svg), figuresOf('limit: timers and client', svg)];
    const { text } = pageAt('README.md');
    expect(text).toContain('Sched a millisecond or so behind a bare timer');
    expect(sched.halfMs - bare.halfMs, REDRAW).toBeLessThan(2);
    expect(text).toContain('99 % before the allowed 100 to 300 ms');
    expect(sched.mostMs, REDRAW).toBeLessThan(100);
  });

  test('was not measured on a busy machine', () => {
    expect(figuresOf('limit: timers and client', svg).mostMs, REDRAW).toBeLessThan(30);
  });
});

const REDRAW = 'on a machine that does nothing else: npm run bench';

/** The median and the 99th percentile of one line of the chart. */
function figuresOf(name: string, svg: string): { readonly halfMs: number; readonly mostMs: number } {
  const [, half, most] =
    new RegExp(`>${name}: half within ([\\d.]+) ms, 99 % within ([\\d.]+) ms<`).exec(svg) ?? [];
  return { halfMs: Number(half), mostMs: Number(most) };
}

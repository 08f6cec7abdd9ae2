import { describe, expect, it } from 'vitest';
import type { Upcoming } from '../../../src/control/http/data-contract.ts';
import { heatLevel, heatOf, readWindow, windowQuery, writeWindow } from './upcoming-window.ts';

const params = (text: string) => new URLSearchParams(text);

describe('the window in the address', () => {
  it('survives being written and read', () => {
    const fixed = {
      kind: 'fixed',
      from: '2026-11-15T12:00:00.000Z',
      until: '2026-11-15T13:00:00.000Z',
    } as const;
    expect(readWindow(writeWindow(fixed))).toEqual(fixed);
    expect(readWindow(params('window=6h'))).toEqual({ kind: 'preset', name: '6h' });
  });

  it('is one hour if it is invalid', () => {
    for (const text of [
      '',
      'window=2y',
      'from=2026-11-15T13:00:00Z&until=2026-11-15T12:00:00Z',
      'from=2026-01-01T00:00:00Z&until=2026-12-01T00:00:00Z',
    ]) {
      expect(readWindow(params(text))).toEqual({ kind: 'preset', name: '1h' });
    }
  });

  it('begins at a whole minute', () => {
    const query = windowQuery({ kind: 'preset', name: '15m' }, Date.parse('2026-11-15T12:34:56.789Z'));
    expect(query.get('from')).toBe('2026-11-15T12:34:00.000Z');
    expect(query.get('until')).toBe('2026-11-15T12:49:00.000Z');
  });
});

describe('the heat map', () => {
  const upcoming: Upcoming = {
    from: '2026-11-15T12:00:00.000Z',
    until: '2026-11-15T12:05:00.000Z',
    step_ms: 60_000,
    endpoints: [
      {
        endpoint: 'a',
        endpoint_id: null,
        name: null,
        url: 'https://a.example',
        total: 9,
        counts: [1, 0, 7, 0, 1],
      },
      { endpoint: null, endpoint_id: null, name: null, url: null, total: 2, counts: [0, 1, 1, 0, 0] },
    ],
    counts: [1, 1, 8, 0, 1],
    total: 11,
    runs: [],
    is_complete: true,
  };

  it('marks the busiest column', () => {
    const heat = heatOf(upcoming, 120);
    expect([...heat.busiest]).toEqual([2]);
    expect([heat.cellMax, heat.totalMax]).toEqual([7, 8]);
  });

  it('joins steps to fit the columns, and loses no run', () => {
    const heat = heatOf(upcoming, 3);
    expect(heat.totals).toEqual([2, 8, 1]);
    expect(heat.stepMs).toBe(120_000);
    expect(heat.rows.map((row) => row.cells)).toEqual([
      [1, 7, 1],
      [1, 1, 0],
    ]);
    expect(heat.starts[1]).toBe(Date.parse('2026-11-15T12:02:00.000Z'));
  });

  it('marks no column if all have the same number', () => {
    expect(heatOf({ ...upcoming, counts: [3, 3, 3, 3, 3] }, 120).busiest.size).toBe(0);
    expect(heatOf({ ...upcoming, counts: [0, 0, 1, 0, 0] }, 120).busiest.size).toBe(0);
    expect(heatOf({ ...upcoming, counts: [0, 0, 4, 0, 0] }, 120).busiest.size).toBe(1);
  });

  it('shows one run beside a thousand', () => {
    expect(heatLevel(1, 1_000)).toBe(1);
    expect(heatLevel(0, 1_000)).toBe(0);
    expect(heatLevel(1_000, 1_000)).toBe(5);
  });
});

/** The window of the upcoming runs, in the address: a preset that moves with the clock, or two fixed instants. */
import type { Upcoming } from '../../../src/control/http/data-contract.ts';
import { queryOf } from './filters.ts';

export const WINDOWS = ['15m', '1h', '6h', '24h', '7d'] as const;
export type WindowName = (typeof WINDOWS)[number];

const MINUTE_MS = 60_000;
const WINDOW_MS: Readonly<Record<WindowName, number>> = {
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '6h': 6 * 60 * MINUTE_MS,
  '24h': 24 * 60 * MINUTE_MS,
  '7d': 7 * 24 * 60 * MINUTE_MS,
};
/** The limit of the service. */
export const WINDOW_MAX_MS = WINDOW_MS['7d'];

export type UpcomingWindow =
  | { readonly kind: 'preset'; readonly name: WindowName }
  | { readonly kind: 'fixed'; readonly from: string; readonly until: string };

export function readWindow(query: URLSearchParams): UpcomingWindow {
  const from = Date.parse(query.get('from') ?? '');
  const until = Date.parse(query.get('until') ?? '');
  if (until > from && until - from <= WINDOW_MAX_MS) {
    return { kind: 'fixed', from: new Date(from).toISOString(), until: new Date(until).toISOString() };
  }
  const name = WINDOWS.find((known) => known === query.get('window')) ?? '1h';
  return { kind: 'preset', name };
}

export function writeWindow(window: UpcomingWindow): URLSearchParams {
  return window.kind === 'preset'
    ? queryOf({ window: window.name })
    : queryOf({ from: window.from, until: window.until });
}

/** The query of the API. A preset begins at a whole minute, so that the query does not change every second. */
export function windowQuery(window: UpcomingWindow, nowMs: number): URLSearchParams {
  if (window.kind === 'fixed') return queryOf({ from: window.from, until: window.until });
  const from = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  return queryOf({
    from: new Date(from).toISOString(),
    until: new Date(from + WINDOW_MS[window.name]).toISOString(),
  });
}

export interface HeatRow {
  readonly endpoint: Upcoming['endpoints'][number] | null;
  readonly cells: readonly number[];
  readonly total: number;
}

export interface Heat {
  readonly stepMs: number;
  /** The start of each column. */
  readonly starts: readonly number[];
  readonly rows: readonly HeatRow[];
  readonly totals: readonly number[];
  /** The largest number in a cell of an endpoint, and in a column. */
  readonly cellMax: number;
  readonly totalMax: number;
  /** The columns with the most runs. */
  readonly busiest: ReadonlySet<number>;
}

const BUSIEST_MAX = 3;
/** Fewer runs than this in a column are not worth a mark. */
const BUSY_MIN = 2;

/** Joins steps, so that there are at most `columnsMax` columns. */
export function heatOf(upcoming: Upcoming, columnsMax: number): Heat {
  const together = Math.max(1, Math.ceil(upcoming.counts.length / columnsMax));
  const totals = sums(upcoming.counts, together);
  const rows = upcoming.endpoints.map((endpoint) => ({
    endpoint,
    cells: sums(endpoint.counts, together),
    total: endpoint.total,
  }));
  const stepMs = upcoming.step_ms * together;
  const from = Date.parse(upcoming.from);
  return {
    stepMs,
    starts: totals.map((_, index) => from + index * stepMs),
    rows,
    totals,
    cellMax: Math.max(0, ...rows.flatMap((row) => row.cells)),
    totalMax: Math.max(0, ...totals),
    busiest: busiestOf(totals),
  };
}

function sums(counts: readonly number[], together: number): readonly number[] {
  const groups: number[] = [];
  counts.forEach((count, index) => {
    const at = Math.floor(index / together);
    groups[at] = (groups[at] ?? 0) + count;
  });
  return groups;
}

/** The columns with the most runs, if they have more than the median. */
function busiestOf(totals: readonly number[]): ReadonlySet<number> {
  const filled = totals.filter((total) => total > 0).sort((a, b) => a - b);
  const median = filled[Math.floor(filled.length / 2)] ?? 0;
  const ranked = totals
    .map((total, index) => ({ total, index }))
    .filter(({ total }) => total >= BUSY_MIN && (total > median || filled.length === 1))
    .sort((a, b) => b.total - a.total || a.index - b.index);
  return new Set(ranked.slice(0, BUSIEST_MAX).map(({ index }) => index));
}

const HEAT_LEVELS = 5;

/** 0 for no runs, else 1 to `HEAT_LEVELS`. The square root keeps small numbers visible beside large ones. */
export function heatLevel(count: number, max: number): number {
  if (count <= 0 || max <= 0) return 0;
  return Math.max(1, Math.min(HEAT_LEVELS, Math.ceil(Math.sqrt(count / max) * HEAT_LEVELS)));
}

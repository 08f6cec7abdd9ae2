/** The window of what is coming, in the address: a preset that moves along, or two instants that stand still. */
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
/** The service refuses more. */
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

/** The query of the API; a preset begins on a whole minute, so that the same is asked for within one. */
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
  /** When each column begins. */
  readonly starts: readonly number[];
  readonly rows: readonly HeatRow[];
  readonly totals: readonly number[];
  /** The most in one cell of an endpoint, and in one column. */
  readonly cellMax: number;
  readonly totalMax: number;
  /** Columns in which the most is due at once. */
  readonly busiest: ReadonlySet<number>;
}

const BUSIEST_MAX = 3;
/** Fewer than this at once is no collision. */
const COLLISION_MIN = 2;

/** Steps are put together so that at most so many columns are left. */
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

/** Those that stand out: the most, and more than the usual step has. */
function busiestOf(totals: readonly number[]): ReadonlySet<number> {
  const filled = totals.filter((total) => total > 0).sort((a, b) => a - b);
  const median = filled[Math.floor(filled.length / 2)] ?? 0;
  const ranked = totals
    .map((total, index) => ({ total, index }))
    .filter(({ total }) => total >= COLLISION_MIN && (total > median || filled.length === 1))
    .sort((a, b) => b.total - a.total || a.index - b.index);
  return new Set(ranked.slice(0, BUSIEST_MAX).map(({ index }) => index));
}

export const HEAT_LEVELS = 5;

/** 0 is none; else 1 to `HEAT_LEVELS`, by the square root, so that few are seen beside many. */
export function heatLevel(count: number, max: number): number {
  if (count <= 0 || max <= 0) return 0;
  return Math.max(1, Math.min(HEAT_LEVELS, Math.ceil(Math.sqrt(count / max) * HEAT_LEVELS)));
}

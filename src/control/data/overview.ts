/** `GET overview` shows what was sent and how punctually, what is due, the open breakers, and the live nodes. */
import { z } from 'zod';
import type { OpenBreaker, Overview, OverviewRange } from '#src/control/http/data-contract.ts';
import { choice } from '#src/control/http/fields.ts';
import { json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import { parseId } from '#src/domain/id.ts';
import { formatInstant, type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import {
  addStats,
  HOUR_MS,
  LATENESS_BOUNDS_MS,
  latenessQuantile,
  MINUTE_MS,
  NO_STATS,
  type Stats,
} from '#src/domain/stats.ts';
import { type BreakerStatus, listBreakers } from './breakers.ts';
import type { DataDependencies } from './dependencies.ts';
import { Forecasts } from './forecast.ts';
import { presentCounts } from './present.ts';
import { type SeriesWindow, StatsSeries } from './stats-series.ts';
import { inSteps, stepOf } from './window.ts';

const RANGES: Readonly<Record<OverviewRange, Omit<SeriesWindow, 'from'>>> = {
  '1h': { spanMs: MINUTE_MS, stepMs: MINUTE_MS, steps: 60 },
  '6h': { spanMs: MINUTE_MS, stepMs: 5 * MINUTE_MS, steps: 72 },
  '24h': { spanMs: MINUTE_MS, stepMs: 15 * MINUTE_MS, steps: 96 },
  '7d': { spanMs: HOUR_MS, stepMs: HOUR_MS, steps: 168 },
  '30d': { spanMs: HOUR_MS, stepMs: 4 * HOUR_MS, steps: 180 },
};
const RANGE_NAMES = Object.keys(RANGES) as readonly OverviewRange[];
const DEFAULT_RANGE: OverviewRange = '1h';
const DUE_COUNTED_MAX = 50_000;
const BREAKERS_SHOWN_MAX = 50;
/** An expensive forecast is cached for longer than a minute, so its window must not change with every minute. */
const FORECAST_STEP_MS = 5 * MINUTE_MS;
const ANY = { state: null, kind: null, labels: [] } as const;

export function overviewRoute(dependencies: DataDependencies): ProjectRoute {
  const { clock, store } = dependencies.commands;
  const forecasts = new Forecasts({ ...dependencies, clock });
  const series = new StatsSeries(dependencies.insight);
  return projectRoute('GET overview', {
    needs: 'viewer',
    query: z.object({ range: choice(RANGE_NAMES) }),
    handle: async ({ query, partition }) => {
      const range = query.range ?? DEFAULT_RANGE;
      const now = clock.now();
      const window = seriesWindowOf(range, now);
      const [stats, due, breakers, cluster, newest] = await Promise.all([
        series.read(partition, window, now),
        dueOf(dependencies, forecasts, partition, now),
        openBreakers(dependencies, partition, now),
        clusterOf(dependencies),
        store.listSchedules(partition, ANY, { before: null, limit: 1 }),
      ]);
      const total = stats.map(({ stats }) => stats).reduce(addStats, NO_STATS);
      const overview: Overview = {
        now: formatInstant(now),
        range,
        step_ms: window.stepMs,
        steps: stats.map(({ at, stats }) => ({
          at: formatInstant(at),
          ...presentCounts(stats),
          p50_ms: latenessQuantile(stats, 0.5),
          p99_ms: latenessQuantile(stats, 0.99),
        })),
        total: presentCounts(total),
        lateness: presentLateness(total),
        due,
        breakers,
        ...cluster,
        is_empty: newest.items.length === 0 && total.fired === 0,
      };
      return { ...json(overview), comparedBody: comparedBodyOf(overview) };
    },
  });
}

/** The present time and renewed leases are not news for a live page. */
function comparedBodyOf({ nodes, ...overview }: Overview): string {
  return JSON.stringify({
    ...overview,
    now: null,
    nodes: nodes?.map((node) => ({ ...node, lease_until: null })) ?? null,
  });
}

/** The last step is still open. */
function seriesWindowOf(range: OverviewRange, now: Instant): SeriesWindow {
  const { spanMs, stepMs, steps } = RANGES[range];
  return { spanMs, stepMs, steps, from: instant((Math.floor(now / stepMs) - steps + 1) * stepMs) };
}

function presentLateness(total: Stats): Overview['lateness'] {
  const within = (ms: number) =>
    total.lateness.reduce(
      (sum, attempts, index) => ((LATENESS_BOUNDS_MS[index] ?? Infinity) <= ms ? sum + attempts : sum),
      0,
    );
  return {
    p50_ms: latenessQuantile(total, 0.5),
    p99_ms: latenessQuantile(total, 0.99),
    within_100_ms: within(100),
    within_300_ms: within(300),
    attempts: total.lateness.reduce((sum, attempts) => sum + attempts, 0),
    classes: total.lateness.map((attempts, index) => ({
      up_to_ms: LATENESS_BOUNDS_MS[index] ?? null,
      attempts,
    })),
  };
}

/**
 * Counts what is due by means of the forecast. If there are too many waiting deliveries to list, the store counts them,
 * and only the projected runs are taken from the forecast.
 */
async function dueOf(
  { insight }: DataDependencies,
  forecasts: Forecasts,
  partition: Partition,
  now: Instant,
): Promise<Overview['due']> {
  const from = instant(Math.floor(now / MINUTE_MS) * MINUTE_MS);
  const window = inSteps({ from, until: instant(from + HOUR_MS) });
  const { stepMs, until } = window;
  const since = instant(Math.floor(from / FORECAST_STEP_MS) * FORECAST_STEP_MS);
  const forecast = await forecasts.get(partition, since, instant(since + HOUR_MS + FORECAST_STEP_MS));
  const { waiting, projected, isComplete } = forecast;
  const counts = isComplete
    ? Array.from({ length: window.steps }, () => 0)
    : [...(await insight.countDue(partition, from, until, stepMs, DUE_COUNTED_MAX)).counts];
  for (const { at } of isComplete ? [...waiting, ...projected] : projected) {
    const step = stepOf(window, at);
    if (at >= from && at < until) counts[step] = (counts[step] ?? 0) + 1;
  }
  return { from: formatInstant(from), step_ms: stepMs, counts, is_complete: isComplete };
}

async function openBreakers(
  { insight, commands }: DataDependencies,
  partition: Partition,
  now: Instant,
): Promise<readonly OpenBreaker[]> {
  const breakers = [...(await listBreakers(insight, partition, now)).values()];
  const open = breakers.filter(({ state }) => state !== 'closed').slice(0, BREAKERS_SHOWN_MAX);
  return Promise.all(open.map((breaker) => presentBreaker(commands, partition, breaker, now)));
}

async function presentBreaker(
  { store }: Pick<DataDependencies['commands'], 'store'>,
  partition: Partition,
  { endpoint, state, openUntil, windowMs }: BreakerStatus,
  now: Instant,
): Promise<OpenBreaker> {
  const endpointId = parseId('ep', endpoint);
  const profile = endpointId === null ? null : await store.findProfile(partition, endpointId);
  return {
    endpoint,
    endpoint_id: endpointId,
    name: profile?.name ?? null,
    url: endpointId === null ? endpoint : (profile?.url ?? null),
    state: state === 'open' ? 'open' : 'half_open',
    open_until: formatInstant(openUntil ?? now),
    window_ms: windowMs,
  };
}

async function clusterOf({ insight, node, isCluster }: DataDependencies) {
  if (!isCluster) return { nodes: null, free_slots: 0 };
  const { nodes, slots } = await insight.readCluster();
  const held = new Map<string, number>(nodes.map((lease) => [lease.node, 0]));
  let free = 0;
  for (const { owner } of slots) {
    const count = owner === null ? undefined : held.get(owner);
    if (owner === null || count === undefined) free += 1;
    else held.set(owner, count + 1);
  }
  return {
    nodes: nodes.map((lease) => ({
      node: lease.node,
      is_this: lease.node === node,
      is_stopping: lease.isStopping,
      version: lease.version,
      lease_until: formatInstant(lease.leaseUntil),
      slots: held.get(lease.node) ?? 0,
    })),
    free_slots: free,
  };
}

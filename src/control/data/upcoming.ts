/** `GET upcoming` shows everything that is due in a window, by step and by endpoint, so that peaks are visible. */
import type { Upcoming } from '#src/control/http/data-contract.ts';
import { json, type ProjectRoute, projectRoute } from '#src/control/http/route.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { parseId } from '#src/domain/id.ts';
import { formatInstant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { HOUR_MS } from '#src/domain/stats.ts';
import type { DueCounts } from '#src/ports/insight-store.ts';
import type { Store } from '#src/ports/store.ts';
import type { DataDependencies } from './dependencies.ts';
import { type Forecast, type ForecastRun, Forecasts, type Source } from './forecast.ts';
import { RevalidatingCache } from './revalidating-cache.ts';
import { TimeSlicer } from './time-slicer.ts';
import { DAY_MS, inSteps, requireWindow, type SteppedWindow, stepOf, WINDOW_QUERY } from './window.ts';

const WINDOW = { defaultMs: HOUR_MS, maxMs: 7 * DAY_MS };
const COUNTED_MAX = 50_000;
const ENDPOINTS_SHOWN_MAX = 20;
/** The page lists this many runs. */
const RUNS_SHOWN_MAX = 100;
/** Larger than any number of runs. So an instant and the index of its run fit into one number, which sorts fast. */
const INDEX_RANGE = 65_536;

export function upcomingRoute({ commands, insight, timers }: DataDependencies): ProjectRoute {
  const { store, clock } = commands;
  const forecasts = new Forecasts({ insight, timers, clock });
  const cache = new RevalidatingCache<Upcoming>(timers);
  return projectRoute('GET upcoming', {
    needs: 'viewer',
    query: WINDOW_QUERY,
    handle: async ({ query, partition }) => {
      const now = clock.now();
      const { from, until } = requireWindow(query, now, WINDOW);
      // The past has no upcoming deliveries.
      const window = inSteps({
        from: instant(Math.max(from, now)),
        until: instant(Math.max(until, now + 1)),
      });
      const key = `${partition}/${window.from}/${window.until}`;
      return json(
        await cache.get(key, async () => {
          const { from, until, stepMs } = window;
          // The counts are needed only if the forecast is incomplete. Reading both at once saves time then.
          const [forecast, counted] = await Promise.all([
            forecasts.get(partition, from, until),
            insight.countDue(partition, from, until, stepMs, COUNTED_MAX),
          ]);
          const upcoming = await present(
            window,
            forecast.isComplete ? null : counted,
            forecast,
            new TimeSlicer(timers, partition),
          );
          return { ...upcoming, endpoints: await withNames(store, partition, upcoming.endpoints) };
        }),
      );
    },
  });
}

/** `counted` has the counts of waiting deliveries if there are too many to list. */
async function present(
  window: SteppedWindow,
  counted: DueCounts | null,
  forecast: Forecast,
  slicer: TimeSlicer,
): Promise<Upcoming> {
  const runs = [...forecast.waiting, ...forecast.projected];
  const totals = new Map<EndpointKey, { readonly source: Source; total: number }>();
  const counts = counted === null ? zeros(window) : [...counted.counts];
  for (const { at, source, deliveryId } of runs) {
    if (slicer.isUsedUp) await slicer.pause();
    const known = totals.get(source.endpoint);
    if (known === undefined) totals.set(source.endpoint, { source, total: 1 });
    else known.total += 1;
    if (counted === null || deliveryId === null)
      counts[stepOf(window, at)] = (counts[stepOf(window, at)] ?? 0) + 1;
  }
  const total = counts.reduce((sum, count) => sum + count, 0);
  const busiest = [...totals.values()].sort((a, b) => b.total - a.total).slice(0, ENDPOINTS_SHOWN_MAX);
  const shown = new Map(
    busiest.map(({ source, total }) => [source.endpoint, { source, total, counts: zeros(window) }]),
  );
  const restCounts = [...counts];
  for (const { at, source } of runs) {
    if (slicer.isUsedUp) await slicer.pause();
    const row = shown.get(source.endpoint);
    if (row === undefined) continue;
    const step = stepOf(window, at);
    row.counts[step] = (row.counts[step] ?? 0) + 1;
    // The counts and the list were read at different moments, so the difference may be negative.
    restCounts[step] = Math.max((restCounts[step] ?? 0) - 1, 0);
  }
  const rest = { total: restCounts.reduce((sum, count) => sum + count, 0), counts: restCounts };
  if (slicer.isUsedUp) await slicer.pause();
  return {
    from: formatInstant(window.from),
    until: formatInstant(window.until),
    step_ms: window.stepMs,
    endpoints: [
      ...[...shown.values()].map(({ source, total, counts }) => ({
        endpoint: source.endpoint as string,
        endpoint_id: source.endpointId,
        name: null,
        url: source.endpointId === null ? source.endpoint : source.url,
        total,
        counts,
      })),
      ...(rest.total > 0 ? [{ endpoint: null, endpoint_id: null, name: null, url: null, ...rest }] : []),
    ],
    counts,
    total,
    runs: earliest(runs, window).map(presentRun),
    is_complete: forecast.isComplete,
  };
}

async function withNames(
  store: Pick<Store, 'findProfile'>,
  partition: Partition,
  endpoints: Upcoming['endpoints'],
): Promise<Upcoming['endpoints']> {
  return Promise.all(
    endpoints.map(async (endpoint) => {
      const id = parseId('ep', endpoint.endpoint_id ?? '');
      const profile = id === null ? null : await store.findProfile(partition, id);
      return { ...endpoint, name: profile?.name ?? null };
    }),
  );
}

function earliest(runs: readonly ForecastRun[], { from }: SteppedWindow): readonly ForecastRun[] {
  const order = Float64Array.from(runs, ({ at }, index) => (at - from) * INDEX_RANGE + index).sort();
  return [...order.subarray(0, RUNS_SHOWN_MAX)].flatMap((key) => runs[key % INDEX_RANGE] ?? []);
}

function presentRun({ at, source, deliveryId, isRetry }: ForecastRun): Upcoming['runs'][number] {
  return {
    at: formatInstant(at),
    schedule_id: source.scheduleId,
    schedule_name: source.name,
    delivery_id: deliveryId,
    is_retry: isRetry,
    endpoint: source.endpoint,
    url: source.url,
    method: source.method,
    cron: source.cron,
    timezone: source.timezone,
  };
}

function zeros({ steps }: SteppedWindow): number[] {
  return Array.from({ length: steps }, () => 0);
}

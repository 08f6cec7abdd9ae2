/**
 * Stats of a window of time, by step, for charts that are read again and again.
 *
 * Stats that are some minutes old hardly ever change. They are cached, and only recent stats are read each time. Every
 * 15 seconds everything is read again, because a node that was cut off from the store may have written late.
 */
import { LRUCache } from 'lru-cache';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { addStats, NO_STATS, type Stats, type StatsSpanMs } from '#src/domain/stats.ts';
import type { InsightStore, StatsPoint } from '#src/ports/insight-store.ts';

const RECENT_MS = 3 * 60_000;
const CACHED_MS = 15_000;
const CACHED_MAX = 32;
/** Decoding rows takes time of the thread that sends deliveries. */
const ROWS_AT_ONCE = 240;

export interface SeriesWindow {
  readonly from: Instant;
  readonly stepMs: number;
  readonly steps: number;
  /** The span of the stats that are summed up to steps. */
  readonly spanMs: StatsSpanMs;
}

interface CachedSeries {
  readonly readAt: Instant;
  readonly from: Instant;
  /** The steps by the instant they begin with, without empty ones. Steps before `until` are considered final. */
  readonly steps: ReadonlyMap<number, Stats>;
  readonly until: Instant;
}

export class StatsSeries {
  readonly #insight: Pick<InsightStore, 'readStats'>;
  readonly #cached = new LRUCache<string, CachedSeries>({ max: CACHED_MAX });

  constructor(insight: Pick<InsightStore, 'readStats'>) {
    this.#insight = insight;
  }

  /** Returns the stats of every step. */
  async read(partition: Partition, window: SeriesWindow, now: Instant): Promise<readonly StatsPoint[]> {
    const { from, stepMs, steps, spanMs } = window;
    const key = `${partition}/${spanMs}/${stepMs}/${steps}`;
    const cached = this.#findFresh(key, window, now);
    const found = new Map(cached?.steps);
    const readFrom = cached?.until ?? from;
    for (const at of found.keys()) if (at < from || at >= readFrom) found.delete(at);
    for (const { at, stats } of await this.#readRows(partition, window, readFrom)) {
      const step = Math.floor(at / stepMs) * stepMs;
      found.set(step, addStats(found.get(step) ?? NO_STATS, stats));
    }
    this.#cached.set(key, {
      readAt: cached?.readAt ?? now,
      from: cached?.from ?? from,
      steps: found,
      until: instant(Math.max(Math.floor((now - RECENT_MS) / stepMs) * stepMs, from)),
    });
    return Array.from({ length: steps }, (_, step) => {
      const at = instant(from + step * stepMs);
      return { at, stats: found.get(at) ?? NO_STATS };
    });
  }

  #findFresh(key: string, { from }: SeriesWindow, now: Instant): CachedSeries | null {
    const cached = this.#cached.get(key) ?? null;
    if (cached === null || cached.from > from || cached.until < from) return null;
    return now >= cached.readAt && now - cached.readAt < CACHED_MS ? cached : null;
  }

  async #readRows(
    partition: Partition,
    { from, stepMs, steps, spanMs }: SeriesWindow,
    since: Instant,
  ): Promise<readonly StatsPoint[]> {
    const end = from + steps * stepMs;
    const rows: StatsPoint[] = [];
    for (let at: number = since; at < end; at += ROWS_AT_ONCE * spanMs) {
      const until = instant(Math.min(at + ROWS_AT_ONCE * spanMs, end));
      rows.push(...(await this.#insight.readStats(partition, spanMs, instant(at), until)));
    }
    return rows;
  }
}

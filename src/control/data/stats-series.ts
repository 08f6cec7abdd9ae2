/**
 * StatsRecorder of a stretch of time, step by step, for charts that are looked at again and again.
 *
 * What lies some minutes back hardly ever changes: it is kept, and only what is recent is read each time. Now and
 * then everything is read anew, for a node may have been cut off from the store and have told late.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { addStats, NO_STATS, type Stats, type StatsSpanMs } from '#src/domain/stats.ts';
import type { InsightStore, StatsPoint } from '#src/ports/insight-store.ts';

const RECENT_MS = 3 * 60_000;
const READ_ANEW_MS = 15_000;
const KEPT_MAX = 32;
/** Taking in what was read is work of the thread that fires. */
const ROWS_AT_ONCE = 240;

export interface SeriesWindow {
  readonly from: Instant;
  readonly stepMs: number;
  readonly steps: number;
  /** Of the stats it is made of. */
  readonly spanMs: StatsSpanMs;
}

interface Kept {
  readonly readAt: Instant;
  readonly from: Instant;
  /** By the instant a step begins with, those without any left out; what lies before `until` is as good as final. */
  readonly steps: ReadonlyMap<number, Stats>;
  readonly until: Instant;
}

export class StatsSeries {
  readonly #insight: Pick<InsightStore, 'readStats'>;
  readonly #kept = new Map<string, Kept>();

  constructor(insight: Pick<InsightStore, 'readStats'>) {
    this.#insight = insight;
  }

  /** One for each step. */
  async of(partition: Partition, stretch: SeriesWindow, now: Instant): Promise<readonly StatsPoint[]> {
    const { from, stepMs, steps, spanMs } = stretch;
    const name = `${partition}/${spanMs}/${stepMs}/${steps}`;
    const known = this.#fresh(name, stretch, now);
    const found = new Map(known?.steps);
    const readFrom = known?.until ?? from;
    for (const at of found.keys()) if (at < from || at >= readFrom) found.delete(at);
    for (const { at, stats } of await this.#read(partition, stretch, readFrom)) {
      const step = Math.floor(at / stepMs) * stepMs;
      found.set(step, addStats(found.get(step) ?? NO_STATS, stats));
    }
    this.#keep(name, {
      readAt: known?.readAt ?? now,
      from: known?.from ?? from,
      steps: found,
      until: instant(Math.max(Math.floor((now - RECENT_MS) / stepMs) * stepMs, from)),
    });
    return Array.from({ length: steps }, (_, step) => {
      const at = instant(from + step * stepMs);
      return { at, stats: found.get(at) ?? NO_STATS };
    });
  }

  #fresh(name: string, { from }: SeriesWindow, now: Instant): Kept | null {
    const kept = this.#kept.get(name) ?? null;
    if (kept === null || kept.from > from || kept.until < from) return null;
    return now >= kept.readAt && now - kept.readAt < READ_ANEW_MS ? kept : null;
  }

  async #read(
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

  #keep(name: string, kept: Kept): void {
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
  }
}

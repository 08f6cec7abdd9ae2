/**
 * Counts attempts and their results as they happen: by minute and by hour for each partition, and by hour for each
 * endpoint. Counting happens in memory. Changed rows are saved every half second at most. If the store works by customer,
 * each customer's rows take a transaction of their own. They are then saved every three seconds, and not those of all
 * customers at once, because due work would wait for so many transactions.
 *
 * A row has one writer, and its total is saved, not the difference. So a save that failed, or seemed to fail, is made
 * again without harm. For that reason no row may be begun twice. A row of a past span is dropped from memory once it is
 * saved. When the clock is set back into a past span, the new rows therefore belong to another writer.
 *
 * A crash loses the counts since the last save, but never a delivery.
 */

import type { DeliveryStatus } from '#src/domain/delivery.ts';
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { FairShareLimit } from '#src/domain/fair-share-limit.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import {
  HOUR_MS,
  latenessClass,
  MINUTE_MS,
  NO_STATS,
  type Stats,
  type StatsSpanMs,
} from '#src/domain/stats.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import { endpointRefKey } from '#src/ports/endpoint-cache.ts';
import type { SavedEndpointStats, SavedStats } from '#src/ports/insight-store.ts';
import { PeriodicTask, type Wait } from '#src/ports/periodic-task.ts';
import { type StatsRow, UnsavedStats } from './unsaved-stats.ts';

/** Customers are divided into groups, whose rows are saved in turn. */
interface Turns {
  readonly groups: number;
  /** The time between two saves. */
  readonly everyMs: number;
  /** Rows in one save. Due work shares the store with the saves, so other rows of the group wait for its next turn. */
  readonly batchMax: number;
}

const TOGETHER: Turns = { groups: 1, everyMs: 500, batchMax: 250 };
/** The turn of a group comes a sixth as often, so a customer with very many endpoints needs larger saves. */
const BY_CUSTOMER: Turns = { groups: 30, everyMs: 100, batchMax: 1_500 };
/** Partitions and endpoints that are counted within an hour. Those beyond are not counted. */
const PARTITIONS_MAX = 10_000;
const ENDPOINTS_MAX = 30_000;
/** A customer may have twice as many endpoints as are free: 20,000 when it is alone. */
const CUSTOMER_SHARE = 2;

type Result = 'succeeded' | 'deadLettered' | 'expired' | 'retried';

/** An attempt whose schedule was paused meanwhile is retried later, so it counts as retried. */
const RESULTS: Readonly<Record<DeliveryStatus, Result | null>> = {
  succeeded: 'succeeded',
  dead_letter: 'deadLettered',
  expired: 'expired',
  retry_scheduled: 'retried',
  paused: 'retried',
  canceled: null,
  scheduled: null,
  claimed: null,
};

interface PartitionRows {
  minute: StatsRow;
  readonly hour: StatsRow;
}

interface Dependencies extends Pick<EngineDependencies, 'insight' | 'clock' | 'timers' | 'log' | 'node'> {
  readonly store: Pick<EngineDependencies['store'], 'worksByCustomer'>;
}

/** One save at a time, of rows of one writer. */
export class StatsRecorder {
  readonly #dependencies: Dependencies;
  readonly #task: PeriodicTask;
  readonly #turns: Turns;
  /** The changed rows of each group. */
  readonly #groups: readonly UnsavedStats[];
  /** The group that is saved next. */
  #next = 0;
  #writer: string;
  /** How often the clock was set back into a past span. */
  #setBacks = 0;
  /** The begin of the current minute and hour. */
  #minuteAt = instant(0);
  #hourAt = instant(0);
  #partitions = new Map<Partition, PartitionRows>();
  #endpoints = new Map<string, StatsRow>();
  #endpointLimit = newEndpointLimit();
  #hasFailed = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#writer = dependencies.node;
    this.#turns = dependencies.store.worksByCustomer ? BY_CUSTOMER : TOGETHER;
    this.#groups = Array.from({ length: this.#turns.groups }, () => new UnsavedStats());
    this.#task = new PeriodicTask(dependencies.timers, () => this.#saveNext());
  }

  /** An attempt was started. */
  countFired(ref: EndpointRef, latenessMs: number): void {
    this.#beginSpan(this.#dependencies.clock.now());
    const rows = this.#rowsOf(ref.partition);
    if (rows !== null) {
      const index = latenessClass(latenessMs);
      this.#addFired(rows.minute, index);
      this.#addFired(rows.hour, index);
    }
    const endpoint = this.#endpointRowOf(ref);
    if (endpoint === null) return;
    endpoint.fired++;
    this.#changed(endpoint);
  }

  /** An attempt has ended, or a delivery has ended without one. `status` is the new status of the delivery. */
  countEnded(ref: EndpointRef, status: DeliveryStatus): void {
    const result = RESULTS[status];
    if (result === null) return;
    this.#beginSpan(this.#dependencies.clock.now());
    const rows = this.#rowsOf(ref.partition);
    if (rows !== null) {
      this.#addResult(rows.minute, result);
      this.#addResult(rows.hour, result);
    }
    const endpoint = this.#endpointRowOf(ref);
    if (endpoint !== null) this.#addResult(endpoint, result);
  }

  /** A recurring schedule went on past missed occurrences, because its delivery was taken up too late. */
  countDowntimeSkip({ partition }: EndpointRef): void {
    this.#beginSpan(this.#dependencies.clock.now());
    const rows = this.#rowsOf(partition);
    if (rows === null) return;
    for (const row of [rows.minute, rows.hour]) {
      row.downtimeSkips++;
      this.#changed(row);
    }
  }

  /** Saves the remaining rows, unless the store refuses them. */
  async stop(): Promise<void> {
    await this.#task.stop();
    for (const group of this.#groups) {
      while (group.size > 0) if (!(await this.#saveBatch(group))) return;
    }
  }

  #addResult(row: StatsRow, result: Result): void {
    row[result]++;
    this.#changed(row);
  }

  #addFired(row: StatsRow, index: number): void {
    row.fired++;
    if (row.lateness !== null) row.lateness[index] = (row.lateness[index] ?? 0) + 1;
    this.#changed(row);
  }

  #changed(row: StatsRow): void {
    this.#groupOf(row).add(row);
    this.#task.runWithin(this.#turns.everyMs);
  }

  /** Rows of past spans stay in memory only until they are saved. */
  #beginSpan(now: Instant): void {
    const aheadMs = now - this.#minuteAt;
    if (aheadMs >= 0 && aheadMs < MINUTE_MS) return;
    const hourAt = instant(now - (now % HOUR_MS));
    if (aheadMs < 0) this.#writer = `${this.#dependencies.node}/${++this.#setBacks}`;
    if (aheadMs < 0 || hourAt !== this.#hourAt) {
      this.#partitions = new Map();
      this.#endpoints = new Map();
      this.#endpointLimit = newEndpointLimit();
    }
    this.#hourAt = hourAt;
    this.#minuteAt = instant(now - (now % MINUTE_MS));
  }

  #rowsOf(partition: Partition): PartitionRows | null {
    const known = this.#partitions.get(partition);
    if (known === undefined) {
      if (this.#partitions.size >= PARTITIONS_MAX) return null;
      const rows = { minute: this.#newRow(partition, MINUTE_MS), hour: this.#newRow(partition, HOUR_MS) };
      this.#partitions.set(partition, rows);
      return rows;
    }
    if (known.minute.at !== this.#minuteAt) known.minute = this.#newRow(partition, MINUTE_MS);
    return known;
  }

  #endpointRowOf(ref: EndpointRef): StatsRow | null {
    const key = endpointRefKey(ref);
    const known = this.#endpoints.get(key);
    if (known !== undefined) return known;
    if (!this.#endpointLimit.canAcquire(ref.partition)) return null;
    this.#endpointLimit.acquire(ref.partition, 1);
    const row = this.#newRow(ref.partition, HOUR_MS, ref.endpoint);
    this.#endpoints.set(key, row);
    return row;
  }

  #newRow(partition: Partition, spanMs: StatsSpanMs, endpoint: EndpointKey | null = null): StatsRow {
    return {
      writer: this.#writer,
      partition,
      spanMs,
      at: spanMs === MINUTE_MS ? this.#minuteAt : this.#hourAt,
      endpoint,
      fired: 0,
      succeeded: 0,
      deadLettered: 0,
      expired: 0,
      retried: 0,
      lateness: endpoint === null ? [...NO_STATS.lateness] : null,
      downtimeSkips: 0,
    };
  }

  #groupOf({ partition }: StatsRow): UnsavedStats {
    const group = this.#groups[partition % this.#groups.length];
    if (group === undefined) throw new Error('Every partition has a group.');
    return group;
  }

  async #saveNext(): Promise<Wait> {
    const group = this.#groups[this.#next];
    this.#next = (this.#next + 1) % this.#groups.length;
    if (group !== undefined) await this.#saveBatch(group);
    return this.#groups.some(({ size }) => size > 0) ? this.#turns.everyMs : null;
  }

  /** Returns false when the store refused the rows. */
  async #saveBatch(group: UnsavedStats): Promise<boolean> {
    const { insight, log } = this.#dependencies;
    const rows = group.take(this.#turns.batchMax);
    const [first] = rows;
    if (first === undefined) return true;
    try {
      await insight.saveStats(first.writer, rows.flatMap(partitionStats), rows.flatMap(endpointStats));
      this.#hasFailed = false;
      return true;
    } catch (error) {
      for (const row of rows) group.add(row);
      if (!this.#hasFailed) log.warn({ error: String(error) }, 'stats could not be saved');
      this.#hasFailed = true;
      return false;
    }
  }
}

function newEndpointLimit(): FairShareLimit {
  return new FairShareLimit(ENDPOINTS_MAX, CUSTOMER_SHARE);
}

function partitionStats(row: StatsRow): readonly SavedStats[] {
  const { partition, spanMs, at, endpoint } = row;
  return endpoint === null ? [{ partition, spanMs, at, stats: statsOf(row) }] : [];
}

function endpointStats(row: StatsRow): readonly SavedEndpointStats[] {
  const { partition, endpoint, at } = row;
  return endpoint === null ? [] : [{ partition, endpoint, at, stats: statsOf(row) }];
}

function statsOf(row: StatsRow): Stats {
  const { fired, succeeded, deadLettered, expired, retried, lateness, downtimeSkips } = row;
  const classes = lateness === null ? NO_STATS.lateness : [...lateness];
  return { fired, succeeded, deadLettered, expired, retried, lateness: classes, downtimeSkips };
}

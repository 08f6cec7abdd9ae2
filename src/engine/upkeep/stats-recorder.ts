/**
 * What was fired and what came of it, counted as it happens: by the minute and by the hour for each partition, by
 * the hour for each endpoint. Counting costs next to nothing; every half second at most, what changed is saved.
 *
 * A row has one writer and is saved as it stands, not as what was added to it: a save that failed, or only seemed
 * to, is made again and does no harm. What follows from that is that no row may be begun twice. When its span is
 * over it is dropped here, once it is saved; so when the clock is set back into a span that is over, the rows begun
 * then are those of another writer.
 *
 * A crash loses the counts since the last save, never a delivery.
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

const SAVE_EVERY_MS = 500;
/** The rest waits for the next time: what fires shares the store with this. */
const SAVED_TOGETHER_MAX = 250;
/** Within an hour. What is beyond is not counted. */
const PARTITIONS_MAX = 10_000;
const ENDPOINTS_MAX = 30_000;
/** A customer may have so many times the endpoints that are free: 20,000, alone. */
const ENDPOINTS_SHARE = 2;
/** While the store is away; then the oldest are forgotten. */
const UNSAVED_MAX = 50_000;

type Ending = 'succeeded' | 'deadLettered' | 'expired' | 'retried';

/** An attempt that waits for its paused schedule is to be made again, too. */
const ENDINGS: Readonly<Record<DeliveryStatus, Ending | null>> = {
  succeeded: 'succeeded',
  dead_letter: 'deadLettered',
  expired: 'expired',
  retry_scheduled: 'retried',
  paused: 'retried',
  canceled: null,
  scheduled: null,
  claimed: null,
};

/** A row as it grows. */
interface Counts {
  readonly writer: string;
  readonly partition: Partition;
  readonly spanMs: StatsSpanMs;
  readonly at: Instant;
  /** Null: all endpoints of the partition. */
  readonly endpoint: EndpointKey | null;
  fired: number;
  succeeded: number;
  deadLettered: number;
  expired: number;
  retried: number;
  /** Kept only where it is of all endpoints. */
  readonly lateness: number[] | null;
  isSaved: boolean;
}

interface PartitionCounts {
  minute: Counts;
  readonly hour: Counts;
}

export class StatsRecorder {
  readonly #dependencies: Pick<EngineDependencies, 'insight' | 'clock' | 'timers' | 'log' | 'node'>;
  #writer: string;
  #setBack = 0;
  #minuteAt = instant(0);
  #hourAt = instant(0);
  #partitions = new Map<Partition, PartitionCounts>();
  #endpoints = new Map<string, Counts>();
  #endpointShares = newEndpointShares();
  /** The one that changed longest ago first. Rows of endpoints come last: a customer may have very many. */
  readonly #unsavedOfAll = new Set<Counts>();
  readonly #unsavedOfEndpoints = new Set<Counts>();
  #callOff: (() => void) | null = null;
  #saving: Promise<void> = Promise.resolve();
  #isStopped = false;
  #hasFailed = false;

  constructor(dependencies: Pick<EngineDependencies, 'insight' | 'clock' | 'timers' | 'log' | 'node'>) {
    this.#dependencies = dependencies;
    this.#writer = dependencies.node;
  }

  /** An attempt goes out. */
  fired(ref: EndpointRef, latenessMs: number): void {
    this.#turn(this.#dependencies.clock.now());
    const counts = this.#ofPartition(ref.partition);
    if (counts !== null) {
      const index = latenessClass(latenessMs);
      this.#addLate(counts.minute, index);
      this.#addLate(counts.hour, index);
    }
    const endpoint = this.#ofEndpoint(ref);
    if (endpoint === null) return;
    endpoint.fired++;
    this.#changed(endpoint);
  }

  /** An attempt has ended, or the delivery without one, and this is what the delivery has become. */
  ended(ref: EndpointRef, status: DeliveryStatus): void {
    const ending = ENDINGS[status];
    if (ending === null) return;
    this.#turn(this.#dependencies.clock.now());
    const counts = this.#ofPartition(ref.partition);
    if (counts !== null) {
      this.#add(counts.minute, ending);
      this.#add(counts.hour, ending);
    }
    const endpoint = this.#ofEndpoint(ref);
    if (endpoint !== null) this.#add(endpoint, ending);
  }

  #add(counts: Counts, ending: Ending): void {
    counts[ending]++;
    this.#changed(counts);
  }

  #addLate(counts: Counts, index: number): void {
    counts.fired++;
    if (counts.lateness !== null) counts.lateness[index] = (counts.lateness[index] ?? 0) + 1;
    this.#changed(counts);
  }

  /** What belongs to spans that are over lives on only until it is saved. */
  #turn(now: Instant): void {
    const aheadMs = now - this.#minuteAt;
    if (aheadMs >= 0 && aheadMs < MINUTE_MS) return;
    const hourAt = instant(now - (now % HOUR_MS));
    if (aheadMs < 0) this.#writer = `${this.#dependencies.node}/${++this.#setBack}`;
    if (aheadMs < 0 || hourAt !== this.#hourAt) {
      this.#partitions = new Map();
      this.#endpoints = new Map();
      this.#endpointShares = newEndpointShares();
    }
    this.#hourAt = hourAt;
    this.#minuteAt = instant(now - (now % MINUTE_MS));
  }

  #ofPartition(partition: Partition): PartitionCounts | null {
    const known = this.#partitions.get(partition);
    if (known === undefined) {
      if (this.#partitions.size >= PARTITIONS_MAX) return null;
      const made = { minute: this.#begun(partition, MINUTE_MS), hour: this.#begun(partition, HOUR_MS) };
      this.#partitions.set(partition, made);
      return made;
    }
    if (known.minute.at !== this.#minuteAt) known.minute = this.#begun(partition, MINUTE_MS);
    return known;
  }

  #ofEndpoint(ref: EndpointRef): Counts | null {
    const place = endpointRefKey(ref);
    const known = this.#endpoints.get(place);
    if (known !== undefined) return known;
    if (!this.#endpointShares.canAcquire(ref.partition)) return null;
    this.#endpointShares.acquire(ref.partition, 1);
    const made = this.#begun(ref.partition, HOUR_MS, ref.endpoint);
    this.#endpoints.set(place, made);
    return made;
  }

  #begun(partition: Partition, spanMs: StatsSpanMs, endpoint: EndpointKey | null = null): Counts {
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
      isSaved: true,
    };
  }

  #changed(counts: Counts): void {
    if (!counts.isSaved) return;
    counts.isSaved = false;
    this.#unsavedLike(counts).add(counts);
    if (this.#unsaved > UNSAVED_MAX) this.#forgetOldest();
    this.#saveSoon();
  }

  #settled(rows: readonly Counts[]): void {
    for (const counts of rows) {
      counts.isSaved = true;
      this.#unsavedLike(counts).delete(counts);
    }
  }

  get #unsaved(): number {
    return this.#unsavedOfAll.size + this.#unsavedOfEndpoints.size;
  }

  /** Those that a row belongs to while it is not saved. */
  #unsavedLike({ endpoint }: Counts): Set<Counts> {
    return endpoint === null ? this.#unsavedOfAll : this.#unsavedOfEndpoints;
  }

  /** Of one writer. */
  #oldest(limit: number): readonly Counts[] {
    const rows: Counts[] = [];
    for (const unsaved of [this.#unsavedOfAll, this.#unsavedOfEndpoints]) {
      for (const counts of unsaved) {
        if (rows.length >= limit || counts.writer !== (rows[0] ?? counts).writer) return rows;
        rows.push(counts);
      }
    }
    return rows;
  }

  #forgetOldest(): void {
    const [ofEndpoint] = this.#unsavedOfEndpoints;
    const [ofAll] = this.#unsavedOfAll;
    const oldest = ofEndpoint ?? ofAll;
    if (oldest !== undefined) this.#settled([oldest]);
  }

  #saveSoon(): void {
    if (this.#callOff !== null || this.#isStopped) return;
    this.#callOff = this.#dependencies.timers.after(SAVE_EVERY_MS, () => {
      this.#saving = this.#saveInTurn();
    });
  }

  async #saveInTurn(): Promise<void> {
    await this.#saveSome();
    this.#callOff = null;
    if (this.#unsaved > 0) this.#saveSoon();
  }

  /** Whether the store took them. */
  async #saveSome(): Promise<boolean> {
    const { insight, log } = this.#dependencies;
    const rows = this.#oldest(SAVED_TOGETHER_MAX);
    const [first] = rows;
    if (first === undefined) return true;
    // What is counted from here on is to be saved next time.
    this.#settled(rows);
    try {
      await insight.saveStats(first.writer, rows.flatMap(ofPartition), rows.flatMap(ofEndpoint));
      this.#hasFailed = false;
      return true;
    } catch (error) {
      for (const counts of rows) {
        counts.isSaved = false;
        this.#unsavedLike(counts).add(counts);
      }
      if (!this.#hasFailed) log.warn({ error: String(error) }, 'stats could not be saved');
      this.#hasFailed = true;
      return false;
    }
  }

  /** Saves what is left, as far as the store takes it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#callOff?.();
    await this.#saving;
    let isTaken = true;
    while (isTaken && this.#unsaved > 0) isTaken = await this.#saveSome();
  }
}

function newEndpointShares(): FairShareLimit {
  return new FairShareLimit(ENDPOINTS_MAX, ENDPOINTS_SHARE);
}

function ofPartition(counts: Counts): readonly SavedStats[] {
  const { partition, spanMs, at, endpoint } = counts;
  return endpoint === null ? [{ partition, spanMs, at, stats: statsOf(counts) }] : [];
}

function ofEndpoint(counts: Counts): readonly SavedEndpointStats[] {
  const { partition, endpoint, at } = counts;
  return endpoint === null ? [] : [{ partition, endpoint, at, stats: statsOf(counts) }];
}

function statsOf({ fired, succeeded, deadLettered, expired, retried, lateness }: Counts): Stats {
  const classes = lateness === null ? NO_STATS.lateness : [...lateness];
  return { fired, succeeded, deadLettered, expired, retried, lateness: classes };
}

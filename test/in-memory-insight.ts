/** For tests only: the insight of a store in memory, with faults that the test plans. */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { Gate } from '#src/domain/gate.ts';
import { INSTANT_MS_MAX, type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { addStats, NO_STATS, type Stats, type StatsSpanMs } from '#src/domain/stats.ts';
import type { EngineInsight } from '#src/engine/dependencies.ts';
import type { BreakerReset, SavedEndpointStats, SavedStats } from '#src/ports/insight-store.ts';
import { type Store, StoreUnavailable } from '#src/ports/store.ts';

export class InMemoryInsight implements EngineInsight {
  readonly #stats = new Map<string, SavedStats>();
  readonly #endpoints = new Map<string, SavedEndpointStats>();
  readonly #breakerResets = new Map<string, BreakerReset>();
  readonly #disk: Pick<Store, 'listDue' | 'loadDeliveries'> | null;
  readonly pruned: (readonly [minutesBefore: Instant, hoursBefore: Instant])[] = [];
  /** The number of `pruneStats` calls that remove all old stats. */
  pruneCalls = 1;
  isAway = false;
  /** The number of rows of each save. */
  readonly saves: number[] = [];
  beforeSave: () => void = () => {};

  /** `disk` is null where no test reads a gate. */
  constructor(disk: Pick<Store, 'listDue' | 'loadDeliveries'> | null) {
    this.#disk = disk;
  }

  async saveStats(
    node: string,
    stats: readonly SavedStats[],
    endpoints: readonly SavedEndpointStats[],
  ): Promise<void> {
    this.#check();
    this.beforeSave();
    this.saves.push(stats.length + endpoints.length);
    for (const one of stats) {
      this.#stats.set(`${node} ${one.partition} ${one.spanMs} ${one.at}`, one);
    }
    for (const one of endpoints) {
      this.#endpoints.set(`${node} ${one.partition} ${one.endpoint} ${one.at}`, one);
    }
  }

  async pruneStats(minutesBefore: Instant, hoursBefore: Instant): Promise<boolean> {
    this.#check();
    this.pruned.push([minutesBefore, hoursBefore]);
    return this.pruned.length < this.pruneCalls;
  }

  async findGate(partition: Partition, endpoint: EndpointKey): Promise<Gate | null> {
    this.#check();
    // The gate is read as the dispatcher reads it, with a delivery that waits for it.
    const dues = (await this.#disk?.listDue(null, instant(INSTANT_MS_MAX), 1_000)) ?? [];
    const due = dues.find((one) => one.partition === partition && one.endpoint === endpoint);
    const [work] = due === undefined ? [] : ((await this.#disk?.loadDeliveries([due])) ?? []);
    return work?.gate ?? null;
  }

  async addBreakerReset(reset: BreakerReset): Promise<void> {
    this.#breakerResets.set(`${reset.partition} ${reset.endpoint}`, reset);
  }

  async listBreakerResets(limit: number): Promise<readonly BreakerReset[]> {
    this.#check();
    return this.breakerResets.slice(0, limit);
  }

  async removeBreakerReset(reset: BreakerReset): Promise<void> {
    this.#check();
    const key = `${reset.partition} ${reset.endpoint}`;
    if (this.#breakerResets.get(key)?.at === reset.at) this.#breakerResets.delete(key);
  }

  get breakerResets(): readonly BreakerReset[] {
    return [...this.#breakerResets.values()];
  }

  /** Returns the sum over all nodes. */
  stats(partition: Partition, spanMs: StatsSpanMs, at: Instant): Stats {
    return [...this.#stats.values()]
      .filter((one) => one.partition === partition && one.spanMs === spanMs && one.at === at)
      .reduce((sum, { stats }) => addStats(sum, stats), NO_STATS);
  }

  /** Returns the sum over all hours. */
  endpointStats(partition: Partition, endpoint: string): Stats {
    return [...this.#endpoints.values()]
      .filter((one) => one.partition === partition && one.endpoint === endpoint)
      .reduce((sum, { stats }) => addStats(sum, stats), NO_STATS);
  }

  get endpointCount(): number {
    return this.#endpoints.size;
  }

  #check(): void {
    if (this.isAway) throw new StoreUnavailable('The store is away.');
  }
}

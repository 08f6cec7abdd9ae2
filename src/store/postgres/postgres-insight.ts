/** The dashboard's part of the PostgreSQL store. It reads on connections that only nodes with dashboard users open. */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { Gate } from '#src/domain/gate.ts';
import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { StatsSpanMs } from '#src/domain/stats.ts';
import type {
  BreakerReset,
  InsightStore,
  SavedEndpointStats,
  SavedStats,
  ScheduleSearch,
} from '#src/ports/insight-store.ts';
import type { DeliveryFilter, Page } from '#src/ports/store.ts';
import { endpointDigest } from '#src/store/sql/digests.ts';
import { insightVerbs as verbs } from '#src/store/sql/insight-verbs.ts';
import { readCluster } from '#src/store/sql/reads.ts';
import { readGate } from '#src/store/sql/rows.ts';
import { pruneStats } from '#src/store/sql/stats-retention.ts';
import { InsightReads } from './insight-reads.ts';
import type { Placement } from './placement.ts';
import type { Reader } from './read-pool.ts';
import type { WriteQueue } from './write-queue.ts';

export interface PostgresInsightDependencies {
  /** The reader for queries of the dashboard. */
  readonly insight: Reader;
  /** The reader for queries of the engine. */
  readonly firing: Reader;
  /** The queue for writes of users. */
  readonly api: WriteQueue;
  /** The queue for writes of stats. */
  readonly settling: WriteQueue;
  readonly placement: Placement;
}

export class PostgresInsight implements InsightStore {
  readonly #dependencies: PostgresInsightDependencies;
  readonly #reads: InsightReads;

  constructor(dependencies: PostgresInsightDependencies) {
    this.#dependencies = dependencies;
    this.#reads = new InsightReads(dependencies.insight);
  }

  warmUp(): void {
    // If this fails, the first dashboard query reports why.
    this.#dependencies.insight.query('SELECT 1').catch(() => {});
  }

  async saveStats(
    node: string,
    stats: readonly SavedStats[],
    endpoints: readonly SavedEndpointStats[],
  ): Promise<void> {
    const saving = [
      ...stats.map((stats) => verbs.saveStatsRow(node, stats)),
      ...endpoints.map((stats) => verbs.saveEndpointStats(node, stats)),
    ];
    if (saving.length > 0) await this.#dependencies.settling.runAll(saving);
  }

  readStats(partition: Partition, spanMs: StatsSpanMs, from: Instant, until: Instant) {
    return this.#reads.stats(partition, spanMs, from, until);
  }

  readEndpointStats(partition: Partition, endpoints: readonly EndpointKey[], from: Instant) {
    return this.#reads.endpointStats(partition, endpoints, from);
  }

  listActiveEndpoints(partition: Partition, from: Instant, limit: number) {
    return this.#reads.activeEndpoints(partition, from, limit);
  }

  pruneStats(minutesBefore: Instant, hoursBefore: Instant): Promise<boolean> {
    const { firing, settling, placement } = this.#dependencies;
    const oldest = placement.oldestStats;
    return pruneStats(
      {
        oldestStats: (spanMs, before, limit) => firing.query(oldest.stats, spanMs, before, limit),
        oldestEndpointStats: (before, rows, limit) =>
          firing.query(oldest.endpointStats, before, limit, rows - 1),
        run: async (removing) => removing.length > 0 && settling.runAll(removing),
      },
      minutesBefore,
      hoursBefore,
    );
  }

  countDue(partition: Partition, from: Instant, until: Instant, stepMs: number, scanMax: number) {
    return this.#reads.due(partition, from, until, stepMs, scanMax);
  }

  listUpcoming(partition: Partition, from: Instant, until: Instant, limit: number) {
    return this.#reads.upcoming(partition, from, until, limit);
  }

  searchSchedules(partition: Partition, search: ScheduleSearch, page: Page<ScheduleId>, scanMax: number) {
    return this.#reads.schedules(partition, search, page, scanMax);
  }

  countDeliveries(partition: Partition, filter: DeliveryFilter, countMax: number) {
    return this.#reads.deliveryCount(partition, filter, countMax);
  }

  listOccurrences(partition: Partition, id: ScheduleId, from: Instant, until: Instant, limit: number) {
    return this.#reads.occurrences(partition, id, from, until, limit);
  }

  hasPayloads(partition: Partition, id: EndpointId): Promise<boolean> {
    return this.#reads.hasPayloads(partition, id);
  }

  async findGate(partition: Partition, endpoint: EndpointKey): Promise<Gate | null> {
    const [row] = await this.#dependencies.firing.query<{ readonly state: string }>(
      'SELECT state FROM gates WHERE partition = $1 AND endpoint_digest = $2',
      partition,
      endpointDigest(endpoint),
    );
    return row === undefined ? null : readGate(row.state);
  }

  listGates(partition: Partition, limit: number) {
    return this.#reads.gates(partition, limit);
  }

  readCluster() {
    return readCluster(this.#dependencies.insight);
  }

  async addBreakerReset(order: BreakerReset): Promise<void> {
    await this.#dependencies.api.run(verbs.saveBreakerReset(order));
  }

  listBreakerResets(limit: number): Promise<readonly BreakerReset[]> {
    const sql = 'SELECT partition, endpoint, at FROM breaker_resets LIMIT $1';
    return this.#dependencies.firing.query<BreakerReset>(sql, limit);
  }

  async removeBreakerReset(order: BreakerReset): Promise<void> {
    await this.#dependencies.api.run(verbs.removeBreakerReset(order));
  }
}

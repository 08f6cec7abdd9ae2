/** The dashboard's part of the SQLite store. It writes like everything else, and reads in a thread of its own. */
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
import { insightVerbs as verbs } from '#src/store/sql/insight-verbs.ts';
import type { LabelScans } from '#src/store/sql/label-search.ts';
import { readCluster } from '#src/store/sql/reads.ts';
import { readGate } from '#src/store/sql/rows.ts';
import { type OldestEndpointRow, type OldestRow, pruneStats } from '#src/store/sql/stats-retention.ts';
import { InsightReader } from './insight-reader.ts';
import type { SqliteReader } from './prepared-queries.ts';
import { OLDEST_ENDPOINT_STATS, OLDEST_STATS } from './retention-queries.ts';
import type { WriteQueue } from './writer.ts';

export interface SqliteInsightDependencies {
  readonly path: string;
  readonly writer: WriteQueue;
  /** The connection of the engine's thread, for queries that take no time. */
  readonly reader: SqliteReader;
}

export class SqliteInsight implements InsightStore {
  /** Searches of the API run in the same thread, one short batch at a time. */
  readonly labelScans: LabelScans = {
    count: (...parameters) => this.#insightReader.query('labelCounts', ...parameters),
    scan: (...parameters) => this.#insightReader.query('labelScan', ...parameters),
  };
  readonly #writer: WriteQueue;
  readonly #reader: SqliteReader;
  readonly #insightReader: InsightReader;

  constructor({ path, writer, reader }: SqliteInsightDependencies) {
    this.#writer = writer;
    this.#reader = reader;
    this.#insightReader = new InsightReader(path);
  }

  warmUp(): void {
    this.#insightReader.start();
  }

  async saveStats(
    node: string,
    stats: readonly SavedStats[],
    endpoints: readonly SavedEndpointStats[],
  ): Promise<void> {
    await this.#writer.runAll([
      ...stats.map((stats) => verbs.saveStatsRow(node, stats)),
      ...endpoints.map((stats) => verbs.saveEndpointStats(node, stats)),
    ]);
  }

  readStats(partition: Partition, spanMs: StatsSpanMs, from: Instant, until: Instant) {
    return this.#insightReader.query('stats', partition, spanMs, from, until);
  }

  readEndpointStats(partition: Partition, endpoints: readonly EndpointKey[], from: Instant) {
    return this.#insightReader.query('endpointStats', partition, endpoints, from);
  }

  listActiveEndpoints(partition: Partition, from: Instant, limit: number) {
    return this.#insightReader.query('activeEndpoints', partition, from, limit);
  }

  /** Every service prunes, also without a dashboard user. A few look-ups are not worth a thread. */
  pruneStats(minutesBefore: Instant, hoursBefore: Instant): Promise<boolean> {
    const oldest = <Row>(sql: string, ...parameters: readonly number[]) =>
      this.#reader.query<Row>(sql, ...parameters);
    return pruneStats(
      {
        oldestStats: (spanMs, before, limit) => oldest<OldestRow>(OLDEST_STATS, spanMs, before, limit),
        oldestEndpointStats: (before, rows, limit) =>
          oldest<OldestEndpointRow>(OLDEST_ENDPOINT_STATS, rows - 1, before, limit),
        run: (removing) => this.#writer.runAll(removing),
      },
      minutesBefore,
      hoursBefore,
    );
  }

  countDue(partition: Partition, from: Instant, until: Instant, stepMs: number, scanMax: number) {
    return this.#insightReader.query('due', partition, from, until, stepMs, scanMax);
  }

  listUpcoming(partition: Partition, from: Instant, until: Instant, limit: number) {
    return this.#insightReader.query('upcoming', partition, from, until, limit);
  }

  searchSchedules(partition: Partition, search: ScheduleSearch, page: Page<ScheduleId>, scanMax: number) {
    return this.#insightReader.query('schedules', partition, search, page, scanMax);
  }

  countDeliveries(partition: Partition, filter: DeliveryFilter, countMax: number) {
    return this.#insightReader.query('deliveryCount', partition, filter, countMax);
  }

  listOccurrences(partition: Partition, id: ScheduleId, from: Instant, until: Instant, limit: number) {
    return this.#insightReader.query('occurrences', partition, id, from, until, limit);
  }

  hasPayloads(partition: Partition, id: EndpointId): Promise<boolean> {
    return this.#insightReader.query('hasPayloads', partition, id);
  }

  async findGate(partition: Partition, endpoint: EndpointKey): Promise<Gate | null> {
    const sql = 'SELECT state FROM gates WHERE partition = ? AND endpoint = ?';
    const [row] = await this.#reader.query<{ readonly state: string }>(sql, partition, endpoint);
    return row === undefined ? null : readGate(row.state);
  }

  listGates(partition: Partition, limit: number) {
    return this.#insightReader.query('gates', partition, limit);
  }

  readCluster() {
    return readCluster(this.#reader);
  }

  async addBreakerReset(order: BreakerReset): Promise<void> {
    await this.#writer.run(verbs.saveBreakerReset(order));
  }

  /** The engine asks for these, and there are hardly ever any. */
  listBreakerResets(limit: number): Promise<readonly BreakerReset[]> {
    const sql = 'SELECT partition, endpoint, at FROM breaker_resets LIMIT ?';
    return this.#reader.query<BreakerReset>(sql, limit);
  }

  async removeBreakerReset(order: BreakerReset): Promise<void> {
    await this.#writer.run(verbs.removeBreakerReset(order));
  }

  close(): Promise<void> {
    return this.#insightReader.close();
  }
}

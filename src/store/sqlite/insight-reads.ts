/**
 * The queries of the dashboard, on a read-only connection. Each may read tens of thousands of rows, up to a limit,
 * so they run in a thread of their own (`insight-thread.ts`).
 */
import { DELIVERY_STATUSES, type Delivery } from '#src/domain/delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import type { StatsSpanMs } from '#src/domain/stats.ts';
import type {
  DueCounts,
  EndpointActivity,
  Found,
  GateSnapshot,
  ScheduleSearch,
  StatsPoint,
  UpcomingDelivery,
} from '#src/ports/insight-store.ts';
import type { DeliveryFilter, Page, ScheduleFilter } from '#src/ports/store.ts';
import { endpointDigest } from '#src/store/sql/digests.ts';
import {
  ACTIVE_ROWS_MAX,
  BREAKER_IS_CLOSED,
  countSteps,
  type DueStepRow,
  GATE_ROWS_MAX,
  PROFILES_MATCHING_MAX,
  PROFILES_SCANNED_MAX,
  STATS_ROWS_MAX,
  toDueCounts,
} from '#src/store/sql/insight-queries.ts';
import { idsAfter, idsBefore } from '#src/store/sql/page-bounds.ts';
import { type DeliveryRow, fromDeliveryRow, readGate } from '#src/store/sql/rows.ts';
import { fitOnPage, type ScannedRow, search } from '#src/store/sql/schedule-search.ts';
import { byEndpoint, byInstant, type EndpointStatsRow, type StatsRow } from '#src/store/sql/stats-rows.ts';
import type { Parameter } from '#src/store/sql/steps.ts';
import type { Db } from './connection.ts';
import { PreparedQueries } from './prepared-queries.ts';
import { Reads } from './reads.ts';
import { hasPart, labelCountsQuery, scanQuery, type WantedDestination } from './schedule-scans.ts';

/** Waiting deliveries of a partition that are due in the window. */
const WAITING = `SELECT id, due_at FROM deliveries INDEXED BY deliveries_due_of_partition
  WHERE partition = ? AND status IN ('scheduled', 'retry_scheduled') AND due_at >= ? AND due_at < ?
  ORDER BY due_at, id LIMIT ?`;

const BY_STEP = `SELECT (due_at - CAST(? AS INTEGER)) / CAST(? AS INTEGER) AS step,
    count(*) AS due
  FROM (${WAITING}) GROUP BY step`;

export class InsightReads {
  readonly #queries: PreparedQueries;
  readonly #reads: Reads;

  constructor(db: Db) {
    this.#queries = new PreparedQueries(db);
    this.#reads = new Reads(db);
  }

  stats(partition: Partition, spanMs: StatsSpanMs, from: Instant, until: Instant): readonly StatsPoint[] {
    const rows = this.#queries.all<StatsRow>(
      `SELECT at, counts FROM stats WHERE partition = ? AND span_ms = ? AND at >= ? AND at < ?
       ORDER BY at DESC LIMIT ?`,
      partition,
      spanMs,
      from,
      until,
      STATS_ROWS_MAX,
    );
    return byInstant(rows);
  }

  endpointStats(
    partition: Partition,
    endpoints: readonly EndpointKey[],
    from: Instant,
  ): readonly EndpointActivity[] {
    const rows = this.#queries.all<EndpointStatsRow>(
      `SELECT t.endpoint_digest, t.counts FROM json_each(?) k
       CROSS JOIN endpoint_stats t ON t.partition = ? AND t.endpoint_digest = k.value AND t.at >= ? LIMIT ?`,
      JSON.stringify(endpoints.map(endpointDigest)),
      partition,
      from,
      STATS_ROWS_MAX,
    );
    return byEndpoint(endpoints, rows);
  }

  activeEndpoints(partition: Partition, from: Instant, limit: number): readonly EndpointKey[] {
    const rows = this.#queries.all<{ readonly endpoint: EndpointKey }>(
      `SELECT (SELECT endpoint FROM endpoint_stats e
         WHERE e.partition = ? AND e.endpoint_digest = k.endpoint_digest LIMIT 1) AS endpoint
       FROM (
         SELECT endpoint_digest, max(at) AS last_at FROM (
           SELECT endpoint_digest, at FROM endpoint_stats INDEXED BY endpoint_stats_by_time
           WHERE partition = ? AND at >= ? ORDER BY at DESC, endpoint_digest DESC LIMIT ?
         ) GROUP BY endpoint_digest ORDER BY last_at DESC, endpoint_digest LIMIT ?
       ) k`,
      partition,
      partition,
      from,
      ACTIVE_ROWS_MAX,
      limit,
    );
    return rows.map(({ endpoint }) => endpoint);
  }

  due(partition: Partition, from: Instant, until: Instant, stepMs: number, scanMax: number): DueCounts {
    const rows = this.#queries.all<DueStepRow>(BY_STEP, from, stepMs, partition, from, until, scanMax + 1);
    return toDueCounts(rows, countSteps(from, until, stepMs), scanMax);
  }

  /** The index has the waiting deliveries of one partition in the order in which they are due. */
  upcoming(partition: Partition, from: Instant, until: Instant, limit: number): readonly UpcomingDelivery[] {
    return this.#queries.inSnapshot(() => {
      const waiting = this.#queries.all<{ readonly id: DeliveryId }>(WAITING, partition, from, until, limit);
      return waiting.flatMap(({ id }) => {
        const delivery = this.#reads.delivery(partition, id);
        const schedule = delivery && this.#reads.firingSchedule(partition, delivery.scheduleId);
        return delivery === null || schedule === null ? [] : [{ delivery, schedule }];
      });
    });
  }

  async schedules(
    partition: Partition,
    { destination, hidesQueries, ...filter }: ScheduleSearch,
    page: Page<ScheduleId>,
    scanMax: number,
  ): Promise<Found<ScheduleView, ScheduleId>> {
    const wanted = destination === null ? null : this.#wanted(partition, destination, hidesQueries);
    const scan = async (before: ScheduleId | null, rows: number) => {
      const { sql, parameters } = scanQuery(partition, filter, wanted, before, rows);
      return this.#queries.all<ScannedRow>(sql, ...parameters);
    };
    const { found: ids, ...rest } = await search(scan, page, { scanMax });
    return fitOnPage(rest, this.#reads.schedulesOf(partition, ids));
  }

  labelCounts(partition: Partition, labels: Labels, countMax: number): readonly number[] {
    const { sql, parameters } = labelCountsQuery(partition, labels, countMax);
    return this.#queries.all<{ readonly count: number }>(sql, ...parameters).map(({ count }) => count);
  }

  labelScan(
    partition: Partition,
    filter: ScheduleFilter,
    before: ScheduleId | null,
    rows: number,
  ): readonly ScannedRow[] {
    const { sql, parameters } = scanQuery(partition, filter, null, before, rows);
    return this.#queries.all<ScannedRow>(sql, ...parameters);
  }

  #wanted(partition: Partition, part: string, hidesQueries: boolean): WantedDestination {
    const rows = this.#queries.all<{ readonly id: EndpointId }>(
      `SELECT p.id FROM (
         SELECT id, version FROM endpoint_profiles WHERE partition = ? ORDER BY id DESC LIMIT ?
       ) p CROSS JOIN endpoint_profile_versions v ON v.partition = ? AND v.endpoint_id = p.id AND v.version = p.version
       WHERE ${hasPart('v.url')} LIMIT ?`,
      partition,
      PROFILES_SCANNED_MAX,
      partition,
      Number(hidesQueries),
      part,
      PROFILES_MATCHING_MAX,
    );
    return { part, hidesQueries, profiles: rows.map(({ id }) => id) };
  }

  deliveryCount(partition: Partition, filter: DeliveryFilter, countMax: number): number {
    const { status, scheduleId, createdAfter, createdBefore } = filter;
    const statuses = status === null ? DELIVERY_STATUSES : [status];
    const [from, parameters]: readonly [string, readonly Parameter[]] =
      scheduleId !== null
        ? [
            `INDEXED BY deliveries_of_schedule WHERE partition = ? AND schedule_id = ?
             AND status IN (${statuses.map(() => '?').join(', ')})`,
            [partition, scheduleId, ...statuses],
          ]
        : status !== null
          ? ['INDEXED BY deliveries_by_status WHERE partition = ? AND status = ?', [partition, status]]
          : ['WHERE partition = ?', [partition]];
    const row = this.#queries.get<{ readonly count: number }>(
      `SELECT count(*) AS count FROM (SELECT 1 FROM deliveries ${from} AND id >= ? AND id < ? LIMIT ?)`,
      ...parameters,
      idsAfter(createdAfter),
      idsBefore(createdBefore, null),
      countMax,
    );
    return row?.count ?? 0;
  }

  occurrences(
    partition: Partition,
    id: ScheduleId,
    from: Instant,
    until: Instant,
    limit: number,
  ): readonly Delivery[] {
    const rows = this.#queries.all<DeliveryRow>(
      `SELECT * FROM deliveries INDEXED BY deliveries_occurrence
       WHERE partition = ? AND schedule_id = ? AND occurrence >= ? AND occurrence < ? AND replay_of IS NULL
       ORDER BY occurrence LIMIT ?`,
      partition,
      id,
      from,
      until,
      limit,
    );
    return rows.map(fromDeliveryRow);
  }

  hasPayloads(partition: Partition, id: EndpointId): boolean {
    const row = this.#queries.get(
      `SELECT 1 FROM schedules INDEXED BY schedules_with_body_by_profile
       WHERE partition = ? AND endpoint_id = ? AND endpoint_id IS NOT NULL AND payload_bytes > 0 LIMIT 1`,
      partition,
      id,
    );
    return row !== undefined;
  }

  gates(partition: Partition, limit: number): readonly GateSnapshot[] {
    const rows = this.#queries.all<{
      readonly endpoint: EndpointKey;
      readonly state: string;
      readonly saved_at: Instant;
    }>(
      `SELECT * FROM (SELECT endpoint, state, saved_at FROM gates WHERE partition = ? LIMIT ?)
       ORDER BY ${BREAKER_IS_CLOSED}, saved_at DESC LIMIT ?`,
      partition,
      GATE_ROWS_MAX,
      limit,
    );
    return rows.map(({ endpoint, state, saved_at }) => ({
      endpoint,
      gate: readGate(state),
      savedAt: saved_at,
    }));
  }
}

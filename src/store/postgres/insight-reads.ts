/**
 * The queries of the dashboard. Each is one statement about one partition, and reads a limited number of rows.
 *
 * With Citus every part of a query must name the partition, so the limit counts only rows of that partition.
 */
import { DELIVERY_STATUSES, type Delivery, type DeliveryStatus } from '#src/domain/delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
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
import type { DeliveryFilter, Page } from '#src/ports/store.ts';
import { DELIVERY_FIXED, DELIVERY_MUTABLE } from '#src/store/sql/columns.ts';
import { endpointDigest } from '#src/store/sql/digests.ts';
import {
  ACTIVE_ROWS_MAX,
  BREAKER_IS_CLOSED,
  countSteps,
  DUE_ROWS_MAX,
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
import { DELIVERY, deliveryIn, FIRING_SCHEDULE, firingScheduleIn, type JoinedRow } from './joined-rows.ts';
import { STATUS_KEY } from './migrations.ts';
import type { SqlValue } from './parameter-encoding.ts';
import type { Reader } from './read-pool.ts';
import { Reads } from './reads.ts';
import { comparedUrl, contains, scanQuery, type WantedDestination } from './schedule-scans.ts';

/** `$1`: partition; `$2` and `$3`: window; `$4`: how many rows to read. */
const WAITING = `SELECT id, due_at FROM deliveries
  WHERE partition = $1 AND status IN ('scheduled', 'retry_scheduled') AND id <> '' AND due_at >= $2 AND due_at < $3
  ORDER BY due_at, id LIMIT $4`;

/** Division of integers gives the number of the step. */
const BY_STEP = `SELECT ((due_at - $2) / $5::bigint)::integer AS step, count(*)::integer AS due
  FROM (${WAITING}) w GROUP BY 1`;

interface GateRow {
  readonly endpoint: EndpointKey;
  readonly state: string;
  readonly saved_at: Instant;
}

export class InsightReads {
  readonly #reader: Reader;
  readonly #reads: Reads;

  constructor(reader: Reader) {
    this.#reader = reader;
    this.#reads = new Reads(reader);
  }

  async stats(
    partition: Partition,
    spanMs: StatsSpanMs,
    from: Instant,
    until: Instant,
  ): Promise<readonly StatsPoint[]> {
    const rows = await this.#reader.query<StatsRow>(
      `SELECT at, counts FROM stats WHERE partition = $1 AND span_ms = $2 AND at >= $3 AND at < $4
       ORDER BY at DESC LIMIT $5`,
      partition,
      spanMs,
      from,
      until,
      STATS_ROWS_MAX,
    );
    return byInstant(rows);
  }

  async endpointStats(
    partition: Partition,
    endpoints: readonly EndpointKey[],
    from: Instant,
  ): Promise<readonly EndpointActivity[]> {
    const rows = await this.#reader.query<EndpointStatsRow>(
      `SELECT endpoint_digest, counts FROM endpoint_stats
       WHERE partition = $1 AND endpoint_digest = ANY($2::text[]) AND at >= $3 LIMIT $4`,
      partition,
      endpoints.map(endpointDigest),
      from,
      STATS_ROWS_MAX,
    );
    return byEndpoint(endpoints, rows);
  }

  async activeEndpoints(partition: Partition, from: Instant, limit: number): Promise<readonly EndpointKey[]> {
    const rows = await this.#reader.query<{ readonly endpoint: EndpointKey }>(
      `SELECT (SELECT endpoint FROM endpoint_stats e
         WHERE e.partition = $1 AND e.endpoint_digest = k.endpoint_digest LIMIT 1) AS endpoint
       FROM (
         SELECT endpoint_digest, max(at) AS last_at FROM (
           SELECT endpoint_digest, at FROM endpoint_stats
           WHERE partition = $1 AND at >= $2 ORDER BY at DESC, endpoint_digest DESC LIMIT $3
         ) newest GROUP BY endpoint_digest ORDER BY last_at DESC, endpoint_digest LIMIT $4
       ) k ORDER BY k.last_at DESC, k.endpoint_digest`,
      partition,
      from,
      ACTIVE_ROWS_MAX,
      limit,
    );
    return rows.map(({ endpoint }) => endpoint);
  }

  async due(
    partition: Partition,
    from: Instant,
    until: Instant,
    stepMs: number,
    scanMax: number,
  ): Promise<DueCounts> {
    const rowsMax = Math.min(scanMax, DUE_ROWS_MAX);
    const rows = await this.#reader.query<DueStepRow>(BY_STEP, partition, from, until, rowsMax + 1, stepMs);
    return toDueCounts(rows, countSteps(from, until, stepMs), rowsMax);
  }

  /** The index has the waiting deliveries of one partition in the order in which they are due. */
  async upcoming(
    partition: Partition,
    from: Instant,
    until: Instant,
    limit: number,
  ): Promise<readonly UpcomingDelivery[]> {
    const rows = await this.#reader.query<JoinedRow>(
      `SELECT ${DELIVERY.columns}, ${FIRING_SCHEDULE.columns} FROM (${WAITING}) w
       JOIN deliveries d ON d.partition = $1 AND d.id = w.id
       JOIN schedules s ON s.partition = $1 AND s.id = d.schedule_id
       ORDER BY d.due_at, d.id`,
      partition,
      from,
      until,
      limit,
    );
    return rows.flatMap((joined) => {
      const delivery = deliveryIn(joined);
      const schedule = firingScheduleIn(joined);
      return delivery === null || schedule === null ? [] : [{ delivery, schedule }];
    });
  }

  async schedules(
    partition: Partition,
    { destination, hidesQueries, ...filter }: ScheduleSearch,
    page: Page<ScheduleId>,
    scanMax: number,
  ): Promise<Found<ScheduleView, ScheduleId>> {
    const wanted = destination === null ? null : await this.#wanted(partition, destination, hidesQueries);
    const scan = (before: ScheduleId | null, rows: number) => {
      const { sql, parameters } = scanQuery(partition, filter, wanted, before, rows);
      return this.#reader.query<ScannedRow>(sql, ...parameters);
    };
    const { found: ids, ...rest } = await search(scan, page, { scanMax });
    return fitOnPage(rest, await this.#reads.schedulesOf(partition, ids));
  }

  async #wanted(partition: Partition, part: string, hidesQueries: boolean): Promise<WantedDestination> {
    const rows = await this.#reader.query<{ readonly id: EndpointId }>(
      `SELECT p.id FROM (
         SELECT id, version FROM endpoint_profiles WHERE partition = $1 ORDER BY id DESC LIMIT $2
       ) p CROSS JOIN LATERAL (
         SELECT v.url FROM endpoint_profile_versions v
         WHERE v.partition = $1 AND v.endpoint_id = p.id AND v.version = p.version LIMIT 1
       ) v WHERE ${contains(`(${comparedUrl('v.url', '$5')})`, '$3::text')} LIMIT $4`,
      partition,
      PROFILES_SCANNED_MAX,
      part,
      PROFILES_MATCHING_MAX,
      Number(hidesQueries),
    );
    return { part, hidesQueries, profiles: rows.map(({ id }) => id) };
  }

  async deliveryCount(partition: Partition, filter: DeliveryFilter, countMax: number): Promise<number> {
    const { status, scheduleId, createdAfter, createdBefore } = filter;
    const ids = 'id >= $2 AND id < $3';
    const ofSchedule = (word: DeliveryStatus) =>
      `(SELECT 1 FROM deliveries WHERE partition = $1 AND schedule_id = $5 AND status = '${word}' AND ${ids}
        ORDER BY id DESC LIMIT $4)`;
    // The order makes the planner use the index that has it.
    const [counted, more]: readonly [string, readonly SqlValue[]] =
      scheduleId !== null
        ? [
            DELIVERY_STATUSES.filter((word) => status === null || word === status)
              .map(ofSchedule)
              .join(' UNION ALL '),
            [scheduleId],
          ]
        : status !== null
          ? [
              `SELECT 1 FROM deliveries WHERE partition = $1
                 AND ${STATUS_KEY} >= $5 || '/' || $2 AND ${STATUS_KEY} < $5 || '/' || $3
               ORDER BY ${STATUS_KEY} DESC LIMIT $4`,
              [status],
            ]
          : [`SELECT 1 FROM deliveries WHERE partition = $1 AND ${ids} ORDER BY id DESC LIMIT $4`, []];
    const [row] = await this.#reader.query<{ readonly count: number }>(
      `SELECT count(*)::integer AS count FROM (SELECT 1 FROM (${counted}) c LIMIT $4) counted`,
      partition,
      idsAfter(createdAfter),
      idsBefore(createdBefore, null),
      countMax,
      ...more,
    );
    return row?.count ?? 0;
  }

  async occurrences(
    partition: Partition,
    id: ScheduleId,
    from: Instant,
    until: Instant,
    limit: number,
  ): Promise<readonly Delivery[]> {
    const rows = await this.#reader.query<DeliveryRow>(
      `SELECT ${[...DELIVERY_FIXED, ...DELIVERY_MUTABLE].join(', ')} FROM deliveries
       WHERE partition = $1 AND schedule_id = $2 AND occurrence >= $3 AND occurrence < $4 AND replay_of IS NULL
       ORDER BY occurrence LIMIT $5`,
      partition,
      id,
      from,
      until,
      limit,
    );
    return rows.map(fromDeliveryRow);
  }

  async hasPayloads(partition: Partition, id: EndpointId): Promise<boolean> {
    const rows = await this.#reader.query(
      `SELECT 1 FROM schedules
       WHERE partition = $1 AND endpoint_id = $2 AND endpoint_id IS NOT NULL AND payload_bytes > 0 LIMIT 1`,
      partition,
      id,
    );
    return rows.length > 0;
  }

  async gates(partition: Partition, limit: number): Promise<readonly GateSnapshot[]> {
    const rows = await this.#reader.query<GateRow>(
      `SELECT * FROM (SELECT endpoint, state, saved_at FROM gates WHERE partition = $1 LIMIT $2) g
       ORDER BY ${BREAKER_IS_CLOSED}, saved_at DESC LIMIT $3`,
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

/** The reads and writes of the dashboard and the stats, for every database that speaks SQL. */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type {
  BreakerReset,
  DueCounts,
  InsightStore,
  SavedEndpointStats,
  SavedStats,
  UpcomingDelivery,
} from '#src/ports/insight-store.ts';
import { fitOnPage, search } from './batched-search.ts';
import type { Dialect, Syntax } from './dialect.ts';
import { endpointDigest } from './digests.ts';
import { WAITING } from './due-rows.ts';
import { JOINED_DELIVERY, JOINED_FIRING_SCHEDULE } from './joined-rows.ts';
import { lists } from './lists.ts';
import type { Row } from './mapping.ts';
import { BEFORE_EVERY_ID, PAST_EVERY_ID } from './page-bounds.ts';
import { type Query, raw, sql } from './query.ts';
import { readCluster } from './reads.ts';
import { BREAKER_NOT_CLOSED, DELIVERY, readGate } from './rows.ts';
import { attemptsEnding, deliveryScans, firstOfEach } from './scans.ts';
import { type ScannedRow, scanQuery } from './search-queries.ts';
import { wantedSchedules } from './searches.ts';
import { pruneStats } from './stats-retention.ts';
import { byEndpoint, byInstant, type EndpointStatsRow, type StatsRow, toCounts } from './stats-rows.ts';
import type { Step } from './steps.ts';

/** Stats of a week by the minute, from five nodes. */
const STATS_ROWS_MAX = 50_000;
/** The newest rows of endpoint stats that are read to find active endpoints. There is one per hour and node. */
const ACTIVE_ROWS_MAX = 20_000;
const GATE_ROWS_MAX = 10_000;
/** The longest window, in steps: a week by the minute. */
const STEPS_MAX = 10_080;

/** SQL: the breaker of a gate is closed, judged by the text of its stored state. Other gates are listed first. */
const BREAKER_IS_CLOSED = `state LIKE '%"openUntil":null%'`;

interface DueStepRow {
  readonly step: number;
  readonly due: number;
}

interface GateRow {
  readonly endpoint: EndpointKey;
  readonly state: string;
  readonly saved_at: Instant;
}

const STATS = `SELECT at, counts FROM stats
  WHERE partition = $1 AND span_ms = $2 AND at >= $3 AND at < $4 ORDER BY at DESC LIMIT $5`;
const GATES = `SELECT endpoint, state, saved_at FROM (
    SELECT endpoint, state, saved_at FROM gates WHERE partition = $1 LIMIT $2
  ) g ORDER BY ${BREAKER_IS_CLOSED}, saved_at DESC LIMIT $3`;
const BREAKER_RESETS = 'SELECT partition, endpoint, at FROM breaker_resets LIMIT $1';

/**
 * Every part of a query names the partition, because Citus needs it, and a limit counts only rows of that partition.
 */
function textsOf({ indexedBy }: Syntax) {
  /**
   * Waiting deliveries in the order in which they are due, after a position. The parameters are numbered from `first`
   * on.
   */
  const waiting = (
    first: number,
  ) => `SELECT id, due_at FROM deliveries ${indexedBy('deliveries_due_of_partition')}
    WHERE partition = $${first} AND ${WAITING} AND id <> ''
      AND (due_at, id) > ($${first + 1}, $${first + 2}) AND due_at < $${first + 3}
    ORDER BY due_at, id LIMIT $${first + 4}`;
  return {
    activeEndpoints: `SELECT (SELECT endpoint FROM endpoint_stats e
        WHERE e.partition = $1 AND e.endpoint_digest = k.endpoint_digest LIMIT 1) AS endpoint
      FROM (
        SELECT endpoint_digest, max(at) AS last_at FROM (
          SELECT endpoint_digest, at FROM endpoint_stats ${indexedBy('endpoint_stats_by_time')}
          WHERE partition = $2 AND at >= $3 ORDER BY at DESC, endpoint_digest DESC LIMIT $4
        ) newest GROUP BY endpoint_digest ORDER BY last_at DESC, endpoint_digest LIMIT $5
      ) k ORDER BY k.last_at DESC, k.endpoint_digest`,
    // Division of integers gives the number of the step.
    dueByStep: `SELECT (due_at - CAST($1 AS bigint)) / CAST($2 AS bigint) AS step, count(*) AS due
      FROM (${waiting(3)}) w GROUP BY 1`,
    // Outer joins keep the order of the tables, so the schedules of a partition are not scanned.
    upcoming: `SELECT ${JOINED_DELIVERY.columns}, ${JOINED_FIRING_SCHEDULE.columns} FROM (${waiting(1)}) w
      LEFT JOIN deliveries d ON d.partition = $6 AND d.id = w.id
      LEFT JOIN schedules s ON s.partition = $7 AND s.id = d.schedule_id
      ORDER BY w.due_at, w.id`,
    openBreakers: `SELECT endpoint FROM gates ${indexedBy('gates_open')}
      WHERE partition = $1 AND saved_at > $2 AND ${BREAKER_NOT_CLOSED} ORDER BY saved_at DESC LIMIT $3`,
    occurrences: `SELECT ${DELIVERY.columns.join(', ')}
      FROM deliveries ${indexedBy('deliveries_occurrence')}
      WHERE partition = $1 AND schedule_id = $2 AND occurrence >= $3 AND occurrence < $4 AND replay_of IS NULL
      ORDER BY occurrence LIMIT $5`,
    keptResponses: `SELECT attempt_no FROM attempt_responses
      WHERE partition = $1 AND delivery_id = $2 ORDER BY attempt_no LIMIT $3`,
    hasPayloads: `SELECT 1 FROM schedules ${indexedBy('schedules_with_body_by_profile')}
      WHERE partition = $1 AND endpoint_id = $2 AND endpoint_id IS NOT NULL AND payload_bytes > 0 LIMIT 1`,
  };
}

export type InsightDependencies = Pick<
  Dialect,
  'readers' | 'writers' | 'syntax' | 'dueRowsMax' | 'oldestStats'
>;

export function makeSqlInsight(dependencies: InsightDependencies): InsightStore {
  const { readers, writers, syntax, dueRowsMax, oldestStats } = dependencies;
  const { insight: reader, engine } = readers;
  const texts = textsOf(syntax);
  const { findSchedules } = lists(reader, syntax);
  const ask = <Row>(query: Query) => reader.query<Row>(query.sql, ...query.parameters);

  return {
    warmUp: () => {
      // If this fails, the first dashboard query reports why.
      reader.query('SELECT 1').catch(() => {});
    },

    saveStats: async (node, stats, endpoints) => {
      await writers.maintenance.runAll([
        ...stats.map((one) => [saveStats(node, one)]),
        ...endpoints.map((one) => [saveEndpointStats(node, one)]),
      ]);
    },

    readStats: async (partition, spanMs, from, until) =>
      byInstant(await reader.query<StatsRow>(STATS, partition, spanMs, from, until, STATS_ROWS_MAX)),

    readEndpointStats: async (partition, endpoints, from) => {
      const isWanted = syntax.isOneOf('endpoint_digest', endpoints.map(endpointDigest));
      const rows = await ask<EndpointStatsRow>(
        sql`SELECT endpoint_digest, counts FROM endpoint_stats
          WHERE partition = ${partition} AND ${isWanted} AND at >= ${from} LIMIT ${STATS_ROWS_MAX}`,
      );
      return byEndpoint(endpoints, rows);
    },

    listActiveEndpoints: async (partition, from, limit) => {
      const rows = await reader.query<{ readonly endpoint: EndpointKey }>(
        texts.activeEndpoints,
        partition,
        partition,
        from,
        ACTIVE_ROWS_MAX,
        limit,
      );
      return rows.map(({ endpoint }) => endpoint);
    },

    // Every service prunes, also without a dashboard user, so the reader of the engine finds the rows.
    pruneStats: (minutesBefore, hoursBefore) =>
      pruneStats(
        { reader: engine, writer: writers.maintenance, oldest: oldestStats },
        minutesBefore,
        hoursBefore,
      ),

    countDue: async (partition, from, until, stepMs, scanMax) => {
      const steps = countSteps(from, until, stepMs);
      const rowsMax = Math.min(scanMax, dueRowsMax);
      const window = [from, stepMs, partition, from, BEFORE_EVERY_ID, until] as const;
      return toDueCounts(
        await reader.query<DueStepRow>(texts.dueByStep, ...window, rowsMax + 1),
        steps,
        rowsMax,
      );
    },

    listUpcoming: async (partition, { dueAt, id }, until, limit) => {
      const parameters = [partition, dueAt, id, until, limit, partition, partition] as const;
      return (await reader.query<Row>(texts.upcoming, ...parameters)).flatMap(upcomingIn);
    },

    searchSchedules: async (partition, wanted, page, scanMax) => {
      const scan = (before: ScheduleId | null, rows: number) =>
        ask<ScannedRow<ScheduleId>>(scanQuery(syntax, partition, wantedSchedules(wanted), before, rows));
      const { found, ...rest } = await search(scan, page, { scanMax });
      return fitOnPage(rest, await findSchedules(partition, found));
    },

    countDeliveries: async (partition, filter, countMax) => {
      const counted = firstOfEach(deliveryScans(syntax, raw('id'), partition, filter, null), countMax);
      const [row] = await ask<{ readonly count: number }>(
        sql`SELECT count(*) AS count FROM (SELECT 1 FROM (${counted}) c LIMIT ${countMax}) counted`,
      );
      return row?.count ?? 0;
    },

    listOccurrences: async (...window) =>
      (await reader.query<Row>(texts.occurrences, ...window)).map(DELIVERY.from),

    findDeliveryOfAttempt: async (partition, id, from, until, scanMax) => {
      const ended = firstOfEach(attemptsEnding(syntax, partition, from, until), scanMax);
      const { condition, order } = syntax.ofStatus('claimed', BEFORE_EVERY_ID, PAST_EVERY_ID, null);
      const claimed = sql`SELECT claim_attempt_id AS id, id AS delivery_id
        FROM deliveries ${raw(syntax.indexedBy('deliveries_by_status'))}
        WHERE partition = ${partition} AND ${condition} ORDER BY ${raw(order)} LIMIT ${scanMax}`;
      for (const found of [ended, claimed]) {
        const [row] = await ask<{ readonly delivery_id: DeliveryId }>(
          sql`SELECT delivery_id FROM (${found}) scanned WHERE scanned.id = ${id} LIMIT 1`,
        );
        if (row !== undefined) return row.delivery_id;
      }
      return null;
    },

    listKeptResponses: async (...key) => {
      const rows = await reader.query<{ readonly attempt_no: number }>(texts.keptResponses, ...key);
      return rows.map(({ attempt_no }) => attempt_no);
    },

    hasPayloads: async (partition, id) => (await reader.query(texts.hasPayloads, partition, id)).length > 0,

    findGate: async (partition, endpoint) => {
      const gate = sql`SELECT state FROM gates WHERE partition = ${partition} AND ${syntax.isGateOf(endpoint)}`;
      const [row] = await engine.query<Pick<GateRow, 'state'>>(gate.sql, ...gate.parameters);
      return row === undefined ? null : readGate(row.state);
    },

    listGates: async (partition, limit) =>
      (await reader.query<GateRow>(GATES, partition, GATE_ROWS_MAX, limit)).map(
        ({ endpoint, state, saved_at }) => ({ endpoint, gate: readGate(state), savedAt: saved_at }),
      ),

    listOpenBreakers: async (partition, savedAfter, limit) =>
      (await reader.query<Pick<GateRow, 'endpoint'>>(texts.openBreakers, partition, savedAfter, limit)).map(
        ({ endpoint }) => endpoint,
      ),

    readCluster: () => readCluster(reader),

    addBreakerReset: async ({ partition, endpoint, at }) => {
      await writers.api.run([['saveBreakerReset', null, partition, endpointDigest(endpoint), endpoint, at]]);
    },
    // The engine asks for these, and there are hardly ever any.
    listBreakerResets: (limit) => engine.query<BreakerReset>(BREAKER_RESETS, limit),
    removeBreakerReset: async ({ partition, endpoint, at }) => {
      await writers.api.run([['removeBreakerReset', null, partition, endpointDigest(endpoint), at]]);
    },
  };
}

function saveStats(node: string, { partition, spanMs, at, stats }: SavedStats): Step {
  return ['saveStatsRow', null, partition, spanMs, at, node, toCounts(stats)];
}

function saveEndpointStats(node: string, { partition, endpoint, at, stats }: SavedEndpointStats): Step {
  const counts = toCounts({ ...stats, lateness: [] });
  return ['saveEndpointStats', null, partition, endpointDigest(endpoint), at, node, endpoint, counts];
}

function upcomingIn(row: Row): readonly UpcomingDelivery[] {
  const delivery = JOINED_DELIVERY.find(row);
  return delivery === null ? [] : [{ delivery, schedule: JOINED_FIRING_SCHEDULE.find(row) }];
}

function countSteps(from: number, until: number, stepMs: number): number {
  const steps = Math.ceil((until - from) / stepMs);
  if (steps > STEPS_MAX) throw new RangeError(`A window has at most ${STEPS_MAX} steps.`);
  return Math.max(steps, 0);
}

/** The query reads one row more than `scanMax`. The counts are complete if that row does not exist. */
function toDueCounts(rows: readonly DueStepRow[], steps: number, scanMax: number): DueCounts {
  const counts = Array.from({ length: steps }, () => 0);
  let all = 0;
  for (const { step, due } of rows) {
    all += due;
    counts[step] = due;
  }
  return { counts, isComplete: all <= scanMax };
}

/** Queries of the dashboard in a form that PostgreSQL plans well. */
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import type { DeliveryFilter } from '#src/ports/store.ts';
import type { InsightQueries } from '#src/store/sql/dialect.ts';
import { endpointDigest } from '#src/store/sql/digests.ts';
import { idsAfter, idsBefore } from '#src/store/sql/page-bounds.ts';
import { STATUS_KEY } from './migrations.ts';

export const INSIGHT_QUERIES: Omit<InsightQueries, 'oldestStats' | 'findSchedules'> = {
  dueRowsMax: 20_000,

  gate: (partition, endpoint) => ({
    sql: 'SELECT state FROM gates WHERE partition = $1 AND endpoint_digest = $2',
    parameters: [partition, endpointDigest(endpoint)],
  }),

  endpointStats: (partition, digests, from, rowsMax) => ({
    sql: `SELECT endpoint_digest, counts FROM endpoint_stats
      WHERE partition = $1 AND endpoint_digest = ANY($2::text[]) AND at >= $3 LIMIT $4`,
    parameters: [partition, digests, from, rowsMax],
  }),

  countDeliveries: (partition, filter, countMax) => {
    const { status, scheduleId, createdAfter, createdBefore } = filter;
    return {
      sql: `SELECT count(*) AS count FROM (SELECT 1 FROM (${counted(filter)}) c LIMIT $4) counted`,
      parameters: [
        partition,
        idsAfter(createdAfter),
        idsBefore(createdBefore, null),
        countMax,
        ...(scheduleId !== null ? [scheduleId] : status !== null ? [status] : []),
      ],
    };
  },
};

/** The order makes the planner use the index that has it. */
function counted({ status, scheduleId }: DeliveryFilter): string {
  const deliveries = 'SELECT 1 FROM deliveries WHERE partition = $1';
  const page = 'id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4';
  if (scheduleId !== null) {
    return DELIVERY_STATUSES.filter((word) => status === null || word === status)
      .map((word) => `(${deliveries} AND schedule_id = $5 AND status = '${word}' AND ${page})`)
      .join(' UNION ALL ');
  }
  if (status === null) return `${deliveries} AND ${page}`;
  return `${deliveries} AND ${STATUS_KEY} >= $5 || '/' || $2 AND ${STATUS_KEY} < $5 || '/' || $3
    ORDER BY ${STATUS_KEY} DESC LIMIT $4`;
}

/** Queries of the dashboard in a form that SQLite plans well. */
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import type { DeliveryFilter } from '#src/ports/store.ts';
import type { InsightQueries } from '#src/store/sql/dialect.ts';
import { idsAfter, idsBefore } from '#src/store/sql/page-bounds.ts';
import { oldestStats } from '#src/store/sql/stats-retention.ts';
import type { Parameter } from '#src/store/sql/steps.ts';
import { indexedBy } from './statement-builders.ts';

export const INSIGHT_QUERIES: Omit<InsightQueries, 'findSchedules'> = {
  dueRowsMax: Number.MAX_SAFE_INTEGER - 1,
  oldestStats: oldestStats(indexedBy),

  gate: (partition, endpoint) => ({
    sql: 'SELECT state FROM gates WHERE partition = ? AND endpoint = ?',
    parameters: [partition, endpoint],
  }),

  endpointStats: (partition, digests, from, rowsMax) => ({
    sql: `SELECT t.endpoint_digest, t.counts FROM json_each(?) k
      CROSS JOIN endpoint_stats t ON t.partition = ? AND t.endpoint_digest = k.value AND t.at >= ? LIMIT ?`,
    parameters: [JSON.stringify(digests), partition, from, rowsMax],
  }),

  countDeliveries: (partition, filter, countMax) => {
    const [sql, parameters] = ofFilter(filter);
    return {
      sql: `SELECT count(*) AS count FROM (
        SELECT 1 FROM deliveries ${sql} AND partition = ? AND id >= ? AND id < ? LIMIT ?)`,
      parameters: [
        ...parameters,
        partition,
        idsAfter(filter.createdAfter),
        idsBefore(filter.createdBefore, null),
        countMax,
      ],
    };
  },
};

function ofFilter({ status, scheduleId }: DeliveryFilter): readonly [string, readonly Parameter[]] {
  const statuses = status === null ? DELIVERY_STATUSES : [status];
  if (scheduleId !== null) {
    const any = statuses.map(() => '?').join(', ');
    return [
      `INDEXED BY deliveries_of_schedule WHERE schedule_id = ? AND status IN (${any})`,
      [scheduleId, ...statuses],
    ];
  }
  return status === null ? ['WHERE 1', []] : ['INDEXED BY deliveries_by_status WHERE status = ?', [status]];
}

/** Queries for rows that are old enough to be removed. */

import type { RetentionQueries } from '#src/store/sql/dialect.ts';
import { PAST_EVERY_ENDPOINT_DIGEST } from '#src/store/sql/digests.ts';
import { ENDED_STATES, TERMINAL_STATUSES } from '#src/store/sql/retention.ts';

export const RETENTION_QUERIES: RetentionQueries = {
  deliveries: `SELECT partition, id, revision FROM deliveries INDEXED BY deliveries_finalized
    WHERE finalized_at < ? AND status IN (${TERMINAL_STATUSES}) ORDER BY finalized_at LIMIT ?`,
  schedules: `SELECT partition, id, revision, label_digests, ended_at,
      NOT EXISTS (SELECT 1 FROM deliveries d INDEXED BY deliveries_of_schedule
        WHERE d.partition = schedules.partition AND d.schedule_id = schedules.id) AS is_free
    FROM schedules INDEXED BY schedules_ended
    WHERE (ended_at, id) > (?, ?) AND ended_at < ? AND state IN (${ENDED_STATES})
    ORDER BY ended_at, id LIMIT ?`,
  receipts: 'SELECT partition, key FROM receipts WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
  gates: 'SELECT partition, endpoint FROM gates WHERE saved_at < ? ORDER BY saved_at LIMIT ?',
};

/** The oldest stats of each partition. An index finds each of them in one step. */
export const OLDEST_STATS = `SELECT partition, at FROM (
    SELECT p.partition, (SELECT min(t.at) FROM stats t
      WHERE t.partition = p.partition AND t.span_ms = ?) AS at FROM partitions p
  ) WHERE at < ? LIMIT ?`;
export const OLDEST_ENDPOINT_STATS = `SELECT partition, at, coalesce(
    (SELECT t.endpoint_digest FROM endpoint_stats t INDEXED BY endpoint_stats_by_time
      WHERE t.partition = o.partition AND t.at = o.at ORDER BY t.endpoint_digest LIMIT 1 OFFSET ?),
    '${PAST_EVERY_ENDPOINT_DIGEST}') AS up_to
  FROM (
    SELECT p.partition, (SELECT min(t.at) FROM endpoint_stats t INDEXED BY endpoint_stats_by_time
      WHERE t.partition = p.partition) AS at FROM partitions p
  ) o WHERE at < ? LIMIT ?`;

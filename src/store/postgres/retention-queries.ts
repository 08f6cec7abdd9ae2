/** Queries for rows that are old enough to be removed. */

import type { RetentionQueries } from '#src/store/sql/dialect.ts';
import { PAST_EVERY_ENDPOINT_DIGEST } from '#src/store/sql/digests.ts';
import { ENDED_STATES, TERMINAL_STATUSES } from '#src/store/sql/retention.ts';

export const RETENTION_QUERIES: RetentionQueries = {
  deliveries: `SELECT partition, id, revision FROM deliveries
    WHERE finalized_at < $1 AND status IN (${TERMINAL_STATUSES}) ORDER BY finalized_at LIMIT $2`,
  // The second condition on schedule_id is a range. With equality alone the planner may read all deliveries at once.
  schedules: `SELECT s.partition, s.id, s.revision, s.label_digests, s.ended_at,
      NOT EXISTS (SELECT 1 FROM deliveries d
        WHERE d.partition = s.partition AND d.schedule_id = s.id AND d.schedule_id >= s.id) AS is_free
    FROM schedules s
    WHERE (s.ended_at, s.id) > ($1, $2) AND s.ended_at < $3 AND s.state IN (${ENDED_STATES})
    ORDER BY s.ended_at, s.id LIMIT $4`,
  receipts: 'SELECT partition, key FROM receipts WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2',
  gates: 'SELECT partition, endpoint FROM gates WHERE saved_at < $1 ORDER BY saved_at LIMIT $2',
};

export interface OldestStatsQueries {
  readonly stats: string;
  readonly endpointStats: string;
}

/** The oldest stats of each partition. An index finds each of them in one step. */
export const OLDEST_STATS: OldestStatsQueries = {
  stats: `SELECT p.partition, t.at FROM partitions p
    JOIN LATERAL (
      SELECT min(at) AS at FROM stats t WHERE t.partition = p.partition AND t.span_ms = $1
    ) t ON t.at < $2 LIMIT $3`,
  endpointStats: `SELECT p.partition, t.at, coalesce(
      (SELECT e.endpoint_digest FROM endpoint_stats e
        WHERE e.partition = p.partition AND e.at = t.at ORDER BY e.endpoint_digest LIMIT 1 OFFSET $3),
      '${PAST_EVERY_ENDPOINT_DIGEST}') AS up_to
    FROM partitions p
    JOIN LATERAL (
      SELECT min(at) AS at FROM endpoint_stats t WHERE t.partition = p.partition
    ) t ON t.at < $1 LIMIT $2`,
};

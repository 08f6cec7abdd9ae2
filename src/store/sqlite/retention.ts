/** How candidates for removal are asked for. */
import { ENDED_STATES, type RetentionQueries, TERMINAL_STATUSES } from '#src/store/sql/retention.ts';

export const RETENTION: RetentionQueries = {
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

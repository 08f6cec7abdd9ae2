/** How candidates for removal are asked for. */
import { ENDED_STATES, type RetentionQueries, TERMINAL_STATUSES } from '#src/store/sql/retention.ts';

export const RETENTION: RetentionQueries = {
  deliveries: `SELECT partition, id, revision FROM deliveries
    WHERE finalized_at < $1 AND status IN (${TERMINAL_STATUSES}) ORDER BY finalized_at LIMIT $2`,
  // Said twice, the second time as a range: what is only equal the planner may gather for all schedules at once.
  schedules: `SELECT s.partition, s.id, s.revision, s.label_digests, s.ended_at,
      NOT EXISTS (SELECT 1 FROM deliveries d
        WHERE d.partition = s.partition AND d.schedule_id = s.id AND d.schedule_id >= s.id) AS is_free
    FROM schedules s
    WHERE (s.ended_at, s.id) > ($1, $2) AND s.ended_at < $3 AND s.state IN (${ENDED_STATES})
    ORDER BY s.ended_at, s.id LIMIT $4`,
  receipts: 'SELECT partition, key FROM receipts WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2',
  gates: 'SELECT partition, endpoint FROM gates WHERE saved_at < $1 ORDER BY saved_at LIMIT $2',
};

/**
 * The statements of sweeps. Rows are locked in the order of their ids, as in all statements. The first batch covers
 * several statuses and cannot keep that order. It skips locked rows, and a later batch changes them.
 */
import type { Placement, RowSource } from './placement.ts';
import { deletion, matching, type Text } from './statement-builders.ts';

const OUTCOMES = ['unattempted_to', 'attempted_to', 'finalized_at'];
const FIRST = {
  columns: ['partition', 'schedule_id', 'status', 'batch_max', ...OUTCOMES],
  which: 'ORDER BY d.id LIMIT t.batch_max FOR NO KEY UPDATE SKIP LOCKED',
};
const NEXT = {
  columns: ['partition', 'schedule_id', 'status', 'after_id', 'last_id', ...OUTCOMES],
  which: 'AND d.id > t.after_id AND d.id <= t.last_id ORDER BY d.id FOR NO KEY UPDATE',
};
const STATUSES = ['status_1', 'status_2', 'status_3'];
const ACTION = ['partition', 'schedule_id', 'action', 'requested_at'];
const INSERTED = [...ACTION, ...STATUSES];

/** The rows of a batch are chosen before any of them is changed. A changed row would no longer match. */
function batch({ columns, which }: typeof FIRST, { from, partitionOf }: RowSource): string {
  const partition = partitionOf('t');
  return `WITH batch AS MATERIALIZED (
      SELECT ${partition} AS partition, chosen.id, t.unattempted_to, t.attempted_to, t.finalized_at
      FROM ${from(columns)} CROSS JOIN LATERAL (
        SELECT d.id FROM deliveries d
        WHERE d.partition = ${partition} AND d.schedule_id = t.schedule_id AND d.status = t.status
        ${which}) AS chosen)
    UPDATE deliveries AS r SET
      status = CASE WHEN r.attempt_count = 0 THEN batch.unattempted_to ELSE batch.attempted_to END,
      due_at = CASE WHEN batch.finalized_at IS NULL THEN r.due_at END,
      reserved = 0,
      finalized_at = batch.finalized_at,
      revision = r.revision + 1
    FROM batch WHERE r.partition = ${partitionOf('batch')} AND r.id = batch.id`;
}

function insertSweep({ from, partitionOf }: RowSource): string {
  const partition = partitionOf('t');
  const lastIds = STATUSES.map(
    (status) => `(SELECT max(d.id) FROM deliveries d
      WHERE d.partition = ${partition} AND d.schedule_id = t.schedule_id AND d.status = t.${status})`,
  );
  return `INSERT INTO sweeps (partition, schedule_id, action, requested_at, last_id)
    SELECT ${partition}, t.schedule_id, t.action, t.requested_at, found.last_id
    FROM ${from(INSERTED)} CROSS JOIN LATERAL (SELECT greatest(${lastIds.join(', ')}) AS last_id) AS found
    WHERE found.last_id IS NOT NULL`;
}

export function sweepStatements(placement: Placement) {
  const { forEachPartition } = placement;
  const ofSchedule = { scans: true, key: [0, 1], table: 'sweeps', access: 'write' } as const;
  const swept = { ...ofSchedule, table: 'swept deliveries', access: 'read' } as const;
  return {
    sweepFirstDeliveries: { ...swept, ...forEachPartition((source) => batch(FIRST, source)) },
    sweepDeliveries: { ...swept, ...forEachPartition((source) => batch(NEXT, source)) },
    insertSweep: { ...ofSchedule, ...forEachPartition(insertSweep) },
    removeStaleSweep: {
      ...ofSchedule,
      ...deletion(
        placement,
        'sweeps',
        [...ACTION, 'state'],
        matching(ACTION),
        `AND NOT EXISTS (SELECT 1 FROM schedules s
           WHERE s.partition = r.partition AND s.id = r.schedule_id AND s.state = t.state)`,
      ),
    },
  } satisfies Readonly<Record<string, Text>>;
}

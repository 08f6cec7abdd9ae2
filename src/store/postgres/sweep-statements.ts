/**
 * The statements of sweeps. Rows are locked in the order of their ids, as in all statements. The first batch covers
 * several statuses and cannot keep that order. It skips locked rows, and a later batch changes them.
 */
import type { PlacedText, Placement, RowSource } from './placement.ts';
import { deletion, matching, type Text, tables } from './statement-builders.ts';

const OUTCOMES = ['unattempted_to', 'attempted_to', 'finalized_at'];
const FIRST = {
  columns: ['partition', 'schedule_id', 'status', 'batch_max', ...OUTCOMES],
  which: ({ value }: RowSource) => `ORDER BY d.id LIMIT ${value('batch_max')} FOR NO KEY UPDATE SKIP LOCKED`,
};
const NEXT = {
  columns: ['partition', 'schedule_id', 'status', 'after_id', 'last_id', ...OUTCOMES],
  which: ({ value }: RowSource) =>
    `AND d.id > ${value('after_id')} AND d.id <= ${value('last_id')} ORDER BY d.id FOR NO KEY UPDATE`,
};
const STATUSES = ['status_1', 'status_2', 'status_3'];
const ACTION = ['partition', 'schedule_id', 'action', 'requested_at'];
const INSERTED = [...ACTION, ...STATUSES];

/** The rows of a batch are chosen before any of them is changed. A changed row would no longer match. */
function batch({ text }: Placement, { columns, which }: typeof FIRST): PlacedText {
  return text(columns, (source) => {
    const { value } = source;
    const partition = value('partition');
    const outcomes = OUTCOMES.map((column) => `${value(column)} AS ${column}`).join(', ');
    const chosen = `LATERAL (SELECT d.id FROM deliveries d
        WHERE d.partition = ${partition} AND d.schedule_id = ${value('schedule_id')} AND d.status = ${value('status')}
        ${which(source)}) AS chosen`;
    return `WITH batch AS MATERIALIZED (
      SELECT ${partition} AS partition, chosen.id, ${outcomes} FROM ${tables(source, chosen)})
    UPDATE deliveries AS r SET
      status = CASE WHEN r.attempt_count = 0 THEN batch.unattempted_to ELSE batch.attempted_to END,
      due_at = CASE WHEN batch.finalized_at IS NULL THEN r.due_at END,
      reserved = 0,
      finalized_at = batch.finalized_at,
      revision = r.revision + 1
    FROM batch WHERE r.partition = ${value('partition', 'batch')} AND r.id = batch.id`;
  });
}

function insertSweep({ tableText }: Placement): PlacedText {
  return tableText(INSERTED, (source) => {
    const { value } = source;
    const lastIds = STATUSES.map(
      (status) => `(SELECT max(d.id) FROM deliveries d WHERE d.partition = ${value('partition')}
        AND d.schedule_id = ${value('schedule_id')} AND d.status = ${value(status)})`,
    );
    const found = `LATERAL (SELECT greatest(${lastIds.join(', ')}) AS last_id) AS found`;
    return `INSERT INTO sweeps (${ACTION.join(', ')}, last_id)
      SELECT ${ACTION.map((column) => value(column)).join(', ')}, found.last_id
      FROM ${tables(source, found)} WHERE found.last_id IS NOT NULL`;
  });
}

export function sweepStatements(placement: Placement) {
  const ofSchedule = { scans: true, key: [0, 1], table: 'sweeps', access: 'write' } as const;
  const swept = { ...ofSchedule, table: 'swept deliveries', access: 'read' } as const;
  return {
    sweepFirstDeliveries: { ...swept, ...batch(placement, FIRST) },
    sweepDeliveries: { ...swept, ...batch(placement, NEXT) },
    insertSweep: { ...ofSchedule, ...insertSweep(placement) },
    removeStaleSweep: {
      ...ofSchedule,
      ...deletion(
        placement,
        'sweeps',
        [...ACTION, 'state'],
        (source) => `${matching(ACTION, source)} AND NOT EXISTS (SELECT 1 FROM schedules s
           WHERE s.partition = r.partition AND s.id = r.schedule_id AND s.state = ${source.value('state')})`,
      ),
    },
  } satisfies Readonly<Record<string, Text>>;
}

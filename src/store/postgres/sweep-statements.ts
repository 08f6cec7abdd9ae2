/**
 * The statements of sweeps. Rows are locked in the order of their ids, as everywhere. The first piece has several
 * statuses and cannot keep that order: it skips locked rows, and a later piece takes them.
 */
import type { StatementName } from '#src/store/sql/statement-names.ts';
import { rows } from './array-rows.ts';
import { PLAIN, type Statement, statementBuilders } from './statement-builders.ts';

type SweepStatementName = Extract<
  StatementName,
  'sweepFirstDeliveries' | 'sweepDeliveries' | 'removeSweep' | 'insertSweep' | 'endSweep' | 'removeStaleSweep'
>;

const OUTCOMES = ['untried_to', 'tried_to', 'finalized_at'];
const FIRST = {
  columns: ['partition', 'schedule_id', 'status', 'together_max', ...OUTCOMES],
  which: 'ORDER BY d.id LIMIT t.together_max FOR NO KEY UPDATE SKIP LOCKED',
};
const NEXT = {
  columns: ['partition', 'schedule_id', 'status', 'after_id', 'last_id', ...OUTCOMES],
  which: 'AND d.id > t.after_id AND d.id <= t.last_id ORDER BY d.id FOR NO KEY UPDATE',
};
const STATUSES = ['status_1', 'status_2', 'status_3'];
const ORDER = ['partition', 'schedule_id', 'ordered', 'ordered_at'];
const MARK = [...ORDER, ...STATUSES];
const STALE = [...ORDER, 'state'];

/** The source of an order's rows, and the names of their partition there and in the piece. */
interface Place {
  readonly from: (columns: readonly string[]) => string;
  readonly partition: string;
  readonly ofPiece: string;
}

const ANYWHERE: Place = { from: rows, partition: 't.partition', ofPiece: 'piece.partition' };
/** For rows of one partition, which is the first parameter. */
const ROUTED: Place = {
  from: ([, ...rest]) => rows(rest, 2),
  partition: '$1::bigint',
  ofPiece: '$1::bigint',
};

/** The rows of a piece are chosen once, before any is changed: a changed row would not be chosen. */
function piece({ columns, which }: typeof FIRST, { from, partition, ofPiece }: Place): string {
  return `WITH piece AS MATERIALIZED (
      SELECT ${partition} AS partition, chosen.id, t.untried_to, t.tried_to, t.finalized_at
      FROM ${from(columns)} CROSS JOIN LATERAL (
        SELECT d.id FROM deliveries d
        WHERE d.partition = ${partition} AND d.schedule_id = t.schedule_id AND d.status = t.status
        ${which}) AS chosen)
    UPDATE deliveries AS r SET
      status = CASE WHEN r.attempt_count = 0 THEN piece.untried_to ELSE piece.tried_to END,
      due_at = CASE WHEN piece.finalized_at IS NULL THEN r.due_at END,
      booked = 0,
      finalized_at = piece.finalized_at,
      revision = r.revision + 1
    FROM piece WHERE r.partition = ${ofPiece} AND r.id = piece.id`;
}

function mark({ from, partition }: Place): string {
  const lastIds = STATUSES.map(
    (status) => `(SELECT max(d.id) FROM deliveries d
      WHERE d.partition = ${partition} AND d.schedule_id = t.schedule_id AND d.status = t.${status})`,
  );
  return `INSERT INTO sweeps (partition, schedule_id, ordered, ordered_at, last_id)
    SELECT ${partition}, t.schedule_id, t.ordered, t.ordered_at, found.last_id
    FROM ${from(MARK)} CROSS JOIN LATERAL (SELECT greatest(${lastIds.join(', ')}) AS last_id) AS found
    WHERE found.last_id IS NOT NULL`;
}

export function sweepStatements(distributed: boolean): Readonly<Record<SweepStatementName, Statement>> {
  const { spreadOf, within, remove } = statementBuilders(distributed);
  const theOrder = `r.partition = t.partition AND r.schedule_id = t.schedule_id
    AND r.ordered = t.ordered AND r.ordered_at = t.ordered_at`;
  const ofSchedule = { ...PLAIN, scans: true, key: [0, 1] } as const;
  const swept = { ...ofSchedule, table: 'swept deliveries', access: 'read' } as const;
  return {
    sweepFirstDeliveries: { ...swept, sql: [piece(FIRST, ANYWHERE)], routed: piece(FIRST, ROUTED) },
    sweepDeliveries: { ...swept, sql: [piece(NEXT, ANYWHERE)], routed: piece(NEXT, ROUTED) },
    removeSweep: remove('sweeps', ['partition', 'schedule_id']),
    insertSweep: { ...ofSchedule, sql: [mark(ANYWHERE)], routed: mark(ROUTED), table: 'sweeps' },
    endSweep: remove('sweeps', ORDER),
    removeStaleSweep: {
      ...ofSchedule,
      sql: [
        `DELETE FROM sweeps AS r USING ${rows(STALE)} WHERE ${theOrder}${within(STALE)}
           AND NOT EXISTS (SELECT 1 FROM schedules s
             WHERE s.partition = r.partition AND s.id = r.schedule_id AND s.state = t.state)`,
      ],
      table: 'sweeps',
      spread: spreadOf(STALE),
    },
  };
}

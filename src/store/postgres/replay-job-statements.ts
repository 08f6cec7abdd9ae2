/**
 * The statements of bulk replays. A job is locked before its items, and both are locked before schedules and
 * deliveries.
 */
import {
  REPLAY_ITEM,
  REPLAY_ITEM_KEY,
  REPLAY_JOB_FIXED,
  REPLAY_JOB_MUTABLE,
} from '#src/store/sql/replay-job-rows.ts';
import type { ReplayJobStatementName } from '#src/store/sql/statement-names.ts';
import { rows } from './array-rows.ts';
import { PLAIN, positionsOf, type Statement, statementBuilders } from './statement-builders.ts';

const JOB_KEY = ['partition', 'id'];
const ITEM = REPLAY_ITEM_KEY.map((column) => `r.${column} = t.${column}`).join(' AND ');

export function replayJobStatements(
  distributed: boolean,
): Readonly<Record<ReplayJobStatementName, Statement>> {
  const { spreadOf, within, insert, replace, remove } = statementBuilders(distributed);
  return {
    // Locked until the end of the transaction, so the check for other jobs sees those of earlier transactions.
    lockPartition: {
      ...PLAIN,
      sql: [
        `SELECT r.partition FROM ${rows(['partition'])}
         JOIN partitions AS r ON r.partition = t.partition FOR NO KEY UPDATE OF r`,
      ],
      holds: 'each',
      key: [0],
      table: 'partitions',
    },
    noOtherReplayJob: {
      sql: [
        `SELECT r.partition FROM ${rows(['partition', 'known'])} JOIN replay_jobs AS r
         ON r.partition = t.partition AND r.state IN ('gathering', 'running') AND strpos(t.known, r.id) = 0`,
      ],
      routed: `SELECT r.partition FROM replay_jobs AS r JOIN ${rows(['known'], 2)}
         ON strpos(t.known, r.id) = 0
         WHERE r.partition = $1::bigint AND r.state IN ('gathering', 'running')`,
      holds: 'none',
      scans: true,
      key: [0],
      table: 'partitions',
      access: 'read',
      spread: null,
    },
    insertReplayJob: insert('replay_jobs', [...REPLAY_JOB_FIXED, ...REPLAY_JOB_MUTABLE]),
    replaceReplayJob: replace('replay_jobs', REPLAY_JOB_MUTABLE),
    insertReplayItem: {
      ...insert('replay_items', REPLAY_ITEM),
      key: positionsOf(REPLAY_ITEM, REPLAY_ITEM_KEY),
    },
    takeReplayItem: {
      ...PLAIN,
      sql: [
        `DELETE FROM replay_items AS r USING ${rows(REPLAY_ITEM_KEY)} WHERE ${ITEM}${within(REPLAY_ITEM_KEY)}
         RETURNING ${REPLAY_ITEM_KEY.map((column) => `r.${column}`).join(', ')}`,
      ],
      holds: 'each',
      key: positionsOf(REPLAY_ITEM_KEY, REPLAY_ITEM_KEY),
      table: 'replay_items',
      spread: spreadOf(REPLAY_ITEM_KEY),
    },
    removeReplayItem: remove('replay_items', REPLAY_ITEM_KEY),
    clearReplayJob: {
      ...PLAIN,
      sql: [
        `UPDATE replay_jobs AS r SET cursor = NULL FROM ${rows(JOB_KEY)}
         WHERE r.partition = t.partition AND r.id = t.id AND r.ended_at IS NOT NULL${within(JOB_KEY)}`,
      ],
      key: [0, 1],
      table: 'replay_jobs',
      spread: spreadOf(JOB_KEY),
    },
    removeReplayJob: remove('replay_jobs', JOB_KEY),
  };
}

import {
  REPLAY_ITEM,
  REPLAY_ITEM_KEY,
  REPLAY_JOB_FIXED,
  REPLAY_JOB_MUTABLE,
} from '#src/store/sql/replay-job-rows.ts';
import type { ReplayJobStatementName } from '#src/store/sql/statement-names.ts';
import type { Statement } from '#src/store/sql/statements.ts';
import { insertInto, replaceIn } from './statement-builders.ts';

const ITEM = REPLAY_ITEM_KEY.map((column) => `${column} = ?`).join(' AND ');

export const REPLAY_JOB_STATEMENTS = {
  /** There is only one writer, so no lock is needed. */
  lockPartition: { sql: 'SELECT 1 FROM partitions WHERE partition = ?', holds: 'one_row' },
  noOtherReplayJob: {
    sql: `SELECT 1 FROM replay_jobs
      WHERE partition = ? AND state IN ('gathering', 'running') AND instr(?, id) = 0 LIMIT 1`,
    holds: 'no_row',
  },
  insertReplayJob: {
    sql: insertInto('replay_jobs', ...REPLAY_JOB_FIXED, ...REPLAY_JOB_MUTABLE),
    holds: 'always',
  },
  replaceReplayJob: { sql: replaceIn('replay_jobs', REPLAY_JOB_MUTABLE), holds: 'one_row' },
  clearReplayJob: {
    sql: 'UPDATE replay_jobs SET cursor = NULL WHERE partition = ? AND id = ? AND ended_at IS NOT NULL',
    holds: 'always',
  },
  removeReplayJob: { sql: 'DELETE FROM replay_jobs WHERE partition = ? AND id = ?', holds: 'always' },
  insertReplayItem: { sql: insertInto('replay_items', ...REPLAY_ITEM), holds: 'always' },
  takeReplayItem: { sql: `DELETE FROM replay_items WHERE ${ITEM}`, holds: 'one_row' },
  removeReplayItem: { sql: `DELETE FROM replay_items WHERE ${ITEM}`, holds: 'always' },
} as const satisfies Readonly<Record<ReplayJobStatementName, Statement>>;

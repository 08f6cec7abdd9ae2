/**
 * All statements that change data, and their checks, by name. A verb is a list of these with parameters
 * (`sql/verbs.ts`), and the writing thread runs it (`writer-thread.ts`).
 */
import { ATTEMPT } from '#src/store/sql/attempt-rows.ts';
import {
  DELIVERY_CLAIMED,
  DELIVERY_DEFERRED,
  DELIVERY_FIXED,
  DELIVERY_MUTABLE,
  DELIVERY_SETTLED,
  PROFILE_FIXED,
  PROFILE_MUTABLE,
  PROFILE_VERSION,
  SCHEDULE_ADVANCED,
  SCHEDULE_COMPLETED,
  SCHEDULE_FIXED,
  SCHEDULE_MUTABLE,
  UNCLAIMED,
} from '#src/store/sql/columns.ts';
import { EVERY_KIND, EVERY_STATE, LABEL_COLUMNS } from '#src/store/sql/label-rows.ts';
import type { StatementName } from '#src/store/sql/statement-names.ts';
import { SHARED_STATEMENTS, type Statement } from '#src/store/sql/statements.ts';
import { notAwaitingSweep } from '#src/store/sql/sweep-rows.ts';
import { DISK_CHECK_STATEMENTS, type DiskCheckStatementName } from './disk-check.ts';
import { insertInto, replaceIn } from './statement-builders.ts';

/** Changes deliveries of one status of a schedule. `which` limits them. */
function sweep(which: string): string {
  return `WITH batch AS MATERIALIZED (
      SELECT rowid FROM deliveries INDEXED BY deliveries_of_schedule
      WHERE partition = ? AND schedule_id = ? AND status = ? ${which})
    UPDATE deliveries
    SET status = CASE WHEN attempt_count = 0 THEN sweep.unattempted_to ELSE sweep.attempted_to END,
        due_at = CASE WHEN sweep.finalized_at IS NULL THEN due_at END,
        reserved = 0,
        finalized_at = sweep.finalized_at,
        revision = revision + 1
    FROM (SELECT ? AS unattempted_to, ? AS attempted_to, ? AS finalized_at) AS sweep
    WHERE deliveries.rowid IN (SELECT rowid FROM batch)`;
}

export const STATEMENTS = {
  insertSchedule: { sql: insertInto('schedules', ...SCHEDULE_FIXED, ...SCHEDULE_MUTABLE), holds: 'always' },
  replaceSchedule: { sql: replaceIn('schedules', SCHEDULE_MUTABLE), holds: 'one_row' },
  advanceSchedule: { sql: replaceIn('schedules', SCHEDULE_ADVANCED), holds: 'one_row' },
  completeSchedule: { sql: replaceIn('schedules', SCHEDULE_COMPLETED), holds: 'one_row' },
  scheduleInState: {
    sql: 'SELECT 1 FROM schedules WHERE partition = ? AND id = ? AND state = ?',
    holds: 'one_row',
  },
  scheduleExists: { sql: 'SELECT 1 FROM schedules WHERE partition = ? AND id = ?', holds: 'one_row' },
  removeSchedule: {
    sql: `DELETE FROM schedules WHERE partition = ? AND id = ? AND revision = ?
      AND NOT EXISTS (SELECT 1 FROM deliveries d INDEXED BY deliveries_of_schedule
        WHERE d.partition = schedules.partition AND d.schedule_id = schedules.id)`,
    holds: 'one_row',
  },
  insertLabel: {
    sql: `INSERT OR IGNORE INTO schedule_labels (${LABEL_COLUMNS.join(', ')}) VALUES (?, unhex(?), ?, ?, ?)`,
    holds: 'always',
  },
  deleteLabel: {
    sql: `DELETE FROM schedule_labels WHERE partition = ? AND digest = unhex(?)
      AND state IN (${EVERY_STATE}) AND kind IN (${EVERY_KIND}) AND schedule_id = ?`,
    holds: 'always',
  },
  completeLabel: {
    sql: `UPDATE schedule_labels SET state = ?
      WHERE partition = ? AND digest = unhex(?) AND state = ? AND kind = ? AND schedule_id = ?`,
    holds: 'always',
  },
  insertPayload: { sql: insertInto('payloads', 'partition', 'schedule_id', 'sealed'), holds: 'always' },
  removePayload: { sql: 'DELETE FROM payloads WHERE partition = ? AND schedule_id = ?', holds: 'always' },

  insertDelivery: { sql: insertInto('deliveries', ...DELIVERY_FIXED, ...DELIVERY_MUTABLE), holds: 'always' },
  /** Does not hold if the occurrence exists already. */
  insertNextDelivery: {
    sql: `${insertInto('deliveries', ...DELIVERY_FIXED, ...DELIVERY_MUTABLE)} ON CONFLICT DO NOTHING`,
    holds: 'one_row',
  },
  replaceDelivery: { sql: replaceIn('deliveries', DELIVERY_MUTABLE), holds: 'one_row' },
  claimDelivery: {
    sql: `${replaceIn('deliveries', DELIVERY_CLAIMED)} AND ${notAwaitingSweep('deliveries')}`,
    holds: 'one_row',
  },
  settleDelivery: {
    sql: `${replaceIn('deliveries', DELIVERY_SETTLED, UNCLAIMED)} AND claim_attempt_id IS ?`,
    holds: 'one_row',
  },
  deferDelivery: { sql: replaceIn('deliveries', DELIVERY_DEFERRED), holds: 'one_row' },
  sweepFirstDeliveries: { sql: sweep('ORDER BY id LIMIT ?'), holds: 'always' },
  sweepDeliveries: { sql: sweep('AND id > ? AND id <= ?'), holds: 'always' },
  removeSweep: { sql: 'DELETE FROM sweeps WHERE partition = ? AND schedule_id = ?', holds: 'always' },
  /** `max(id)` reads the last entry of each status in the index. */
  insertSweep: {
    sql: `INSERT INTO sweeps (partition, schedule_id, action, requested_at, last_id)
      SELECT partition, schedule_id, action, requested_at, last_id FROM (
        SELECT o.*, max(${['status_1', 'status_2', 'status_3']
          .map(
            (status) => `coalesce((SELECT max(d.id) FROM deliveries d INDEXED BY deliveries_of_schedule
              WHERE d.partition = o.partition AND d.schedule_id = o.schedule_id AND d.status = o.${status}), '')`,
          )
          .join(', ')}) AS last_id
        FROM (SELECT ? AS partition, ? AS schedule_id, ? AS action, ? AS requested_at,
          ? AS status_1, ? AS status_2, ? AS status_3) AS o)
      WHERE last_id <> ''`,
    holds: 'always',
  },
  endSweep: {
    sql: 'DELETE FROM sweeps WHERE partition = ? AND schedule_id = ? AND action = ? AND requested_at = ?',
    holds: 'always',
  },
  removeStaleSweep: {
    sql: `DELETE FROM sweeps WHERE partition = ? AND schedule_id = ? AND action = ? AND requested_at = ?
      AND NOT EXISTS (SELECT 1 FROM schedules s
        WHERE s.partition = sweeps.partition AND s.id = sweeps.schedule_id AND s.state = ?)`,
    holds: 'always',
  },
  removeDelivery: {
    sql: 'DELETE FROM deliveries WHERE partition = ? AND id = ? AND revision = ?',
    holds: 'one_row',
  },
  insertAttempt: { sql: insertInto('attempts', ...ATTEMPT.columns), holds: 'always' },
  removeAttempts: { sql: 'DELETE FROM attempts WHERE partition = ? AND delivery_id = ?', holds: 'always' },

  saveGate: {
    sql: `${insertInto('gates', 'partition', 'endpoint', 'state', 'saved_at')}
      ON CONFLICT DO UPDATE SET state = excluded.state, saved_at = excluded.saved_at`,
    holds: 'always',
  },
  removeGate: { sql: 'DELETE FROM gates WHERE partition = ? AND endpoint = ?', holds: 'always' },
  removeOldGate: {
    sql: 'DELETE FROM gates WHERE partition = ? AND endpoint = ? AND saved_at < ?',
    holds: 'always',
  },

  insertReceipt: {
    sql: `INSERT INTO receipts (partition, key, fingerprint, status_code, body, created_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (partition, key) DO UPDATE SET
        fingerprint = excluded.fingerprint, status_code = excluded.status_code, body = excluded.body,
        created_at = excluded.created_at, expires_at = excluded.expires_at
      WHERE receipts.expires_at <= excluded.created_at`,
    holds: 'one_row',
  },

  removeReceipt: {
    sql: 'DELETE FROM receipts WHERE partition = ? AND key = ? AND expires_at <= ?',
    holds: 'always',
  },

  insertProfile: {
    sql: insertInto('endpoint_profiles', ...PROFILE_FIXED, ...PROFILE_MUTABLE),
    holds: 'always',
  },
  replaceProfile: { sql: replaceIn('endpoint_profiles', PROFILE_MUTABLE), holds: 'one_row' },
  insertProfileVersion: {
    sql: insertInto('endpoint_profile_versions', ...PROFILE_VERSION, 'sealed_headers'),
    holds: 'always',
  },
  profileAtRevision: {
    sql: 'SELECT 1 FROM endpoint_profiles WHERE partition = ? AND id = ? AND revision = ?',
    holds: 'one_row',
  },
  profileUnused: {
    sql: `SELECT 1 FROM schedules INDEXED BY schedules_using_profile
      WHERE partition = ? AND endpoint_id = ? AND endpoint_id IS NOT NULL
        AND state IN ('active', 'paused') LIMIT 1`,
    holds: 'no_row',
  },

  slotHeld: { sql: 'SELECT 1 FROM slots WHERE slot = ? AND owner = ? AND epoch = ?', holds: 'one_row' },
  nodeLives: { sql: 'SELECT 1 FROM nodes WHERE node = ?', holds: 'one_row' },
  takeSlot: {
    sql: `UPDATE slots SET owner = ?, epoch = epoch + 1 WHERE slot = ? AND epoch = ?
      AND NOT EXISTS (SELECT 1 FROM nodes WHERE node = slots.owner)`,
    holds: 'one_row',
  },
  releaseSlot: {
    sql: 'UPDATE slots SET owner = NULL WHERE slot = ? AND owner = ? AND epoch = ?',
    holds: 'always',
  },

  saveStatsRow: {
    sql: `INSERT INTO stats (partition, span_ms, at, node, counts) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET counts = excluded.counts`,
    holds: 'always',
  },
  saveEndpointStats: {
    sql: `INSERT INTO endpoint_stats (partition, endpoint_digest, at, node, endpoint, counts)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET counts = excluded.counts`,
    holds: 'always',
  },
  removeStats: {
    sql: 'DELETE FROM stats WHERE partition = ? AND span_ms = ? AND at < ?',
    holds: 'always',
  },
  removeEndpointStats: {
    sql: 'DELETE FROM endpoint_stats WHERE partition = ? AND at = ? AND endpoint_digest <= ?',
    holds: 'always',
  },

  ...SHARED_STATEMENTS,

  ...DISK_CHECK_STATEMENTS,
} as const satisfies Readonly<Record<StatementName | DiskCheckStatementName, Statement>>;

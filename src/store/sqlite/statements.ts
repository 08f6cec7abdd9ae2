/**
 * All statements that change data, and their checks, by name. A verb is a list of these with parameters
 * (`sql/verbs.ts`), and the writing thread runs it (`writer-thread.ts`).
 */
import {
  makeHotStatements,
  type OwnStatementName,
  type StatementName,
} from '#src/store/sql/hot-statements.ts';
import { EVERY_KIND, EVERY_STATE, LABEL_COLUMNS } from '#src/store/sql/label-rows.ts';
import { payloadUse } from '#src/store/sql/payload-versions.ts';
import { SHARED_STATEMENTS, type Statement } from '#src/store/sql/statements.ts';
import { indexedBy, insertInto, textOf } from './statement-builders.ts';

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

const PAYLOAD_VERSION = 'partition = ? AND schedule_id = ? AND version = ?';

const OWN_STATEMENTS: Readonly<Record<OwnStatementName, string>> = {
  nodeLives: 'SELECT 1 FROM nodes WHERE node = ?',
  takeSlot: `UPDATE slots SET owner = ?, epoch = epoch + 1 WHERE slot = ? AND epoch = ?
      AND NOT EXISTS (SELECT 1 FROM nodes WHERE node = slots.owner)`,
  releaseSlot: 'UPDATE slots SET owner = NULL WHERE slot = ? AND owner = ? AND epoch = ?',
  slotHeld: 'SELECT 1 FROM slots WHERE slot = ? AND owner = ? AND epoch = ?',
  profileUnused: `SELECT 1 FROM (
        SELECT ? AS partition, ? AS endpoint_id, ? AS notifies_from, ? AS notifies_until) AS o
      WHERE EXISTS (SELECT 1 FROM schedules s INDEXED BY schedules_using_profile
          WHERE s.partition = o.partition AND s.endpoint_id = o.endpoint_id AND s.endpoint_id IS NOT NULL
            AND s.state IN ('active', 'paused'))
        OR EXISTS (SELECT 1 FROM schedules s INDEXED BY schedules_notifying
          WHERE s.partition = o.partition AND s.notify >= o.notifies_from AND s.notify < o.notifies_until
            AND s.state IN ('active', 'paused'))
        OR EXISTS (SELECT 1 FROM endpoint_profiles p INDEXED BY endpoint_profiles_notifying
          WHERE p.partition = o.partition AND p.notify >= o.notifies_from AND p.notify < o.notifies_until
            AND p.archived = 0 AND p.id <> o.endpoint_id)`,
  insertEarlierPayload: `INSERT INTO earlier_payloads
        (partition, schedule_id, version, since_id, last_id, check_at, sealed)
      SELECT p.partition, p.schedule_id, p.version, p.since_id, o.last_id, 0, p.sealed
      FROM (SELECT ? AS partition, ? AS schedule_id, ? AS version, ? AS last_id) AS o
      CROSS JOIN payloads p ON p.partition = o.partition AND p.schedule_id = o.schedule_id AND p.version = o.version
      WHERE ${payloadUse(indexedBy, {
        partition: 'o.partition',
        scheduleId: 'o.schedule_id',
        version: 'o.version',
        sinceId: 'p.since_id',
        lastId: 'o.last_id',
      })} <> 'none'`,
  extendEarlierPayload: `UPDATE earlier_payloads SET last_id = max(last_id, ?) WHERE ${PAYLOAD_VERSION}`,
  checkEarlierPayload: `UPDATE earlier_payloads SET check_at = 0 WHERE ${PAYLOAD_VERSION}`,
  keepEarlierPayload: `UPDATE earlier_payloads SET check_at = ? WHERE ${PAYLOAD_VERSION} AND check_at = ?`,
  removeEarlierPayload: `DELETE FROM earlier_payloads WHERE ${PAYLOAD_VERSION} AND last_id = ?`,
  sweepFirstDeliveries: sweep('ORDER BY id LIMIT ?'),
  sweepDeliveries: sweep('AND id > ? AND id <= ?'),
  /** `max(id)` reads the last entry of each status in the index. */
  insertSweep: `INSERT INTO sweeps (partition, schedule_id, action, requested_at, last_id)
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
  removeStaleSweep: `DELETE FROM sweeps WHERE partition = ? AND schedule_id = ? AND action = ? AND requested_at = ?
      AND NOT EXISTS (SELECT 1 FROM schedules s
        WHERE s.partition = sweeps.partition AND s.id = sweeps.schedule_id AND s.state = ?)`,
  deleteLabel: `DELETE FROM schedule_labels WHERE partition = ? AND digest = unhex(?)
      AND state IN (${EVERY_STATE}) AND kind IN (${EVERY_KIND}) AND schedule_id = ?`,
  completeLabel: `UPDATE schedule_labels SET state = ?
      WHERE partition = ? AND digest = unhex(?) AND state = ? AND kind = ? AND schedule_id = ?`,
  insertLabel: `INSERT OR IGNORE INTO schedule_labels (${LABEL_COLUMNS.join(', ')}) VALUES (?, unhex(?), ?, ?, ?)`,
  removeGate: 'DELETE FROM gates WHERE partition = ? AND endpoint = ?',
  removeOldGate: 'DELETE FROM gates WHERE partition = ? AND endpoint = ? AND saved_at < ?',
  saveGate: `${insertInto('gates', ['partition', 'endpoint', 'state', 'saved_at'])}
      ON CONFLICT DO UPDATE SET state = excluded.state, saved_at = excluded.saved_at`,
};

/** More than a create of ordinary size takes. */
const PROBE_BYTES = 262_144;

/**
 * The health check of the disk. A heartbeat row is small and may still fit on a disk that takes nothing else. After
 * a failed write the check therefore first writes, and then removes, as much as an ordinary create takes.
 */
const DISK_CHECK_STATEMENTS = {
  writeProbe: { sql: `INSERT INTO disk_probe (bytes) VALUES (zeroblob(${PROBE_BYTES}))`, holds: 'always' },
  removeProbe: { sql: 'DELETE FROM disk_probe', holds: 'always' },
  writeHeartbeat: {
    sql: 'INSERT INTO heartbeat (one, at) VALUES (1, ?) ON CONFLICT DO UPDATE SET at = excluded.at',
    holds: 'always',
  },
} as const satisfies Readonly<Record<string, Statement>>;

export type DiskCheckStatementName = keyof typeof DISK_CHECK_STATEMENTS;

export const STATEMENTS: Readonly<Record<StatementName | DiskCheckStatementName, Statement>> = {
  ...makeHotStatements(
    (described) => ({ sql: textOf(described) }),
    (name) => ({ sql: OWN_STATEMENTS[name] }),
  ),
  ...SHARED_STATEMENTS,
  ...DISK_CHECK_STATEMENTS,
};

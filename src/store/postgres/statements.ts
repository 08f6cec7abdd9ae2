/**
 * All statements that change data, and their checks. They run in the order of this file, and so lock rows in the
 * same order in every transaction: leases and slots, profiles, receipts, schedules, deliveries, the rest. Cold verbs
 * lock the rows of their own tables first.
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
import { SHARED_STATEMENTS, type SharedStatementName } from '#src/store/sql/statements.ts';
import { notAwaitingSweep } from '#src/store/sql/sweep-rows.ts';
import { rows } from './array-rows.ts';
import type { Placement } from './placement.ts';
import {
  PLAIN,
  positionsOf,
  type Statement,
  sharedStatement,
  statementBuilders,
} from './statement-builders.ts';
import { sweepStatements } from './sweep-statements.ts';

/** Columns of a delivery that only this store has; see `verbs.ts`. */
const DELIVERY_KEY_COLUMNS = ['slot', 'endpoint_digest'] as const;

const SHARED = Object.fromEntries(
  Object.entries(SHARED_STATEMENTS).map(([name, statement]) => [name, sharedStatement(statement)]),
) as Readonly<Record<SharedStatementName, Statement>>;

export function statements(placement: Placement): Readonly<Record<StatementName, Statement>> {
  const { forAll, forEachPartition } = placement;
  const { insert, insertEach, replace, lock, remove, check } = statementBuilders(placement);
  const delivery = [...DELIVERY_FIXED, ...DELIVERY_MUTABLE, ...DELIVERY_KEY_COLUMNS];
  const schedule = [...SCHEDULE_FIXED, ...SCHEDULE_MUTABLE];
  const receipt = ['partition', 'key', 'fingerprint', 'status_code', 'body', 'created_at', 'expires_at'];
  const ended = ['partition', 'id', 'was'];

  return {
    // The lease must not end during the transaction. This lock lets renewals pass.
    nodeLives: {
      ...PLAIN,
      sql: `SELECT r.node FROM ${rows(['node'])} JOIN nodes AS r ON r.node = t.node FOR KEY SHARE OF r`,
      holds: 'each',
      key: [0],
      table: 'nodes',
      access: 'read',
    },
    // A slot that is locked by a writer is left for the next round. A node that waits could not renew its lease.
    takeSlot: {
      ...PLAIN,
      sql: `UPDATE slots AS r SET owner = free.node, epoch = r.epoch + 1
         FROM (SELECT t.node, t.slot FROM ${rows(['node', 'slot', 'epoch'])}
           JOIN slots AS s ON s.slot = t.slot AND s.epoch = t.epoch FOR NO KEY UPDATE OF s SKIP LOCKED) AS free
         WHERE r.slot = free.slot AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.node = r.owner)
         RETURNING r.slot`,
      holds: 'each',
      key: [1],
      table: 'slots',
    },
    releaseSlot: {
      ...PLAIN,
      sql: `UPDATE slots AS r SET owner = NULL FROM ${rows(['slot', 'node', 'epoch'])}
         WHERE r.slot = t.slot AND r.owner = t.node AND r.epoch = t.epoch`,
      key: [0],
      table: 'slots',
    },
    slotHeld: {
      ...PLAIN,
      sql: `SELECT r.slot, r.owner, r.epoch FROM ${rows(['slot', 'node', 'epoch'])}
         JOIN slots AS r ON r.slot = t.slot AND r.owner = t.node AND r.epoch = t.epoch FOR SHARE OF r`,
      holds: 'each',
      key: [0],
      match: [0, 1, 2],
      table: 'slots',
      access: 'read',
    },

    replaceProfile: replace('endpoint_profiles', PROFILE_MUTABLE),
    profileAtRevision: check('endpoint_profiles', ['partition', 'id', 'revision']),
    insertProfile: insert('endpoint_profiles', [...PROFILE_FIXED, ...PROFILE_MUTABLE]),
    insertProfileVersion: {
      ...insert('endpoint_profile_versions', [...PROFILE_VERSION, 'sealed_headers']),
      key: [0, 1],
    },

    insertReceipt: {
      ...PLAIN,
      sql: `INSERT INTO receipts (partition, key, fingerprint, status_code, body, created_at, expires_at)
         SELECT partition, key, fingerprint, status_code, body, created_at, expires_at FROM ${rows(receipt)}
         ON CONFLICT (partition, key) DO UPDATE SET
           fingerprint = excluded.fingerprint, status_code = excluded.status_code, body = excluded.body,
           created_at = excluded.created_at, expires_at = excluded.expires_at
         WHERE receipts.expires_at <= excluded.created_at
         RETURNING partition, key`,
      holds: 'each',
      key: [0, 1],
      table: 'receipts',
    },
    removeReceipt: {
      ...remove(
        'receipts',
        ['partition', 'key', 'now'],
        'r.partition = t.partition AND r.key = t.key AND r.expires_at <= t.now',
      ),
      key: [0, 1],
    },

    replaceSchedule: replace('schedules', SCHEDULE_MUTABLE),
    advanceSchedule: replace('schedules', SCHEDULE_ADVANCED),
    completeSchedule: replace('schedules', SCHEDULE_COMPLETED),
    scheduleInState: check('schedules', ['partition', 'id', 'state']),
    scheduleExists: check('schedules', ['partition', 'id']),
    insertSchedule: insert('schedules', schedule),
    // The row is locked first, so the check for deliveries sees those of earlier transactions.
    removeSchedule: {
      ...PLAIN,
      ...forAll(
        ended,
        (within) => `DELETE FROM schedules AS r USING ${rows(ended)}
         WHERE r.partition = t.partition AND r.id = t.id AND r.revision = t.was${within}
           AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.partition = r.partition AND d.schedule_id = r.id)
         RETURNING r.partition, r.id`,
      ),
      holds: 'each',
      scans: true,
      key: [0, 1],
      table: 'schedules',
      lock: lock('schedules'),
      locksFirst: true,
    },
    // The replacement has locked the profile, so this sees all schedules that were added before.
    profileUnused: {
      ...forEachPartition(
        ({ from, partitionOf }) => `SELECT ${partitionOf('t')} AS partition, t.endpoint_id
         FROM ${from(['partition', 'endpoint_id'])} WHERE EXISTS (
           SELECT 1 FROM schedules s WHERE s.partition = ${partitionOf('t')} AND s.endpoint_id = t.endpoint_id
             AND s.endpoint_id IS NOT NULL AND s.state IN ('active', 'paused'))`,
      ),
      holds: 'none',
      scans: true,
      key: [0, 1],
      table: 'endpoint_profiles',
      access: 'read',
    },

    replaceDelivery: replace('deliveries', [...DELIVERY_MUTABLE, ...DELIVERY_KEY_COLUMNS]),
    claimDelivery: replace('deliveries', DELIVERY_CLAIMED, { condition: notAwaitingSweep('r') }),
    settleDelivery: replace('deliveries', DELIVERY_SETTLED, {
      also: UNCLAIMED,
      guard: ['claim_attempt_id'],
      condition: 'r.claim_attempt_id IS NOT DISTINCT FROM t.claim_attempt_id',
    }),
    deferDelivery: replace('deliveries', DELIVERY_DEFERRED),
    insertDelivery: insert('deliveries', delivery),
    insertNextDelivery: insertEach('deliveries', delivery, ['partition', 'id'], 'ON CONFLICT DO NOTHING'),
    ...sweepStatements(placement),
    removeDelivery: {
      ...PLAIN,
      ...forAll(
        ended,
        (within) => `DELETE FROM deliveries AS r USING ${rows(ended)}
         WHERE r.partition = t.partition AND r.id = t.id AND r.revision = t.was${within}
         RETURNING r.partition, r.id`,
      ),
      holds: 'each',
      key: [0, 1],
      table: 'deliveries',
      lock: lock('deliveries'),
    },

    insertAttempt: { ...insert('attempts', ATTEMPT.columns), key: [0, 1, 2] },
    removeAttempts: remove('attempts', ['partition', 'delivery_id']),

    insertPayload: { ...insert('payloads', ['partition', 'schedule_id', 'sealed']), key: [0, 1] },
    removePayload: remove('payloads', ['partition', 'schedule_id']),
    deleteLabel: remove(
      'schedule_labels',
      ['partition', 'digest', 'schedule_id'],
      `${LABEL} AND r.state IN (${EVERY_STATE}) AND r.kind IN (${EVERY_KIND})`,
    ),
    completeLabel: {
      ...PLAIN,
      ...forAll(
        COMPLETED_LABEL,
        (within) => `UPDATE schedule_labels AS r SET state = t.state FROM ${rows(COMPLETED_LABEL)}
         WHERE ${LABEL} AND r.state = t.was_state AND r.kind = t.kind${within}`,
      ),
      key: positionsOf(COMPLETED_LABEL, ['partition', 'digest', 'schedule_id']),
      table: 'schedule_labels',
    },
    insertLabel: {
      ...insert('schedule_labels', LABEL_COLUMNS, ' ON CONFLICT DO NOTHING'),
      key: positionsOf(LABEL_COLUMNS, ['partition', 'digest', 'schedule_id']),
    },

    removeGate: {
      ...remove('gates', ['partition', 'endpoint', 'endpoint_digest'], GATE),
      key: [0, 1],
    },
    removeOldGate: {
      ...remove(
        'gates',
        ['partition', 'endpoint', 'now', 'endpoint_digest'],
        `${GATE} AND r.saved_at < t.now`,
      ),
      key: [0, 1],
    },
    saveGate: {
      ...insert(
        'gates',
        ['partition', 'endpoint', 'state', 'saved_at', 'endpoint_digest'],
        ' ON CONFLICT (partition, endpoint_digest) DO UPDATE SET state = excluded.state, saved_at = excluded.saved_at',
      ),
      key: [0, 1],
    },

    saveStatsRow: {
      ...insert(
        'stats',
        ['partition', 'span_ms', 'at', 'node', 'counts'],
        ' ON CONFLICT (partition, span_ms, at, node) DO UPDATE SET counts = excluded.counts',
      ),
      key: [0, 1, 2, 3],
    },
    removeStats: {
      ...PLAIN,
      ...placement.forAll(
        OLD_STATS,
        (within) => `DELETE FROM stats AS r USING ${rows(OLD_STATS)}
         WHERE r.partition = t.partition AND r.span_ms = t.span_ms AND r.at < t.at${within}`,
      ),
      scans: true,
      key: [0, 1],
      table: 'old stats',
    },
    saveEndpointStats: {
      ...insert(
        'endpoint_stats',
        ['partition', 'endpoint_digest', 'at', 'node', 'endpoint', 'counts'],
        ' ON CONFLICT (partition, endpoint_digest, at, node) DO UPDATE SET counts = excluded.counts',
      ),
      key: [0, 1, 2, 3],
    },
    removeEndpointStats: {
      ...PLAIN,
      ...placement.forAll(
        OLD_ENDPOINT_STATS,
        (within) => `DELETE FROM endpoint_stats AS r USING ${rows(OLD_ENDPOINT_STATS)}
         WHERE r.partition = t.partition AND r.at = t.at AND r.endpoint_digest <= t.endpoint_digest${within}`,
      ),
      scans: true,
      key: [0],
      table: 'old endpoint_stats',
    },

    ...SHARED,
  };
}

const COMPLETED_LABEL = ['state', 'partition', 'digest', 'was_state', 'kind', 'schedule_id'];
const LABEL = 'r.partition = t.partition AND r.digest = t.digest AND r.schedule_id = t.schedule_id';

const GATE = 'r.partition = t.partition AND r.endpoint_digest = t.endpoint_digest';

const OLD_STATS = ['partition', 'span_ms', 'at'];
const OLD_ENDPOINT_STATS = ['partition', 'at', 'endpoint_digest'];

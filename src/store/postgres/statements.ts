/**
 * Every statement that changes something, and the checks that go with them, each for any number of rows at
 * once: a parameter is an array with a value for each row, and `unnest` makes rows of them again.
 *
 * A statement that may fail for a row returns the rows for which it held (or, for `none`, did not), by the
 * columns that `key` names. Checks lock what they found until the end of the transaction: what was found is
 * then still so when it is committed. The order in which they stand here is the order in which they are carried
 * out and so the order in which rows are locked, the same in every transaction: leases and slots, profiles,
 * receipts, schedules, deliveries, the rest.
 *
 * Citus locks rows of one partition at a time only: there a check is asked for each partition, by `routed`.
 */
import {
  ATTEMPT_FIXED,
  ATTEMPT_OUTCOME,
  DELIVERY_FIXED,
  DELIVERY_MUTABLE,
  PROFILE_FIXED,
  PROFILE_MUTABLE,
  PROFILE_VERSION,
  SCHEDULE_FIXED,
  SCHEDULE_MUTABLE,
} from '#src/store/sql/columns.ts';
import type { StatementName } from '#src/store/sql/verbs.ts';
import { rows } from './array-rows.ts';

export interface Statement {
  /** Run in this order, with the same parameters; the last one answers. */
  readonly sql: readonly string[];
  /** The same for rows of one partition, which is the first parameter, a single value. */
  readonly routed: string | null;
  readonly holds: 'always' | 'each' | 'none';
  /** Which parameters tell a row from the others. */
  readonly key: readonly number[];
  /** Which parameters a row of the answer repeats; the key, where nothing else is said. */
  readonly match?: readonly number[];
  /** What the row belongs to: rows of the same table and key are not written together. */
  readonly table: string;
  readonly access: 'read' | 'write';
  /** Which parameter is the partition, where each that occurs has to be named once more; else null. */
  readonly spread: number | null;
}

/** Further columns of a delivery that only this store has; see `places.ts`. */
const DELIVERY_PLACE = ['slot', 'endpoint_key'] as const;

export function statements(distributed: boolean): Readonly<Record<StatementName, Statement>> {
  const spreadOf = (columns: readonly string[]) => {
    const position = columns.indexOf('partition');
    return distributed && position >= 0 ? position : null;
  };
  /** Lets Citus see which shards are meant: by a last parameter with every partition once. */
  const within = (columns: readonly string[]) =>
    spreadOf(columns) === null ? '' : ` AND r.partition = ANY($${columns.length + 1}::bigint[])`;

  function insert(table: string, columns: readonly string[], conflict = ''): Statement {
    return {
      sql: [
        `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM ${rows(columns)}${conflict}`,
      ],
      routed: null,
      holds: 'always',
      key: keyOf(columns, ['partition', 'id']),
      table,
      access: 'write',
      spread: null,
    };
  }

  /** Inserts what is not there yet. */
  function insertEach(
    table: string,
    columns: readonly string[],
    key: readonly string[],
    conflict: string,
  ): Statement {
    const { sql, ...statement } = insert(table, columns, ` ${conflict} RETURNING ${key.join(', ')}`);
    return { ...statement, sql, holds: 'each', key: keyOf(columns, key) };
  }

  /** Replaces rows that still have the revision they were read with. */
  function replace(table: string, columns: readonly string[]): Statement {
    const all = [...columns, 'partition', 'id', 'was'];
    const assignments = columns.map((column) => `${column} = t.${column}`);
    return {
      sql: [
        `UPDATE ${table} AS r SET ${assignments.join(', ')} FROM ${rows(all)}
         WHERE r.partition = t.partition AND r.id = t.id AND r.revision = t.was${within(all)}
         RETURNING r.partition, r.id`,
      ],
      routed: null,
      holds: 'each',
      key: keyOf(all, ['partition', 'id']),
      table,
      access: 'write',
      spread: spreadOf(all),
    };
  }

  function remove(table: string, columns: readonly string[], condition = matching(columns)): Statement {
    return {
      sql: [`DELETE FROM ${table} AS r USING ${rows(columns)} WHERE ${condition}${within(columns)}`],
      routed: null,
      holds: 'always',
      key: columns.map((_, index) => index),
      table,
      access: 'write',
      spread: spreadOf(columns),
    };
  }

  /** Finds rows with these values and keeps them as they are until the end of the transaction. */
  function check(table: string, columns: readonly string[]): Statement {
    const [, ...rest] = columns;
    // Two may ask for the same row with different values: the answer is to the one that asked for what is there.
    const found = columns.map((column) => `r.${column}`).join(', ');
    return {
      match: columns.map((_, position) => position),
      sql: [
        `SELECT ${found} FROM ${rows(columns)} JOIN ${table} AS r ON ${matching(columns)} FOR SHARE OF r`,
      ],
      routed: `SELECT ${found} FROM ${table} AS r JOIN ${rows(rest, 2)} ON ${matching(rest)}
         WHERE r.partition = $1::bigint FOR SHARE OF r`,
      holds: 'each',
      key: keyOf(columns, ['partition', 'id']),
      table,
      access: 'read',
      spread: null,
    };
  }

  const delivery = [...DELIVERY_FIXED, ...DELIVERY_MUTABLE, ...DELIVERY_PLACE];
  const schedule = [...SCHEDULE_FIXED, ...SCHEDULE_MUTABLE];
  const receipt = ['partition', 'key', 'fingerprint', 'status_number', 'body', 'created_at', 'expires_at'];
  const ended = ['partition', 'id', 'was'];

  return {
    renewLease: {
      ...insert(
        'nodes',
        ['node', 'lease_until', 'is_stopping'],
        ' ON CONFLICT (node) DO UPDATE SET lease_until = excluded.lease_until, is_stopping = excluded.is_stopping',
      ),
      key: [],
    },
    endLease: { ...remove('nodes', ['node']), key: [] },
    endLeaseAsSeen: {
      sql: [
        `DELETE FROM nodes AS r USING ${rows(['node', 'lease_until'])}
         WHERE r.node = t.node AND r.lease_until = t.lease_until RETURNING r.node`,
      ],
      routed: null,
      holds: 'each',
      key: [0],
      table: 'nodes',
      access: 'write',
      spread: null,
    },
    nodeLives: {
      sql: [`SELECT r.node FROM ${rows(['node'])} JOIN nodes AS r ON r.node = t.node FOR SHARE OF r`],
      routed: null,
      holds: 'each',
      key: [0],
      table: 'nodes',
      access: 'read',
      spread: null,
    },
    takeSlot: {
      sql: [
        `UPDATE slots AS r SET owner = t.node, epoch = r.epoch + 1
         FROM ${rows(['node', 'slot', 'epoch'])}
         WHERE r.slot = t.slot AND r.epoch = t.epoch
           AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.node = r.owner)
         RETURNING r.slot`,
      ],
      routed: null,
      holds: 'each',
      key: [1],
      table: 'slots',
      access: 'write',
      spread: null,
    },
    releaseSlot: {
      sql: [
        `UPDATE slots AS r SET owner = NULL FROM ${rows(['slot', 'node', 'epoch'])}
         WHERE r.slot = t.slot AND r.owner = t.node AND r.epoch = t.epoch`,
      ],
      routed: null,
      holds: 'always',
      key: [0],
      table: 'slots',
      access: 'write',
      spread: null,
    },
    releaseSlotsOf: {
      sql: [`UPDATE slots AS r SET owner = NULL FROM ${rows(['node'])} WHERE r.owner = t.node`],
      routed: null,
      holds: 'always',
      key: [0],
      table: 'slots of',
      access: 'write',
      spread: null,
    },
    slotHeld: {
      sql: [
        `SELECT r.slot, r.owner, r.epoch FROM ${rows(['slot', 'node', 'epoch'])}
         JOIN slots AS r ON r.slot = t.slot AND r.owner = t.node AND r.epoch = t.epoch FOR SHARE OF r`,
      ],
      routed: null,
      holds: 'each',
      key: [0],
      match: [0, 1, 2],
      table: 'slots',
      access: 'read',
      spread: null,
    },

    insertProject: insertEach(
      'projects',
      ['id', 'name', 'pinned_version', 'created_at'],
      ['id'],
      'ON CONFLICT (name) DO NOTHING',
    ),
    insertPartition: { ...insert('partitions', ['project_id', 'mode']), key: [0, 1] },
    insertKey: insertEach(
      'api_keys',
      ['id', 'partition', 'hash', 'hint', 'created_at', 'revoked_at'],
      ['id'],
      'ON CONFLICT (hash) DO NOTHING',
    ),
    revokeKey: {
      sql: [
        `UPDATE api_keys AS r SET revoked_at = t.now FROM ${rows(['now', 'id'])}
         WHERE r.id = t.id AND r.revoked_at IS NULL RETURNING r.id`,
      ],
      routed: null,
      holds: 'each',
      key: [1],
      table: 'api_keys',
      access: 'write',
      spread: null,
    },
    retireSecrets: {
      sql: [
        `UPDATE signing_secrets AS r SET expires_at = t.expires_at FROM ${rows(['expires_at', 'partition'])}
         WHERE r.partition = t.partition AND r.expires_at IS NULL`,
      ],
      routed: null,
      holds: 'always',
      key: [1],
      table: 'signing_secrets',
      access: 'write',
      spread: null,
    },
    insertSecret: insert('signing_secrets', ['id', 'partition', 'sealed', 'created_at', 'expires_at']),

    replaceProfile: replace('endpoints', PROFILE_MUTABLE),
    profileAtRevision: check('endpoints', ['partition', 'id', 'revision']),
    insertProfile: insert('endpoints', [...PROFILE_FIXED, ...PROFILE_MUTABLE]),
    insertProfileVersion: {
      ...insert('endpoint_versions', [...PROFILE_VERSION, 'headers']),
      key: [0, 1],
    },

    insertReceipt: {
      sql: [
        `INSERT INTO receipts (partition, key, fingerprint, status, body, created_at, expires_at)
         SELECT partition, key, fingerprint, status_number, body, created_at, expires_at FROM ${rows(receipt)}
         ON CONFLICT (partition, key) DO UPDATE SET
           fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
           created_at = excluded.created_at, expires_at = excluded.expires_at
         WHERE receipts.expires_at <= excluded.created_at
         RETURNING partition, key`,
      ],
      routed: null,
      holds: 'each',
      key: [0, 1],
      table: 'receipts',
      access: 'write',
      spread: null,
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
    scheduleInState: check('schedules', ['partition', 'id', 'state']),
    scheduleExists: check('schedules', ['partition', 'id']),
    insertSchedule: insert('schedules', schedule),
    // Locked first, so that the look for deliveries sees those of whoever held the schedule until now.
    removeSchedule: {
      sql: [
        `UPDATE schedules AS r SET revision = r.revision FROM ${rows(ended)}
         WHERE r.partition = t.partition AND r.id = t.id AND r.revision = t.was${within(ended)}`,
        `DELETE FROM schedules AS r USING ${rows(ended)}
         WHERE r.partition = t.partition AND r.id = t.id AND r.revision = t.was${within(ended)}
           AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.partition = r.partition AND d.schedule_id = r.id)
         RETURNING r.partition, r.id`,
      ],
      routed: null,
      holds: 'each',
      key: [0, 1],
      table: 'schedules',
      access: 'write',
      spread: spreadOf(ended),
    },
    // After the profile was locked, by its replacement: a schedule that was added until then is seen.
    profileUnused: {
      sql: [
        `SELECT t.partition, t.endpoint_id FROM ${rows(['partition', 'endpoint_id'])} WHERE EXISTS (
           SELECT 1 FROM schedules s WHERE s.partition = t.partition AND s.endpoint_id = t.endpoint_id
             AND s.endpoint_id IS NOT NULL AND s.state IN ('active', 'paused'))`,
      ],
      routed: `SELECT s.partition, s.endpoint_id FROM schedules s WHERE s.partition = $1::bigint
         AND s.endpoint_id = ANY($2::text[]) AND s.endpoint_id IS NOT NULL AND s.state IN ('active', 'paused')`,
      holds: 'none',
      key: [0, 1],
      table: 'endpoints',
      access: 'read',
      spread: null,
    },

    replaceDelivery: replace('deliveries', [...DELIVERY_MUTABLE, ...DELIVERY_PLACE]),
    insertDelivery: insert('deliveries', delivery),
    insertNextDelivery: insertEach('deliveries', delivery, ['partition', 'id'], 'ON CONFLICT DO NOTHING'),
    sweepDeliveries: {
      sql: [
        `UPDATE deliveries AS r SET
           status = CASE WHEN r.attempt_count = 0 THEN t.untried_to ELSE t.tried_to END,
           due_at = CASE WHEN t.finalized_at IS NULL THEN r.due_at END,
           booked = 0,
           finalized_at = t.finalized_at,
           revision = r.revision + 1
         FROM ${rows(SWEEP)}
         WHERE r.partition = t.partition AND r.schedule_id = t.schedule_id AND r.status = t.status${within(SWEEP)}`,
      ],
      routed: null,
      holds: 'always',
      key: keyOf(SWEEP, ['partition', 'schedule_id']),
      table: 'sweeps',
      access: 'read',
      spread: spreadOf(SWEEP),
    },
    removeDelivery: {
      sql: [
        `DELETE FROM deliveries AS r USING ${rows(ended)}
         WHERE r.partition = t.partition AND r.id = t.id AND r.revision = t.was${within(ended)}
         RETURNING r.partition, r.id`,
      ],
      routed: null,
      holds: 'each',
      key: [0, 1],
      table: 'deliveries',
      access: 'write',
      spread: spreadOf(ended),
    },

    insertAttempt: { ...insert('attempts', [...ATTEMPT_FIXED, ...ATTEMPT_OUTCOME]), key: [0, 1, 2] },
    closeAttempt: {
      sql: [
        `UPDATE attempts AS r SET ${ATTEMPT_OUTCOME.map((column) => `${column} = t.${column}`).join(', ')}
         FROM ${rows(CLOSING)}
         WHERE r.partition = t.partition AND r.delivery_id = t.delivery_id AND r.attempt_no = t.attempt_no
           AND r.finished_at IS NULL${within(CLOSING)}
         RETURNING r.partition, r.delivery_id, r.attempt_no`,
      ],
      routed: null,
      holds: 'each',
      key: keyOf(CLOSING, ['partition', 'delivery_id', 'attempt_no']),
      table: 'attempts',
      access: 'write',
      spread: spreadOf(CLOSING),
    },
    removeAttempts: remove('attempts', ['partition', 'delivery_id']),

    insertPayload: { ...insert('payloads', ['partition', 'schedule_id', 'sealed']), key: [0, 1] },
    removePayload: remove('payloads', ['partition', 'schedule_id']),
    deleteLabel: remove('schedule_labels', ['partition', 'digest', 'schedule_id']),
    insertLabel: {
      ...insert('schedule_labels', ['partition', 'digest', 'schedule_id'], ' ON CONFLICT DO NOTHING'),
      key: [0, 1, 2],
    },

    removeGate: {
      ...remove('gates', ['partition', 'endpoint', 'endpoint_key'], GATE),
      key: [0, 1],
    },
    removeOldGate: {
      ...remove('gates', ['partition', 'endpoint', 'now', 'endpoint_key'], `${GATE} AND r.saved_at < t.now`),
      key: [0, 1],
    },
    saveGate: {
      ...insert(
        'gates',
        ['partition', 'endpoint', 'state', 'saved_at', 'endpoint_key'],
        ' ON CONFLICT (partition, endpoint_key) DO UPDATE SET state = excluded.state, saved_at = excluded.saved_at',
      ),
      key: [0, 1],
    },
  };
}

const SWEEP = ['untried_to', 'tried_to', 'finalized_at', 'partition', 'schedule_id', 'status'];
const CLOSING = [...ATTEMPT_OUTCOME, 'partition', 'delivery_id', 'attempt_no'];

const GATE = 'r.partition = t.partition AND r.endpoint_key = t.endpoint_key';

function matching(columns: readonly string[]): string {
  return columns.map((column) => `r.${column} = t.${column}`).join(' AND ');
}

function keyOf(columns: readonly string[], key: readonly string[]): readonly number[] {
  return key.map((column) => columns.indexOf(column)).filter((index) => index >= 0);
}

/**
 * Statements that every store runs with the same text: all that are not hot. Parameters are `$1`, `$2` and so on, each
 * used once and in this order. A lock clause stands at the end; a store with a single writer drops it.
 */
import { ALERT_CHANNELS_MAX, ALERT_CONDITIONS_MAX } from '#src/domain/alert.ts';
import { SEALED_COLUMN_NAMES, type SealedColumnName } from '#src/ports/vault.ts';
import {
  ALERT_CHANNEL,
  ALERT_CONDITION,
  ALERT_INCIDENT,
  ALERT_INCIDENT_COLUMNS,
  ALERT_MESSAGE,
} from './alert-rows.ts';
import { ENDPOINT_SECRET, KEY, LEASE, PROJECT, SECRET } from './control-rows.ts';
import { AUDIT, FAILURE_COUNTS, INVITATION, PRUNE_BATCH_MAX, SESSION, USER } from './people-rows.ts';
import { REPLAY_ITEM, REPLAY_ITEM_KEY, REPLAY_JOB } from './replay-job-rows.ts';
import { SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts';

export interface Statement {
  readonly sql: string;
  /** When the statement held: always, if it found or changed one row, or if it found none. */
  readonly holds: 'always' | 'one_row' | 'no_row';
}

type Columns = readonly string[];

function insertInto(table: string, columns: Columns): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`;
}

/** Changes `columns` of the row whose `key` has the values that follow. */
function update(table: string, columns: Columns, key: Columns): string {
  const assignments = columns.map((column, index) => `${column} = $${index + 1}`);
  return `UPDATE ${table} SET ${assignments.join(', ')} WHERE ${equal(key, columns.length + 1)}`;
}

function equal(columns: Columns, from = 1): string {
  return columns.map((column, index) => `${column} = $${index + from}`).join(' AND ');
}

/** Removes a limited number of rows that meet the condition. */
function prune(table: string, key: string, condition: string): string {
  return `DELETE FROM ${table} WHERE ${key} IN
    (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ${PRUNE_BATCH_MAX})`;
}

const FULL_ADMIN = `role = 'admin' AND projects IS NULL`;

const PEOPLE_STATEMENTS = {
  /** The second of two removals at a time waits here, and then sees the result of the first. */
  lockAdmins: {
    sql: `SELECT id FROM users WHERE ${FULL_ADMIN} ORDER BY id FOR NO KEY UPDATE`,
    holds: 'always',
  },
  /** Finds the user if it is the only admin of all projects. */
  adminStays: {
    sql: `SELECT 1 FROM users u WHERE u.id = $1 AND u.${FULL_ADMIN}
      AND NOT EXISTS (SELECT 1 FROM users o WHERE o.${FULL_ADMIN} AND o.id <> u.id)`,
    holds: 'no_row',
  },
  userWithHash: {
    sql: 'SELECT 1 FROM users WHERE id = $1 AND password_hash = $2 FOR SHARE',
    holds: 'one_row',
  },
  insertUser: {
    sql: `${insertInto('users', USER.columns)} ON CONFLICT (name) DO NOTHING`,
    holds: 'one_row',
  },
  replaceUser: { sql: update('users', USER.mutable.columns, ['id', 'revision']), holds: 'one_row' },
  renewPasswordHash: { sql: update('users', ['password_hash'], ['id', 'password_hash']), holds: 'always' },
  removeUser: { sql: 'DELETE FROM users WHERE id = $1', holds: 'one_row' },

  insertInvitation: { sql: insertInto('invitations', INVITATION.columns), holds: 'always' },
  useInvitation: { sql: 'DELETE FROM invitations WHERE hash = $1 AND expires_at > $2', holds: 'one_row' },
  removeInvitation: { sql: 'DELETE FROM invitations WHERE id = $1', holds: 'one_row' },
  removeInvitationsOf: { sql: 'DELETE FROM invitations WHERE created_by = $1', holds: 'always' },

  insertSession: { sql: insertInto('sessions', SESSION.columns), holds: 'always' },
  touchSession: {
    sql: 'UPDATE sessions SET seen_at = $1 WHERE hash = $2 AND seen_at < $3',
    holds: 'always',
  },
  removeSession: { sql: 'DELETE FROM sessions WHERE hash = $1', holds: 'always' },
  removeSessionsOf: { sql: 'DELETE FROM sessions WHERE user_id = $1 AND hash <> $2', holds: 'always' },

  insertFailureCounts: {
    sql: `${insertInto('failure_counts', FAILURE_COUNTS.columns)} ON CONFLICT DO NOTHING`,
    holds: 'one_row',
  },
  replaceFailureCounts: {
    sql: update('failure_counts', FAILURE_COUNTS.mutable.columns, FAILURE_COUNTS.columns),
    holds: 'one_row',
  },
  undoFailure: {
    sql: 'UPDATE failure_counts SET failures = failures - 1 WHERE subject = $1 AND failures > 0',
    holds: 'always',
  },
  removeFailureCounts: { sql: 'DELETE FROM failure_counts WHERE subject = $1', holds: 'always' },

  insertAudit: { sql: insertInto('audit', AUDIT.columns), holds: 'always' },
  endAudit: { sql: update('audit', ['outcome', 'code', 'subject'], ['id']), holds: 'always' },

  pruneSessions: { sql: prune('sessions', 'hash', 'expires_at <= $1 OR seen_at < $2'), holds: 'always' },
  pruneInvitations: { sql: prune('invitations', 'id', 'expires_at <= $1'), holds: 'always' },
  pruneFailureCounts: {
    sql: prune('failure_counts', 'subject', 'last_at < $1 AND (failures > 0 OR last_at < $2)'),
    holds: 'always',
  },
  pruneAudit: { sql: prune('audit', 'id', 'id < $1'), holds: 'always' },
} as const satisfies Readonly<Record<string, Statement>>;

const CONTROL_STATEMENTS = {
  insertProject: {
    sql: `${insertInto('projects', PROJECT.columns)} ON CONFLICT (name) DO NOTHING`,
    holds: 'one_row',
  },
  insertPartition: { sql: insertInto('partitions', ['project_id', 'mode']), holds: 'always' },

  insertKey: {
    sql: `${insertInto('api_keys', KEY.columns)}
      ON CONFLICT (hash) DO NOTHING`,
    holds: 'one_row',
  },
  revokeKey: {
    sql: 'UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL',
    holds: 'one_row',
  },
  touchKey: {
    sql: `UPDATE api_keys SET last_used_at = $1
      WHERE hash = $2 AND (last_used_at IS NULL OR last_used_at < $3)`,
    holds: 'always',
  },

  retireSecrets: {
    sql: 'UPDATE signing_secrets SET expires_at = $1 WHERE partition = $2 AND expires_at IS NULL',
    holds: 'always',
  },
  insertSecret: {
    sql: insertInto('signing_secrets', SECRET.columns),
    holds: 'always',
  },

  lockProfile: {
    sql: 'SELECT 1 FROM endpoint_profiles WHERE partition = $1 AND id = $2 FOR NO KEY UPDATE',
    holds: 'one_row',
  },
  /** The profile is locked by now, so this sees all earlier changes. */
  noEndpointSecretInForce: {
    sql: 'SELECT 1 FROM endpoint_secrets WHERE partition = $1 AND endpoint_id = $2 AND expires_at IS NULL',
    holds: 'no_row',
  },
  endEndpointSecret: {
    sql: `${update('endpoint_secrets', ['expires_at', 'alone_from'], ['partition', 'endpoint_id', 'id'])}
      AND coalesce(expires_at, -1) = $6`,
    holds: 'one_row',
  },
  insertEndpointSecret: { sql: insertInto('endpoint_secrets', ENDPOINT_SECRET.columns), holds: 'always' },

  saveBreakerReset: {
    sql: `${insertInto('breaker_resets', ['partition', 'endpoint_digest', 'endpoint', 'at'])}
      ON CONFLICT (partition, endpoint_digest) DO UPDATE SET at = excluded.at`,
    holds: 'always',
  },
  removeBreakerReset: {
    sql: 'DELETE FROM breaker_resets WHERE partition = $1 AND endpoint_digest = $2 AND at <= $3',
    holds: 'always',
  },
} as const satisfies Readonly<Record<string, Statement>>;

const REPLAY_JOB_STATEMENTS = {
  /** The second of two jobs that are added at a time waits here, and then sees the first. */
  lockPartition: {
    sql: 'SELECT 1 FROM partitions WHERE partition = $1 FOR NO KEY UPDATE',
    holds: 'one_row',
  },
  /** Takes the ids of the known jobs twice, as one text. It is unchanged without an id that is not part of it. */
  noOtherReplayJob: {
    sql: `SELECT 1 FROM replay_jobs
      WHERE partition = $1 AND state IN ('gathering', 'running') AND replace($2, id, '') = $3`,
    holds: 'no_row',
  },
  insertReplayJob: {
    sql: insertInto('replay_jobs', REPLAY_JOB.columns),
    holds: 'always',
  },
  replaceReplayJob: {
    sql: update('replay_jobs', REPLAY_JOB.mutable.columns, ['partition', 'id', 'revision']),
    holds: 'one_row',
  },
  clearReplayJob: {
    sql: 'UPDATE replay_jobs SET cursor = NULL WHERE partition = $1 AND id = $2 AND ended_at IS NOT NULL',
    holds: 'always',
  },
  removeReplayJob: { sql: 'DELETE FROM replay_jobs WHERE partition = $1 AND id = $2', holds: 'always' },
  insertReplayItem: { sql: insertInto('replay_items', REPLAY_ITEM), holds: 'always' },
  takeReplayItem: { sql: `DELETE FROM replay_items WHERE ${equal(REPLAY_ITEM_KEY)}`, holds: 'one_row' },
  /** Removes the items of a job up to and including one of them. */
  removeReplayItems: {
    sql: `DELETE FROM replay_items
      WHERE partition = $1 AND job_id = $2 AND (endpoint_digest, delivery_id) <= ($3, $4)`,
    holds: 'always',
  },
} as const satisfies Readonly<Record<string, Statement>>;

const AT_REVISION = ['partition', 'id', 'revision'];

/** Holds if there are fewer rows. The partition is locked, so no other is added meanwhile. */
function fewerThan(table: string, max: number): Statement {
  return { sql: `SELECT 1 FROM ${table} WHERE partition = $1 LIMIT 1 OFFSET ${max - 1}`, holds: 'no_row' };
}

const ALERT_STATEMENTS = {
  alertChannelFits: fewerThan('alert_channels', ALERT_CHANNELS_MAX),
  noOtherAlertChannelNamed: {
    sql: 'SELECT 1 FROM alert_channels WHERE partition = $1 AND name = $2 AND id <> $3',
    holds: 'no_row',
  },
  insertAlertChannel: { sql: insertInto('alert_channels', ALERT_CHANNEL.columns), holds: 'always' },
  replaceAlertChannel: {
    sql: update('alert_channels', ALERT_CHANNEL.mutable.columns, AT_REVISION),
    holds: 'one_row',
  },
  removeAlertChannel: { sql: `DELETE FROM alert_channels WHERE ${equal(AT_REVISION)}`, holds: 'one_row' },
  alertChannelExists: {
    sql: 'SELECT 1 FROM alert_channels WHERE partition = $1 AND id = $2',
    holds: 'one_row',
  },
  /** Takes a pattern that finds the id of the channel. */
  alertChannelUnused: {
    sql: 'SELECT 1 FROM alert_conditions WHERE partition = $1 AND channel_ids LIKE $2 LIMIT 1',
    holds: 'no_row',
  },

  alertConditionFits: fewerThan('alert_conditions', ALERT_CONDITIONS_MAX),
  insertAlertCondition: { sql: insertInto('alert_conditions', ALERT_CONDITION.columns), holds: 'always' },
  replaceAlertCondition: {
    sql: update('alert_conditions', ALERT_CONDITION.mutable.columns, AT_REVISION),
    holds: 'one_row',
  },
  removeAlertCondition: { sql: `DELETE FROM alert_conditions WHERE ${equal(AT_REVISION)}`, holds: 'one_row' },
  /** Nobody changes the condition before the transaction ends. */
  alertConditionAtRevision: {
    sql: `SELECT 1 FROM alert_conditions WHERE ${equal(AT_REVISION)} FOR SHARE`,
    holds: 'one_row',
  },

  /** Does not hold if such an incident is open. */
  insertAlertIncident: {
    sql: `${insertInto('alert_incidents', ALERT_INCIDENT_COLUMNS)} ON CONFLICT DO NOTHING`,
    holds: 'one_row',
  },
  replaceAlertIncident: {
    sql: update('alert_incidents', ALERT_INCIDENT.mutable.columns, AT_REVISION),
    holds: 'one_row',
  },
  endAlertIncidents: {
    sql: `UPDATE alert_incidents SET ended_at = $1, revision = revision + 1
      WHERE partition = $2 AND condition_id = $3 AND ended_at IS NULL`,
    holds: 'always',
  },
  removeAlertIncident: {
    sql: 'DELETE FROM alert_incidents WHERE partition = $1 AND id = $2',
    holds: 'always',
  },

  noAlertTestWaits: {
    sql: `SELECT 1 FROM alert_messages
      WHERE partition = $1 AND channel_id = $2 AND kind = 'test' AND status = 'waiting' LIMIT 1`,
    holds: 'no_row',
  },
  insertAlertMessage: { sql: insertInto('alert_messages', ALERT_MESSAGE.columns), holds: 'always' },
  replaceAlertMessage: {
    sql: update('alert_messages', ALERT_MESSAGE.mutable.columns, AT_REVISION),
    holds: 'one_row',
  },
  /**
   * Delays the messages of an incident to one channel until the latest of those before them is due. The ids come from
   * the index of the incident alone: a channel that is down may have thousands of messages that wait.
   */
  delayLaterAlertMessages: {
    sql: `UPDATE alert_messages SET due_at = (
        SELECT max(earlier.due_at) FROM alert_messages earlier
        WHERE earlier.partition = $1
          AND earlier.id IN (SELECT id FROM alert_messages WHERE partition = $2 AND incident_id = $3)
          AND earlier.id <= alert_messages.id AND earlier.channel_id = $4 AND earlier.ended_at IS NULL)
      WHERE partition = $5
        AND id IN (SELECT id FROM alert_messages WHERE partition = $6 AND incident_id = $7)
        AND channel_id = $8 AND ended_at IS NULL`,
    holds: 'always',
  },
  /** Drops the messages of the open incidents of a condition. */
  dropAlertMessages: {
    sql: `UPDATE alert_messages
      SET status = 'failed', error = $1, due_at = NULL, ended_at = $2, revision = revision + 1
      WHERE partition = $3 AND status = 'waiting' AND incident_id IN (
        SELECT id FROM alert_incidents WHERE partition = $4 AND condition_id = $5 AND ended_at IS NULL)`,
    holds: 'always',
  },
  removeAlertMessage: { sql: 'DELETE FROM alert_messages WHERE partition = $1 AND id = $2', holds: 'always' },
} as const satisfies Readonly<Record<string, Statement>>;

const CLUSTER_STATEMENTS = {
  renewLease: {
    sql: `${insertInto('nodes', LEASE.columns)}
      ON CONFLICT (node) DO UPDATE SET lease_until = excluded.lease_until, is_stopping = excluded.is_stopping,
        program_version = excluded.program_version`,
    holds: 'always',
  },
  endLease: { sql: 'DELETE FROM nodes WHERE node = $1', holds: 'always' },
  endLeaseAsSeen: { sql: 'DELETE FROM nodes WHERE node = $1 AND lease_until = $2', holds: 'one_row' },
  releaseSlotsOf: { sql: 'UPDATE slots SET owner = NULL WHERE owner = $1', holds: 'always' },
  saveTrustedTime: {
    sql: `INSERT INTO trusted_time (one, seen_at, trusted_at, believed_from) VALUES (1, $1, $2, $3)
      ON CONFLICT (one) DO UPDATE SET seen_at = excluded.seen_at, trusted_at = excluded.trusted_at,
        believed_from = excluded.believed_from`,
    holds: 'always',
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** Replaces a sealed value, if it is still the one that was read. */
function reseal({ table, key, column }: SealedColumn): Statement {
  return { sql: update(table, [column], [...key, column]), holds: 'one_row' };
}

const SEALED_STATEMENTS = Object.fromEntries(
  SEALED_COLUMN_NAMES.map((name) => [`reseal ${name}`, reseal(SEALED_COLUMNS[name])]),
) as Readonly<Record<`reseal ${SealedColumnName}`, Statement>>;

export const SHARED_STATEMENTS = {
  ...PEOPLE_STATEMENTS,
  ...CONTROL_STATEMENTS,
  ...REPLAY_JOB_STATEMENTS,
  ...ALERT_STATEMENTS,
  ...CLUSTER_STATEMENTS,
  ...SEALED_STATEMENTS,
};

export type SharedStatementName = keyof typeof SHARED_STATEMENTS;

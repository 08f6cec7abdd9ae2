/**
 * Statements that every store runs with the same text: all that are not hot. Parameters are `$1`, `$2` and so on, each
 * used once and in this order. A lock clause stands at the end; a store with a single writer drops it.
 */
import { AUDIT, INVITATION, PRUNE_BATCH_MAX, SESSION, USER_FIXED, USER_MUTABLE } from './people-rows.ts';

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
  /** Of two removals at a time, the second waits here, and then sees the result of the first. */
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
    sql: `${insertInto('users', [...USER_FIXED, ...USER_MUTABLE])} ON CONFLICT (name) DO NOTHING`,
    holds: 'one_row',
  },
  replaceUser: { sql: update('users', USER_MUTABLE, ['id', 'revision']), holds: 'one_row' },
  renewPasswordHash: { sql: update('users', ['password_hash'], ['id', 'password_hash']), holds: 'always' },
  removeUser: { sql: 'DELETE FROM users WHERE id = $1', holds: 'one_row' },

  insertInvitation: { sql: insertInto('invitations', INVITATION), holds: 'always' },
  useInvitation: { sql: 'DELETE FROM invitations WHERE hash = $1 AND expires_at > $2', holds: 'one_row' },
  removeInvitation: { sql: 'DELETE FROM invitations WHERE id = $1', holds: 'one_row' },
  removeInvitationsOf: { sql: 'DELETE FROM invitations WHERE created_by = $1', holds: 'always' },

  insertSession: { sql: insertInto('sessions', SESSION), holds: 'always' },
  touchSession: {
    sql: 'UPDATE sessions SET seen_at = $1 WHERE hash = $2 AND seen_at < $3',
    holds: 'always',
  },
  removeSession: { sql: 'DELETE FROM sessions WHERE hash = $1', holds: 'always' },
  removeSessionsOf: { sql: 'DELETE FROM sessions WHERE user_id = $1 AND hash <> $2', holds: 'always' },

  insertLoginFailures: {
    sql: `${insertInto('failure_counts', ['subject', 'failures', 'last_at'])} ON CONFLICT DO NOTHING`,
    holds: 'one_row',
  },
  replaceLoginFailures: {
    sql: update('failure_counts', ['failures', 'last_at'], ['subject', 'failures', 'last_at']),
    holds: 'one_row',
  },
  undoLoginFailure: {
    sql: 'UPDATE failure_counts SET failures = failures - 1 WHERE subject = $1 AND failures > 0',
    holds: 'always',
  },
  removeLoginFailures: { sql: 'DELETE FROM failure_counts WHERE subject = $1', holds: 'always' },

  insertAudit: { sql: insertInto('audit', AUDIT), holds: 'always' },
  endAudit: { sql: update('audit', ['outcome', 'code', 'subject'], ['id']), holds: 'always' },

  pruneSessions: { sql: prune('sessions', 'hash', 'expires_at <= $1 OR seen_at < $2'), holds: 'always' },
  pruneInvitations: { sql: prune('invitations', 'id', 'expires_at <= $1'), holds: 'always' },
  pruneLoginFailures: {
    sql: prune('failure_counts', 'subject', 'last_at < $1 AND (failures > 0 OR last_at < $2)'),
    holds: 'always',
  },
  pruneAudit: { sql: prune('audit', 'id', 'id < $1'), holds: 'always' },
} as const satisfies Readonly<Record<string, Statement>>;

export const SHARED_STATEMENTS = { ...PEOPLE_STATEMENTS };

export type SharedStatementName = keyof typeof SHARED_STATEMENTS;

/** Statements about users, invitations, sessions, failed logins and the audit log. */

import {
  AUDIT,
  INVITATION,
  PRUNE_BATCH_MAX,
  SESSION,
  USER_FIXED,
  USER_MUTABLE,
} from '#src/store/sql/people-rows.ts';
import type { PeopleStatementName } from '#src/store/sql/statement-names.ts';
import { insertInto, type Statement } from './statement-builders.ts';

/** Removes a limited number of rows that meet the condition. */
function pruneFrom(table: string, key: string, condition: string): string {
  return `DELETE FROM ${table} WHERE ${key} IN
    (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ${PRUNE_BATCH_MAX})`;
}

export const PEOPLE_STATEMENTS = {
  /** Finds the user if it is the only admin of all projects. */
  adminStays: {
    sql: `SELECT 1 FROM users u WHERE u.id = ? AND u.role = 'admin' AND u.projects IS NULL
      AND NOT EXISTS (SELECT 1 FROM users others
        WHERE others.role = 'admin' AND others.projects IS NULL AND others.id <> u.id)`,
    holds: 'found_none',
  },
  userWithHash: { sql: 'SELECT 1 FROM users WHERE id = ? AND password_hash = ?', holds: 'found' },
  insertUser: {
    sql: `${insertInto('users', ...USER_FIXED, ...USER_MUTABLE)} ON CONFLICT (name) DO NOTHING`,
    holds: 'changed_one',
  },
  replaceUser: {
    sql: `UPDATE users SET ${USER_MUTABLE.map((column) => `${column} = ?`).join(', ')}
      WHERE id = ? AND revision = ?`,
    holds: 'changed_one',
  },
  renewPasswordHash: {
    sql: 'UPDATE users SET password_hash = ? WHERE id = ? AND password_hash = ?',
    holds: 'always',
  },
  removeUser: { sql: 'DELETE FROM users WHERE id = ?', holds: 'changed_one' },

  insertInvitation: { sql: insertInto('invitations', ...INVITATION), holds: 'always' },
  useInvitation: {
    sql: 'DELETE FROM invitations WHERE hash = ? AND expires_at > ?',
    holds: 'changed_one',
  },
  removeInvitation: { sql: 'DELETE FROM invitations WHERE id = ?', holds: 'changed_one' },
  removeInvitationsOf: { sql: 'DELETE FROM invitations WHERE created_by = ?', holds: 'always' },

  insertSession: { sql: insertInto('sessions', ...SESSION), holds: 'always' },
  touchSession: { sql: 'UPDATE sessions SET seen_at = max(seen_at, ?) WHERE hash = ?', holds: 'always' },
  removeSession: { sql: 'DELETE FROM sessions WHERE hash = ?', holds: 'always' },
  removeSessionsOf: { sql: 'DELETE FROM sessions WHERE user_id = ? AND hash <> ?', holds: 'always' },

  insertLoginFailures: {
    sql: `${insertInto('login_failures', 'subject', 'failures', 'last_at')} ON CONFLICT DO NOTHING`,
    holds: 'changed_one',
  },
  replaceLoginFailures: {
    sql: `UPDATE login_failures SET failures = ?, last_at = ?
      WHERE subject = ? AND failures = ? AND last_at = ?`,
    holds: 'changed_one',
  },
  undoLoginFailure: {
    sql: 'UPDATE login_failures SET failures = failures - 1 WHERE subject = ? AND failures > 0',
    holds: 'always',
  },
  removeLoginFailures: { sql: 'DELETE FROM login_failures WHERE subject = ?', holds: 'always' },

  insertAudit: { sql: insertInto('audit', ...AUDIT), holds: 'always' },
  endAudit: { sql: 'UPDATE audit SET outcome = ?, code = ?, subject = ? WHERE id = ?', holds: 'always' },

  pruneSessions: { sql: pruneFrom('sessions', 'hash', 'expires_at <= ? OR seen_at < ?'), holds: 'always' },
  pruneInvitations: { sql: pruneFrom('invitations', 'id', 'expires_at <= ?'), holds: 'always' },
  pruneLoginFailures: {
    sql: pruneFrom('login_failures', 'subject', 'last_at < ? AND (failures > 0 OR last_at < ?)'),
    holds: 'always',
  },
  pruneAudit: { sql: pruneFrom('audit', 'id', 'id < ?'), holds: 'always' },
} as const satisfies Readonly<Record<PeopleStatementName, Statement>>;

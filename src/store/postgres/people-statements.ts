/**
 * Statements about users, invitations, sessions, failed logins and the audit log. As in `statements.ts` the order
 * matters: users are locked before the rows that belong to them.
 */

import {
  AUDIT,
  INVITATION,
  PRUNE_BATCH_MAX,
  SESSION,
  USER_FIXED,
  USER_MUTABLE,
} from '#src/store/sql/people-rows.ts';
import type { PeopleStatementName } from '#src/store/sql/statement-names.ts';
import { rows } from './array-rows.ts';
import { PLAIN, positionsOf, type Statement, statementBuilders } from './statement-builders.ts';

const REPLACED_USER = [...USER_MUTABLE, 'id', 'was'];
const FULL_ADMIN = `role = 'admin' AND projects IS NULL`;

export function peopleStatements(distributed: boolean): Readonly<Record<PeopleStatementName, Statement>> {
  const { insert, insertEach, remove } = statementBuilders(distributed);

  /** Removes a limited number of rows that meet the condition. */
  function prune(table: string, key: string, columns: readonly string[], condition: string): Statement {
    return {
      ...PLAIN,
      sql: [
        `DELETE FROM ${table} AS r WHERE r.${key} IN
           (SELECT o.${key} FROM ${table} AS o, ${rows(columns)} WHERE ${condition} LIMIT ${PRUNE_BATCH_MAX})`,
      ],
      scans: true,
      key: [],
      table: `${table} pruned`,
    };
  }

  return {
    // All full admins are locked before the check. Of two removals at a time, the second sees the result of the
    // first. The key is empty, so two removals in one transaction run in different stages.
    adminStays: {
      ...PLAIN,
      sql: [
        `SELECT r.id FROM users AS r WHERE r.${FULL_ADMIN} AND $1::text[] IS NOT NULL
         ORDER BY r.id FOR NO KEY UPDATE`,
        `SELECT r.id FROM ${rows(['id'])} JOIN users AS r ON r.id = t.id AND r.${FULL_ADMIN}
         WHERE NOT EXISTS (SELECT 1 FROM users AS o WHERE o.${FULL_ADMIN} AND o.id <> r.id)`,
      ],
      holds: 'none',
      scans: true,
      key: [],
      match: [0],
      table: 'admins',
    },
    userWithHash: {
      ...PLAIN,
      sql: [
        `SELECT r.id, r.password_hash FROM ${rows(['id', 'password_hash'])}
         JOIN users AS r ON r.id = t.id AND r.password_hash = t.password_hash FOR SHARE OF r`,
      ],
      holds: 'each',
      key: [0],
      match: [0, 1],
      table: 'users',
      access: 'read',
    },
    replaceUser: {
      ...PLAIN,
      sql: [
        `UPDATE users AS r SET ${USER_MUTABLE.map((column) => `${column} = t.${column}`).join(', ')}
         FROM ${rows(REPLACED_USER)} WHERE r.id = t.id AND r.revision = t.was RETURNING r.id`,
      ],
      holds: 'each',
      key: positionsOf(REPLACED_USER, ['id']),
      table: 'users',
    },
    renewPasswordHash: {
      ...PLAIN,
      sql: [
        `UPDATE users AS r SET password_hash = t.password_hash FROM ${rows(['password_hash', 'id', 'old_hash'])}
         WHERE r.id = t.id AND r.password_hash = t.old_hash`,
      ],
      key: [1],
      table: 'users',
    },
    removeUser: {
      ...PLAIN,
      sql: [`DELETE FROM users AS r USING ${rows(['id'])} WHERE r.id = t.id RETURNING r.id`],
      holds: 'each',
      key: [0],
      table: 'users',
    },

    useInvitation: {
      ...PLAIN,
      sql: [
        `DELETE FROM invitations AS r USING ${rows(['hash', 'now'])}
         WHERE r.hash = t.hash AND r.expires_at > t.now RETURNING r.hash`,
      ],
      holds: 'each',
      scans: true,
      key: [0],
      table: 'invitations used',
    },
    insertUser: insertEach(
      'users',
      [...USER_FIXED, ...USER_MUTABLE],
      ['id'],
      'ON CONFLICT (name) DO NOTHING',
    ),
    insertInvitation: insert('invitations', INVITATION),
    removeInvitation: {
      ...PLAIN,
      sql: [`DELETE FROM invitations AS r USING ${rows(['id'])} WHERE r.id = t.id RETURNING r.id`],
      holds: 'each',
      key: [0],
      table: 'invitations',
    },
    removeInvitationsOf: { ...remove('invitations', ['created_by']), scans: true, table: 'invitations of' },

    insertSession: { ...insert('sessions', SESSION), key: [0] },
    touchSession: {
      ...PLAIN,
      sql: [
        `UPDATE sessions AS r SET seen_at = greatest(r.seen_at, t.seen_at) FROM ${rows(['seen_at', 'hash'])}
         WHERE r.hash = t.hash`,
      ],
      key: [1],
      table: 'sessions',
    },
    removeSession: remove('sessions', ['hash']),
    removeSessionsOf: {
      ...remove('sessions', ['user_id', 'hash'], 'r.user_id = t.user_id AND r.hash <> t.hash'),
      scans: true,
      key: [0],
      table: 'sessions of',
    },

    insertLoginFailures: insertEach(
      'login_failures',
      ['subject', 'failures', 'last_at'],
      ['subject'],
      'ON CONFLICT (subject) DO NOTHING',
    ),
    replaceLoginFailures: {
      ...PLAIN,
      sql: [
        `UPDATE login_failures AS r SET failures = t.failures, last_at = t.last_at
         FROM ${rows(['failures', 'last_at', 'subject', 'was', 'was_at'])}
         WHERE r.subject = t.subject AND r.failures = t.was AND r.last_at = t.was_at RETURNING r.subject`,
      ],
      holds: 'each',
      key: [2],
      table: 'login_failures',
    },
    undoLoginFailure: {
      ...PLAIN,
      sql: [
        `UPDATE login_failures AS r SET failures = r.failures - 1 FROM ${rows(['subject'])}
         WHERE r.subject = t.subject AND r.failures > 0`,
      ],
      key: [0],
      table: 'login_failures',
    },
    removeLoginFailures: remove('login_failures', ['subject']),

    insertAudit: { ...insert('audit', AUDIT), key: [0] },
    endAudit: {
      ...PLAIN,
      sql: [
        `UPDATE audit AS r SET outcome = t.outcome, code = t.code, subject = t.subject
         FROM ${rows(['outcome', 'code', 'subject', 'id'])} WHERE r.id = t.id`,
      ],
      key: [3],
      table: 'audit',
    },

    pruneSessions: prune(
      'sessions',
      'hash',
      ['now', 'seen_before'],
      'o.expires_at <= t.now OR o.seen_at < t.seen_before',
    ),
    pruneInvitations: prune('invitations', 'id', ['now'], 'o.expires_at <= t.now'),
    pruneLoginFailures: prune(
      'login_failures',
      'subject',
      ['failed_before', 'remembered_before'],
      'o.last_at < t.failed_before AND (o.failures > 0 OR o.last_at < t.remembered_before)',
    ),
    pruneAudit: prune('audit', 'id', ['id'], 'o.id < t.id'),
  };
}

/** The verbs for users, invitations, sessions, failed logins and the audit log. */
import type { AuditId, InvitationId, UserId } from '#src/domain/id.ts';
import { firstIdAt } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type {
  AuditEntry,
  AuditOutcome,
  Invitation,
  LoginFailuresChange,
  Session,
  User,
} from '#src/ports/people-store.ts';
import {
  AUDIT,
  INVITATION,
  SESSION,
  toAuditRow,
  toInvitationRow,
  toSessionRow,
  toUserRow,
  USER_FIXED,
  USER_MUTABLE,
} from './people-rows.ts';
import { pick, type Step } from './steps.ts';

/** A value that no session hash has. */
const NO_SESSION = '';

export const peopleVerbs = {
  replaceUser: (user: User, keptSession: string | null): readonly Step[] => [
    ...(isFullAdmin(user) ? [] : adminStays(user.id)),
    ['replaceUser', 'stale', ...pick(toUserRow(user), USER_MUTABLE), user.id, user.revision - 1],
    ['removeSessionsOf', null, user.id, keptSession ?? NO_SESSION],
    ...(isFullAdmin(user) ? [] : [['removeInvitationsOf', null, user.name] as const]),
  ],

  renewPasswordHash: (id: UserId, was: string, hash: string): readonly Step[] => [
    ['renewPasswordHash', null, hash, id, was],
  ],

  removeUser: ({ id, name }: Pick<User, 'id' | 'name'>): readonly Step[] => [
    ...adminStays(id),
    ['removeUser', 'missing', id],
    ['removeSessionsOf', null, id, NO_SESSION],
    ['removeInvitationsOf', null, name],
  ],

  addInvitation: (invitation: Invitation): readonly Step[] => [
    ['insertInvitation', null, ...pick(toInvitationRow(invitation), INVITATION)],
  ],

  removeInvitation: (id: InvitationId): readonly Step[] => [['removeInvitation', 'missing', id]],

  acceptInvitation: (hash: string, user: User): readonly Step[] => [
    ['useInvitation', 'missing', hash, user.createdAt],
    ['insertUser', 'taken', ...pick(toUserRow(user), USER_FIXED, USER_MUTABLE)],
  ],

  addSession: (session: Session, passwordHash: string, replacedHash: string | null): readonly Step[] => [
    ['userWithHash', 'stale', session.userId, passwordHash],
    ['insertSession', null, ...pick(toSessionRow(session), SESSION)],
    ...(replacedHash === null ? [] : [['removeSession', null, replacedHash] as const]),
  ],

  touchSession: (hash: string, seenAt: Instant): readonly Step[] => [
    ['touchSession', null, seenAt, hash, seenAt],
  ],

  removeSession: (hash: string): readonly Step[] => [['removeSession', null, hash]],

  removeSessionsOf: (userId: UserId, exceptHash: string | null): readonly Step[] => [
    ['removeSessionsOf', null, userId, exceptHash ?? NO_SESSION],
  ],

  replaceLoginFailures: (changes: readonly LoginFailuresChange[]): readonly Step[] =>
    changes
      .toSorted(bySubject)
      .map(
        ({ subject, failures, lastAt, was }): Step =>
          was === null
            ? ['insertLoginFailures', 'stale', subject, failures, lastAt]
            : ['replaceLoginFailures', 'stale', failures, lastAt, subject, was.failures, was.lastAt],
      ),

  undoLoginFailure: (subjects: readonly string[]): readonly Step[] =>
    subjects.toSorted().map((subject): Step => ['undoLoginFailure', null, subject]),

  clearLoginFailures: (subjects: readonly string[]): readonly Step[] =>
    subjects.toSorted().map((subject): Step => ['removeLoginFailures', null, subject]),

  addAudit: (entry: AuditEntry): readonly Step[] => [
    ['insertAudit', null, ...pick(toAuditRow(entry), AUDIT)],
  ],

  endAudit: (id: AuditId, outcome: AuditOutcome, code: string | null, subject: string): readonly Step[] => [
    ['endAudit', null, outcome, code, subject, id],
  ],

  prunePeople: (
    now: Instant,
    seenBefore: Instant,
    failedBefore: Instant,
    rememberedBefore: Instant,
    auditBefore: Instant | null,
  ): readonly Step[] => [
    ['pruneSessions', null, now, seenBefore],
    ['pruneInvitations', null, now],
    ['pruneLoginFailures', null, failedBefore, rememberedBefore],
    ...(auditBefore === null ? [] : [['pruneAudit', null, firstIdAt('aud', auditBefore)] as const]),
  ],
};

function adminStays(id: UserId): readonly Step[] {
  return [
    ['lockAdmins', null],
    ['adminStays', 'last_admin', id],
  ];
}

/** Rows are locked in the same order by every transaction, so that none waits for another in a circle. */
function bySubject({ subject: one }: LoginFailuresChange, { subject: other }: LoginFailuresChange): number {
  return one < other ? -1 : Number(one > other);
}

/** The last admin of all projects cannot be removed. */
function isFullAdmin({ role, projects }: User): boolean {
  return role === 'admin' && projects === null;
}

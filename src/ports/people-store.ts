/**
 * Stores the users of the dashboard, their invitations and sessions, and the audit log. Of tokens only the SHA-256 is
 * stored.
 */
import type { AuditId, InvitationId, ProjectId, UserId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Mode } from '#src/domain/project.ts';
import type { Role } from '#src/domain/role.ts';

/** The projects that a user sees; null: all projects, also future ones. */
export type ProjectScope = readonly ProjectId[] | null;

export interface User {
  readonly id: UserId;
  /** The name in lower case. It is unique. */
  readonly name: string;
  readonly role: Role;
  readonly projects: ProjectScope;
  readonly passwordHash: string;
  readonly createdAt: Instant;
  readonly passwordChangedAt: Instant;
  /** Increases with every stored change, so that a concurrent write is noticed. */
  readonly revision: number;
}

export interface Invitation {
  readonly id: InvitationId;
  readonly hash: string;
  readonly role: Role;
  readonly projects: ProjectScope;
  /** The name of the person who created it, for display. */
  readonly createdBy: string;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

export interface Session {
  readonly hash: string;
  readonly userId: UserId;
  readonly createdAt: Instant;
  /** Written from time to time, not with every request. */
  readonly seenAt: Instant;
  /** The session ends at this time, even when it is used. */
  readonly expiresAt: Instant;
  readonly address: string;
  readonly agent: string;
}

export const AUDIT_OUTCOMES = ['begun', 'done', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** An entry of the audit log. It is written before the action with the outcome `begun`, and completed after it. */
export interface AuditEntry {
  readonly id: AuditId;
  readonly at: Instant;
  /** Null for the command line and for unknown users. */
  readonly userId: UserId | null;
  /** The name of the user at that time. */
  readonly actor: string;
  /** The action, such as `schedule.pause`. */
  readonly action: string;
  /** The id or name of the object; empty while it has none. */
  readonly subject: string;
  readonly projectId: ProjectId | null;
  readonly mode: Mode | null;
  /** Further facts. They never contain header values, bodies, passwords, tokens or secrets. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  /** The address of the client, as reported by trusted proxies; null at the command line. */
  readonly address: string | null;
  /** The other end of the connection, which cannot be forged; null at the command line. */
  readonly peer: string | null;
  readonly outcome: AuditOutcome;
  /** The error code of a refusal. */
  readonly code: string | null;
}

export interface AuditFilter {
  readonly userId: UserId | null;
  readonly projectId: ProjectId | null;
  /** The prefix of actions, such as `schedule.`. */
  readonly action: string | null;
}

/** Failed logins under one name, from one address, or both, and refusals by role. `subject` is a digest. */
export interface FailureCounts {
  readonly subject: string;
  readonly failures: number;
  readonly lastAt: Instant;
}

/** Replaces the row that was read. `was` is null if there was no row. */
export interface FailureCountsChange extends FailureCounts {
  readonly was: Pick<FailureCounts, 'failures' | 'lastAt'> | null;
}

export interface PeopleStore {
  countUsers(): Promise<number>;
  findUser(id: UserId): Promise<User | null>;
  findUserByName(name: string): Promise<User | null>;
  listUsers(): Promise<readonly User[]>;
  /**
   * `stale`: the user was changed since it was read. `last_admin`: no other admin of all projects would remain to
   * invite people. All sessions of the user end, except for `keptSession`. A user who may no longer invite people loses
   * the open invitations.
   */
  replaceUser(user: User, keptSession: string | null): Promise<'done' | 'stale' | 'last_admin'>;
  /** Stores a new hash of the same password. It does nothing when the password was changed since. */
  renewPasswordHash(id: UserId, was: string, hash: string): Promise<void>;
  /** Removes the user with the sessions and the invitations that the user created. */
  removeUser(user: Pick<User, 'id' | 'name'>): Promise<'done' | 'missing' | 'last_admin'>;

  addInvitation(invitation: Invitation): Promise<void>;
  /** Lists the invitations that can still be used, newest first. */
  listInvitations(now: Instant): Promise<readonly Invitation[]>;
  findInvitation(hash: string, now: Instant): Promise<Invitation | null>;
  removeInvitation(id: InvitationId): Promise<'done' | 'missing'>;
  /**
   * Adds the user and removes the invitation in one step. `missing`: the invitation was used, revoked or has expired.
   */
  acceptInvitation(hash: string, user: User): Promise<'done' | 'missing' | 'taken'>;

  /** Adds a session and ends the one that it replaces. `stale`: the password was changed since it was checked. */
  addSession(session: Session, passwordHash: string, replacedHash: string | null): Promise<'done' | 'stale'>;
  /** Finds a session that has not ended, with its user. */
  findSession(hash: string): Promise<{ readonly session: Session; readonly user: User } | null>;
  listSessions(userId: UserId, now: Instant): Promise<readonly Session[]>;
  touchSession(hash: string, seenAt: Instant): Promise<void>;
  removeSession(hash: string): Promise<void>;
  /** Removes the sessions of a user, except for `exceptHash`. */
  removeSessionsOf(userId: UserId, exceptHash: string | null): Promise<void>;

  findFailureCounts(subjects: readonly string[]): Promise<readonly FailureCounts[]>;
  /** Writes all changes or none. `stale`: one of the rows was changed since it was read. */
  replaceFailureCounts(changes: readonly FailureCountsChange[]): Promise<'done' | 'stale'>;
  /** Subtracts one failure from each subject, down to zero. */
  undoFailure(subjects: readonly string[]): Promise<void>;
  clearFailureCounts(subjects: readonly string[]): Promise<void>;

  addAudit(entry: AuditEntry): Promise<void>;
  endAudit(
    id: AuditId,
    outcome: Exclude<AuditOutcome, 'begun'>,
    code: string | null,
    subject: string,
  ): Promise<void>;
  /** Lists entries, newest first. */
  listAudit(filter: AuditFilter, before: AuditId | null, limit: number): Promise<readonly AuditEntry[]>;

  /**
   * Removes some expired sessions, invitations, failures and audit entries. Subjects without failures are kept longer.
   * `more`: there is more to remove.
   */
  prunePeople(
    now: Instant,
    seenBefore: Instant,
    failedBefore: Instant,
    rememberedBefore: Instant,
    auditBefore: Instant | null,
  ): Promise<'done' | 'more'>;
}

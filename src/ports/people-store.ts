/**
 * Who may use the dashboard: people, the invitations by which they come, their sessions, and what they did.
 * Tokens are known by their SHA-256 alone.
 */
import type { AuditId, InvitationId, ProjectId, UserId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Mode } from '#src/domain/project.ts';
import type { Role } from '#src/domain/role.ts';

/** Which projects somebody sees; null: every one, also those made later. */
export type ProjectScope = readonly ProjectId[] | null;

export interface User {
  readonly id: UserId;
  /** In lower case; nobody else has it. */
  readonly name: string;
  readonly role: Role;
  readonly projects: ProjectScope;
  readonly passwordHash: string;
  readonly createdAt: Instant;
  readonly passwordChangedAt: Instant;
  /** Rises with every stored change: what a concurrent writer is checked against. */
  readonly revision: number;
}

export interface Invitation {
  readonly id: InvitationId;
  readonly hash: string;
  readonly role: Role;
  readonly projects: ProjectScope;
  /** Who made it, for people to read. */
  readonly createdBy: string;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

export interface Session {
  readonly hash: string;
  readonly userId: UserId;
  readonly createdAt: Instant;
  /** Written now and then, not with every request. */
  readonly seenAt: Instant;
  /** Whatever happens, not after this. */
  readonly expiresAt: Instant;
  readonly address: string;
  readonly agent: string;
}

export const AUDIT_OUTCOMES = ['begun', 'done', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** Written before the act, with the outcome `begun`; what came of it is written after. */
export interface AuditEntry {
  readonly id: AuditId;
  readonly at: Instant;
  /** Null: somebody at the command line, or nobody that is known. */
  readonly userId: UserId | null;
  /** As they were called then. */
  readonly actor: string;
  /** Such as `schedule.pause`. */
  readonly action: string;
  /** The id or the name of what it was done to; empty where there is none yet. */
  readonly subject: string;
  readonly projectId: ProjectId | null;
  readonly mode: Mode | null;
  /** Further facts, never header values, bodies, passwords, tokens or secrets. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  /** The address of the client, as far as trusted proxies tell it; null at the command line. */
  readonly address: string | null;
  /** The other end of the connection, which nobody can write; null at the command line. */
  readonly peer: string | null;
  readonly outcome: AuditOutcome;
  /** Of a refusal. */
  readonly code: string | null;
}

export interface AuditFilter {
  readonly userId: UserId | null;
  readonly projectId: ProjectId | null;
  /** Those that begin so, such as `schedule.`. */
  readonly action: string | null;
}

/** Failed logins under one name, from one address, or both, and refusals by role: `subject` is a digest. */
export interface LoginFailures {
  readonly subject: string;
  readonly failures: number;
  readonly lastAt: Instant;
}

/** Written in place of what was read; `was` is null where nothing was there. */
export interface LoginFailuresChange extends LoginFailures {
  readonly was: Pick<LoginFailures, 'failures' | 'lastAt'> | null;
}

export interface PeopleStore {
  countUsers(): Promise<number>;
  findUser(id: UserId): Promise<User | null>;
  findUserByName(name: string): Promise<User | null>;
  listUsers(): Promise<readonly User[]>;
  /**
   * `stale`: changed meanwhile. `last_admin`: nobody else could let people in, for which one has to be an admin of
   * everything. Their sessions end, but for one that is named. Who may not let people in any more has no open
   * invitations either.
   */
  replaceUser(user: User, keptSession: string | null): Promise<'done' | 'stale' | 'last_admin'>;
  /** The same password, hashed anew: nothing else changes. Not done where it is another one by now. */
  renewPasswordHash(id: UserId, was: string, hash: string): Promise<void>;
  /** With their sessions and the invitations they made. */
  removeUser(user: Pick<User, 'id' | 'name'>): Promise<'done' | 'missing' | 'last_admin'>;

  addInvitation(invitation: Invitation): Promise<void>;
  /** Those that can still be used, newest first. */
  listInvitations(now: Instant): Promise<readonly Invitation[]>;
  findInvitation(hash: string, now: Instant): Promise<Invitation | null>;
  removeInvitation(id: InvitationId): Promise<'done' | 'missing'>;
  /** Adds the user and uses the invitation up, in one step. `missing`: used, taken back or over. */
  acceptInvitation(hash: string, user: User): Promise<'done' | 'missing' | 'taken'>;

  /** Adds the session; ends the one it takes the place of. `stale`: the password is no longer the one that was shown. */
  addSession(session: Session, passwordHash: string, replacedHash: string | null): Promise<'done' | 'stale'>;
  /** A session that has not ended, with whose it is. */
  findSession(hash: string): Promise<{ readonly session: Session; readonly user: User } | null>;
  listSessions(userId: UserId, now: Instant): Promise<readonly Session[]>;
  touchSession(hash: string, seenAt: Instant): Promise<void>;
  removeSession(hash: string): Promise<void>;
  /** But this one, where one is named. */
  removeSessionsOf(userId: UserId, exceptHash: string | null): Promise<void>;

  findLoginFailures(subjects: readonly string[]): Promise<readonly LoginFailures[]>;
  /** All or none. `stale`: one of them is not as it was read. */
  replaceLoginFailures(changes: readonly LoginFailuresChange[]): Promise<'done' | 'stale'>;
  /** One less of each, down to none. */
  undoLoginFailure(subjects: readonly string[]): Promise<void>;
  clearLoginFailures(subjects: readonly string[]): Promise<void>;

  addAudit(entry: AuditEntry): Promise<void>;
  endAudit(
    id: AuditId,
    outcome: Exclude<AuditOutcome, 'begun'>,
    code: string | null,
    subject: string,
  ): Promise<void>;
  /** Newest first. */
  listAudit(filter: AuditFilter, before: AuditId | null, limit: number): Promise<readonly AuditEntry[]>;

  /**
   * Removes some of what is over: sessions, invitations, failures, and entries of the audit log older than that. Where
   * nothing failed it is remembered for longer. `more`: there is more of it.
   */
  prunePeople(
    now: Instant,
    seenBefore: Instant,
    failedBefore: Instant,
    rememberedBefore: Instant,
    auditBefore: Instant | null,
  ): Promise<'done' | 'more'>;
}

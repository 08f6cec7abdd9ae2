/**
 * Who may use the dashboard: people, the invitations by which they come, their sessions, and what they did.
 * Tokens are known by their SHA-256 alone.
 */
import type { AuditId, InvitationId, ProjectId, UserId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Mode } from '#src/domain/partition.ts';
import type { Role } from '#src/domain/role.ts';

/** Which projects somebody sees; null: every one, also those made later. */
export type Reach = readonly ProjectId[] | null;

export interface User {
  readonly id: UserId;
  /** In lower case; nobody else has it. */
  readonly name: string;
  readonly role: Role;
  readonly projects: Reach;
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
  readonly projects: Reach;
  /** Who made it, for people to read. */
  readonly createdBy: string;
  readonly createdAt: Instant;
  /** Null: until it is used or taken back. */
  readonly expiresAt: Instant | null;
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
  readonly address: string | null;
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

/** Failed logins under one name, from one address, or both: `subject` is a digest. */
export interface LoginFailures {
  readonly subject: string;
  readonly failures: number;
  readonly lastAt: Instant;
}

export interface PeopleStore {
  countUsers(): Promise<number>;
  findUser(id: UserId): Promise<User | null>;
  findUserByName(name: string): Promise<User | null>;
  listUsers(): Promise<readonly User[]>;
  /** `stale`: changed meanwhile. `last_admin`: nobody else could let people in. All sessions of theirs end. */
  replaceUser(user: User): Promise<'done' | 'stale' | 'last_admin'>;
  removeUser(id: UserId): Promise<'done' | 'missing' | 'last_admin'>;

  addInvitation(invitation: Invitation): Promise<void>;
  /** Those that can still be used, newest first. */
  listInvitations(now: Instant): Promise<readonly Invitation[]>;
  findInvitation(hash: string, now: Instant): Promise<Invitation | null>;
  removeInvitation(id: InvitationId): Promise<'done' | 'missing'>;
  /** Adds the user and uses the invitation up, in one step. `missing`: used, taken back or over. */
  acceptInvitation(hash: string, user: User): Promise<'done' | 'missing' | 'taken'>;

  /** Adds the session; ends the one it takes the place of. */
  addSession(session: Session, replacedHash: string | null): Promise<void>;
  /** A session that has not ended, with whose it is. */
  findSession(hash: string): Promise<{ readonly session: Session; readonly user: User } | null>;
  listSessions(userId: UserId, now: Instant): Promise<readonly Session[]>;
  touchSession(hash: string, seenAt: Instant): Promise<void>;
  removeSession(hash: string): Promise<void>;
  /** But this one, where one is named. */
  removeSessionsOf(userId: UserId, exceptHash: string | null): Promise<void>;

  findLoginFailures(subjects: readonly string[]): Promise<readonly LoginFailures[]>;
  /** One more, counted from 1 again where the last lies before `forgetBefore`. */
  addLoginFailure(subjects: readonly string[], now: Instant, forgetBefore: Instant): Promise<void>;
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

  /** Removes what is over: sessions, invitations, failures, and entries of the audit log older than that. */
  prunePeople(
    now: Instant,
    seenBefore: Instant,
    failedBefore: Instant,
    auditBefore: Instant | null,
  ): Promise<void>;
}

/** Rows of the tables of users, invitations, sessions and the audit log, and their conversion to domain objects. */
import type { AuditId, InvitationId, ProjectId, UserId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Mode } from '#src/domain/project.ts';
import type { Role } from '#src/domain/role.ts';
import type {
  AuditEntry,
  AuditOutcome,
  FailureCounts,
  Invitation,
  ProjectScope,
  Session,
  User,
} from '#src/ports/people-store.ts';

/** Rows of one kind that one transaction removes. Other writes wait for it, so there are few. */
export const PRUNE_BATCH_MAX = 500;

export interface UserRow {
  readonly id: UserId;
  readonly name: string;
  readonly role: Role;
  readonly projects: string | null;
  readonly password_hash: string;
  readonly created_at: Instant;
  readonly password_changed_at: Instant;
  readonly revision: number;
}

export const USER_FIXED = ['id', 'name', 'created_at'] as const satisfies readonly (keyof UserRow)[];

export const USER_MUTABLE = [
  'role',
  'projects',
  'password_hash',
  'password_changed_at',
  'revision',
] as const satisfies readonly (keyof UserRow)[];

export function toUserRow(user: User): UserRow {
  return {
    id: user.id,
    name: user.name,
    role: user.role,
    projects: reachText(user.projects),
    password_hash: user.passwordHash,
    created_at: user.createdAt,
    password_changed_at: user.passwordChangedAt,
    revision: user.revision,
  };
}

export function fromUserRow(row: UserRow): User {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    projects: reachOf(row.projects),
    passwordHash: row.password_hash,
    createdAt: row.created_at,
    passwordChangedAt: row.password_changed_at,
    revision: row.revision,
  };
}

export interface InvitationRow {
  readonly id: InvitationId;
  readonly hash: string;
  readonly role: Role;
  readonly projects: string | null;
  readonly created_by: string;
  readonly created_at: Instant;
  readonly expires_at: Instant;
}

export const INVITATION = [
  'id',
  'hash',
  'role',
  'projects',
  'created_by',
  'created_at',
  'expires_at',
] as const satisfies readonly (keyof InvitationRow)[];

export function toInvitationRow(invitation: Invitation): InvitationRow {
  return {
    id: invitation.id,
    hash: invitation.hash,
    role: invitation.role,
    projects: reachText(invitation.projects),
    created_by: invitation.createdBy,
    created_at: invitation.createdAt,
    expires_at: invitation.expiresAt,
  };
}

export function fromInvitationRow(row: InvitationRow): Invitation {
  return {
    id: row.id,
    hash: row.hash,
    role: row.role,
    projects: reachOf(row.projects),
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

export interface SessionRow {
  readonly hash: string;
  readonly user_id: UserId;
  readonly created_at: Instant;
  readonly seen_at: Instant;
  readonly expires_at: Instant;
  readonly address: string;
  readonly agent: string;
}

export const SESSION = [
  'hash',
  'user_id',
  'created_at',
  'seen_at',
  'expires_at',
  'address',
  'agent',
] as const satisfies readonly (keyof SessionRow)[];

export function toSessionRow(session: Session): SessionRow {
  return {
    hash: session.hash,
    user_id: session.userId,
    created_at: session.createdAt,
    seen_at: session.seenAt,
    expires_at: session.expiresAt,
    address: session.address,
    agent: session.agent,
  };
}

export function fromSessionRow(row: SessionRow): Session {
  return {
    hash: row.hash,
    userId: row.user_id,
    createdAt: row.created_at,
    seenAt: row.seen_at,
    expiresAt: row.expires_at,
    address: row.address,
    agent: row.agent,
  };
}

export interface FailureCountsRow {
  readonly subject: string;
  readonly failures: number;
  readonly last_at: Instant;
}

export function fromFailureCountsRow({ subject, failures, last_at }: FailureCountsRow): FailureCounts {
  return { subject, failures, lastAt: last_at };
}

export interface AuditRow {
  readonly id: AuditId;
  readonly at: Instant;
  readonly user_id: UserId | null;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly project_id: ProjectId | null;
  readonly mode: Mode | null;
  readonly detail: string;
  readonly address: string | null;
  readonly peer: string | null;
  readonly outcome: AuditOutcome;
  readonly code: string | null;
}

export const AUDIT = [
  'id',
  'at',
  'user_id',
  'actor',
  'action',
  'subject',
  'project_id',
  'mode',
  'detail',
  'address',
  'peer',
  'outcome',
  'code',
] as const satisfies readonly (keyof AuditRow)[];

export function toAuditRow(entry: AuditEntry): AuditRow {
  return {
    id: entry.id,
    at: entry.at,
    user_id: entry.userId,
    actor: entry.actor,
    action: entry.action,
    subject: entry.subject,
    project_id: entry.projectId,
    mode: entry.mode,
    detail: JSON.stringify(entry.detail),
    address: entry.address,
    peer: entry.peer,
    outcome: entry.outcome,
    code: entry.code,
  };
}

export function fromAuditRow(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    at: row.at,
    userId: row.user_id,
    actor: row.actor,
    action: row.action,
    subject: row.subject,
    projectId: row.project_id,
    mode: row.mode,
    detail: JSON.parse(row.detail) as AuditEntry['detail'],
    address: row.address,
    peer: row.peer,
    outcome: row.outcome,
    code: row.code,
  };
}

function reachText(reach: ProjectScope): string | null {
  return reach === null ? null : JSON.stringify(reach);
}

function reachOf(text: string | null): ProjectScope {
  return text === null ? null : (JSON.parse(text) as readonly ProjectId[]);
}

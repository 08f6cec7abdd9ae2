/** Presents objects of the control plane to the page. Hashes of passwords and tokens are never included. */
import type { OpenEndpointSecret } from '#src/control/endpoint-secrets.ts';
import type { OpenSecret } from '#src/control/secrets.ts';
import { sessionIdOf } from '#src/control/sessions.ts';
import type { ProjectId } from '#src/domain/id.ts';
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import type { ApiKey, EndpointSecret, Project, SigningSecret } from '#src/ports/control-store.ts';
import type { AuditEntry, Invitation, ProjectScope, Session, User } from '#src/ports/people-store.ts';
import type {
  AuditLine,
  EndpointSecretInfo,
  InvitationInfo,
  InvitationSummary,
  KeyInfo,
  OpenSession,
  ProjectInfo,
  SecretInfo,
  UserInfo,
} from './contract.ts';

/** Names of projects by their id. Only projects that the caller may see are included. */
export type ProjectNames = ReadonlyMap<ProjectId, string>;

export function namesOf(projects: readonly Project[]): ProjectNames {
  return new Map(projects.map(({ id, name }) => [id, name]));
}

export function orNull(at: Instant | null): string | null {
  return at === null ? null : formatInstant(at);
}

export function presentProject({ id, name, createdAt }: Project): ProjectInfo {
  return { id, name, created_at: formatInstant(createdAt) };
}

export function presentKey({ id, hint, createdAt, lastUsedAt, revokedAt }: ApiKey): KeyInfo {
  return {
    id,
    hint,
    created_at: formatInstant(createdAt),
    last_used_at: orNull(lastUsedAt),
    revoked_at: orNull(revokedAt),
  };
}

export function presentSecret({ id, createdAt, expiresAt }: SigningSecret | OpenSecret): SecretInfo {
  return { id, created_at: formatInstant(createdAt), expires_at: orNull(expiresAt) };
}

export function presentEndpointSecret(secret: EndpointSecret | OpenEndpointSecret): EndpointSecretInfo {
  return { ...presentSecret(secret), alone_from: orNull(secret.aloneFrom) };
}

/** Projects without a known name are left out. */
function namesIn(scope: ProjectScope, names: ProjectNames): readonly string[] | null {
  return scope?.flatMap((id) => names.get(id) ?? []) ?? null;
}

export function presentUser(user: User, seenAt: Instant | null, names: ProjectNames): UserInfo {
  return {
    id: user.id,
    name: user.name,
    role: user.role,
    projects: namesIn(user.projects, names),
    created_at: formatInstant(user.createdAt),
    seen_at: orNull(seenAt),
  };
}

export function presentInvitation(invitation: Invitation, names: ProjectNames): InvitationInfo {
  return {
    id: invitation.id,
    role: invitation.role,
    projects: namesIn(invitation.projects, names),
    created_by: invitation.createdBy,
    created_at: formatInstant(invitation.createdAt),
    expires_at: formatInstant(invitation.expiresAt),
  };
}

/** The part of an invitation that a person sees who has its token and no account yet. */
export function presentInvitationSummary({ role, expiresAt }: Invitation): InvitationSummary {
  return { role, expires_at: formatInstant(expiresAt) };
}

export function presentSession(session: Session, present: Session): OpenSession {
  return {
    id: sessionIdOf(session),
    is_this: session.hash === present.hash,
    created_at: formatInstant(session.createdAt),
    seen_at: formatInstant(session.seenAt),
    address: session.address,
    agent: session.agent,
  };
}

export function presentAudit(entry: AuditEntry, names: ProjectNames): AuditLine {
  return {
    id: entry.id,
    at: formatInstant(entry.at),
    actor: entry.actor,
    user_id: entry.userId,
    action: entry.action,
    subject: entry.subject,
    project: entry.projectId === null ? null : (names.get(entry.projectId) ?? entry.projectId),
    mode: entry.mode,
    detail: entry.detail,
    address: entry.address,
    peer: entry.peer,
    outcome: entry.outcome,
    code: entry.code,
  };
}

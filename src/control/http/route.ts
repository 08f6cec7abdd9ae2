/**
 * A route of the control plane, as data: who may ask, what is written into the audit log, and the answer. Whoever
 * serves them (`server.ts`) sees to the session, the role, the origin and the token of a change, the reach of the
 * person and the audit log, once and for all of them.
 */
import type { FastifyRequest } from 'fastify';
import type { Mode, Partition } from '#src/domain/project.ts';
import type { Role } from '#src/domain/role.ts';
import type { Project, Tenant } from '#src/ports/control-store.ts';
import type { AuditEntry, Session, User } from '#src/ports/people-store.ts';
import type { ClientAddress } from './client-address.ts';
import type { Done } from './contract.ts';

export interface Caller extends ClientAddress {
  readonly user: User;
  readonly session: Session;
}

export type JsonBody = Readonly<Record<string, unknown>>;

export interface RouteRequest {
  readonly caller: Caller;
  /** Those of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: JsonBody;
  /** Null where a live page asks again for what it watches. */
  readonly fastifyRequest: FastifyRequest | null;
}

/** Of one project in one mode, which the caller may see. */
export interface ProjectRequest extends RouteRequest {
  readonly project: Project;
  readonly mode: Mode;
  readonly partition: Partition;
  readonly tenant: Tenant;
}

/** JSON text as it is sent. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  /** The id of what was made, for the audit log. */
  readonly subject?: string;
  /** The token of a session that the browser is to keep from now on; null: it is to forget the one it has. */
  readonly session?: string | null;
  /** What of it is news to a live page, where not all of it is: the answer without what any clock tells. */
  readonly comparedBody?: string;
}

export interface AuditRule<A extends RouteRequest> {
  /** Such as `schedule.pause`. */
  readonly action: string;
  readonly subject: (asked: A) => string;
  readonly detail?: (asked: A) => AuditEntry['detail'] | Promise<AuditEntry['detail']>;
}

export interface Route<A extends RouteRequest> {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Below `/dashboard/api/`, of a project's route below `p/:project/:mode/`; such as `schedules/:id/pause`. */
  readonly path: string;
  readonly needs: Role;
  /** Null: it changes nothing and reveals nothing. A GET may be audited too. */
  readonly audited: AuditRule<A> | null;
  readonly handle: (asked: A) => Promise<Answer>;
}

export function json(value: unknown, status = 200, subject?: string): Answer {
  const body = JSON.stringify(value);
  return subject === undefined ? { status, body } : { status, body, subject };
}

/** Somebody without a session. */
export interface PublicRequest extends ClientAddress {
  /** A session's token, if one was presented; it may be of no session at all. */
  readonly token: string | null;
  /** The page asks by itself. */
  readonly isAutomatic: boolean;
  readonly agent: string;
  readonly body: JsonBody;
}

/** A POST by which somebody gets a session, or looks at what would give them one. */
export interface PublicRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly handle: (visitor: PublicRequest) => Promise<Answer>;
}

export const DONE: Done = { done: true };

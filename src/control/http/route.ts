/**
 * A route of the control plane, as data: the role it needs, what it writes into the audit log, and its handler. The
 * server (`server.ts`) checks the session, the origin, the CSRF token, the role and the project scope for all routes,
 * and writes the audit log.
 */
import type { IncomingMessage } from 'node:http';
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
  /** The wildcards of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: JsonBody;
  /** Null if a live page polls a watched path. */
  readonly fastifyRequest: FastifyRequest | null;
}

/** A request to one project in one mode, which the caller may see. */
export interface ProjectRequest extends RouteRequest {
  readonly project: Project;
  readonly mode: Mode;
  readonly partition: Partition;
  readonly tenant: Tenant;
}

/** The body is JSON text, ready to be sent. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  /** The id of a created object, for the audit log. */
  readonly subject?: string;
  /** A session token that the browser has to keep. Null makes the browser drop the one it has. */
  readonly session?: string | null;
  /** A live page is updated when this text changes: the body without fields that change with every second. */
  readonly comparedBody?: string;
}

export interface AuditRule<A extends RouteRequest> {
  /** The name in the audit log, such as `schedule.pause`. */
  readonly action: string;
  readonly subject: (asked: A) => string;
  readonly detail?: (asked: A) => AuditEntry['detail'] | Promise<AuditEntry['detail']>;
}

export interface Route<A extends RouteRequest> {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** The pattern below `/dashboard/api/`, or below `p/:project/:mode/` for a project's route: `schedules/:id/pause`. */
  readonly path: string;
  readonly needs: Role;
  /** Null if the route changes nothing and reveals nothing. A GET may be audited too. */
  readonly audited: AuditRule<A> | null;
  readonly handle: (asked: A) => Promise<Answer>;
}

export function json(value: unknown, status = 200, subject?: string): Answer {
  const body = JSON.stringify(value);
  return subject === undefined ? { status, body } : { status, body, subject };
}

/** A request that needs no session. */
export interface PublicRequest extends ClientAddress {
  /** The token in the cookie. It may belong to no session. */
  readonly token: string | null;
  /** The page made this request by itself. */
  readonly isAutomatic: boolean;
  readonly agent: string;
  readonly body: JsonBody;
}

/** A route by which a person gets a session, or looks up the session or invitation they have. */
export interface PublicRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Refuses a request by its headers, before its body is read. */
  readonly check?: (request: IncomingMessage) => void;
  readonly handle: (visitor: PublicRequest) => Promise<Answer>;
}

export const DONE: Done = { done: true };

/**
 * A route of the control plane, declared once: its path, the role it needs, the schemas of its input, what it writes
 * into the audit log, and its handler. The server (`server.ts`) checks the session, the origin, the CSRF token, the
 * role and the project scope for all routes, and writes the audit log. A handler only sees input that its schemas
 * accept.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Mode, Partition } from '#src/domain/project.ts';
import type { Role } from '#src/domain/role.ts';
import type { Project, Tenant } from '#src/ports/control-store.ts';
import type { AuditEntry, Session, User } from '#src/ports/people-store.ts';
import type { ANSWERS, PROJECT_ANSWERS } from './answers.ts';
import type { ClientAddress } from './client-address.ts';
import type { Done, Shown } from './contract.ts';
import { firstOfEach, readInput, readParams } from './fields.ts';

export interface Caller extends ClientAddress {
  readonly user: User;
  readonly session: Session;
}

export type JsonBody = Readonly<Record<string, unknown>>;

/** The input of a route before its schemas have read it. */
export interface GivenInput {
  /** The wildcards of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: JsonBody;
}

export interface RouteRequest {
  readonly caller: Caller;
  /** The whole query, for operations of /v1. Other handlers use `query`. */
  readonly search: URLSearchParams;
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
export interface Answer<T = unknown> {
  readonly status: number;
  readonly body: string;
  /** Only a type: what the body says. */
  readonly value?: T;
  /** The id of a created object, for the audit log. */
  readonly subject?: string;
  /** A session token that the browser has to keep. Null makes the browser drop the one it has. */
  readonly session?: string | null;
  /** A live page is updated when this text changes: the body without fields that change with every second. */
  readonly comparedBody?: string;
}

interface InputSchemas<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  /** Without the project and the mode. A value that is refused answers `404`. */
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** A request with its input. */
type With<A, P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = A & {
  readonly params: z.output<P>;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
};

export interface AuditRule<A> {
  /** The name in the audit log, such as `schedule.pause`. */
  readonly action: string;
  readonly subject: (request: A) => string;
  readonly detail?: (request: A) => AuditEntry['detail'] | Promise<AuditEntry['detail']>;
}

type Method = 'GET' | 'POST' | 'PATCH';
type Schemas = Readonly<Record<string, z.ZodType>>;

/** The answer of a route. A route whose path is not known to the compiler is checked only in tests. */
type AnswerTo<S extends Schemas, M extends Method, Path extends string> = string extends Path
  ? Answer
  : `${M} ${Path}` extends keyof S
    ? Answer<Shown<S[`${M} ${Path}`]>>
    : never;

interface RouteFacts<M extends Method = Method, Path extends string = string> {
  readonly method: M;
  /** The pattern below `/dashboard/api/`, or below `p/:project/:mode/` for a project's route: `schedules/:id/pause`. */
  readonly path: Path;
  readonly needs: Role;
}

/** One request to a route, whose input has been read. */
export interface Action {
  readonly run: () => Promise<Answer>;
  /** Null if the audit log does not record it. */
  readonly audited: Pick<AuditEntry, 'action' | 'subject' | 'detail'> | null;
}

export interface Route<A> extends RouteFacts {
  readonly isAudited: boolean;
  readonly schemas: InputSchemas<z.ZodType, z.ZodType, z.ZodType>;
  /** Reads the input, or refuses it before anything is changed or recorded. */
  readonly prepare: (request: A, given: GivenInput) => Promise<Action>;
}

const NOTHING = z.object({});
type Nothing = typeof NOTHING;

function declared<A, Answers extends Schemas>() {
  return <
    const M extends Method,
    const Path extends string,
    P extends z.ZodType = Nothing,
    Q extends z.ZodType = Nothing,
    B extends z.ZodType = Nothing,
  >(
    declaration: RouteFacts<M, Path> &
      Partial<InputSchemas<P, Q, B>> & {
        /** A route without it changes nothing and reveals nothing. A GET may be audited too. */
        readonly audited?: AuditRule<With<A, P, Q, B>> | null;
        readonly handle: (request: With<A, P, Q, B>) => Promise<AnswerTo<Answers, M, Path>>;
      },
  ): Route<A> => {
    const { method, path, needs, audited = null, handle } = declaration;
    const { params = NOTHING, query = NOTHING, body = NOTHING } = declaration;
    return {
      method,
      path,
      needs,
      isAudited: audited !== null,
      schemas: { params, query, body },
      prepare: async (request, given) => {
        const input = {
          params: readParams(params, given.params),
          query: readInput(query, firstOfEach(given.query)),
          body: readInput(body, given.body),
        } as With<unknown, P, Q, B>;
        const asked = { ...request, ...input };
        const run = () => handle(asked);
        if (audited === null) return { run, audited };
        const { action, subject, detail } = audited;
        return {
          run,
          audited: { action, subject: subject(asked), detail: (await detail?.(asked)) ?? {} },
        };
      },
    };
  };
}

/** Declares a route that concerns no single project. */
export const route = declared<RouteRequest, typeof ANSWERS>();

/** Declares a route of one project in one mode. */
export const projectRoute = declared<ProjectRequest, typeof PROJECT_ANSWERS>();

export function json<const T>(value: T, status = 200, subject?: string): Answer<T> {
  const body = JSON.stringify(value);
  return subject === undefined ? { status, body } : { status, body, subject };
}

/** Answers a list that has no further page. */
export function list<T>(data: readonly T[], status?: number, subject?: string) {
  return json({ data, next_cursor: null }, status, subject);
}

/** A request that needs no session. */
export interface PublicRequest extends ClientAddress {
  /** The token in the cookie. It may belong to no session. */
  readonly token: string | null;
  /** The page made this request by itself. */
  readonly isAutomatic: boolean;
  readonly agent: string;
}

interface PublicRouteFacts<M extends 'GET' | 'POST', Path extends string, B extends z.ZodType> {
  readonly method: M;
  readonly path: Path;
  readonly body?: B;
  /** Refuses a request by its headers, before its body is read. */
  readonly check?: (request: IncomingMessage) => void;
}

/** A route by which a person gets a session, or looks up the session or invitation they have. */
export interface PublicRoute extends PublicRouteFacts<'GET' | 'POST', string, z.ZodType> {
  readonly handle: (visitor: PublicRequest, given: JsonBody) => Promise<Answer>;
}

export function publicRoute<
  const M extends 'GET' | 'POST',
  const Path extends string,
  B extends z.ZodType = Nothing,
>(
  declaration: PublicRouteFacts<M, Path, B> & {
    readonly handle: (
      visitor: PublicRequest,
      body: z.output<B>,
    ) => Promise<AnswerTo<typeof ANSWERS, M, Path>>;
  },
): PublicRoute {
  const { body = NOTHING, handle } = declaration;
  return {
    ...declaration,
    handle: async (visitor, given) => handle(visitor, readInput(body, given) as z.output<B>),
  };
}

export const DONE: Done = { done: true };

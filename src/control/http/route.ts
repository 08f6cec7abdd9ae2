/**
 * A route of the control plane, declared once: its name, the role it needs, the schemas of its input, what it writes
 * into the audit log, and its handler. All routes are in one list. The server (`server.ts`) checks the session, the
 * origin, the CSRF token, the role and the project scope for all of them, and writes the audit log. A handler only sees
 * input that its schemas accept.
 */
import type { IncomingMessage } from 'node:http';
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

/** A request that needs no session. */
export interface PublicRequest extends ClientAddress {
  /** The token in the cookie. It may belong to no session. */
  readonly token: string | null;
  /** The page made this request by itself. */
  readonly isAutomatic: boolean;
  readonly agent: string;
}

/** A request of a user that concerns no single project. */
export interface UserRequest {
  readonly caller: Caller;
  /** The value of the header `Idempotency-Key`. */
  readonly idempotencyKey: string | readonly string[] | undefined;
}

export interface ProjectContext {
  readonly project: Project;
  readonly mode: Mode;
  readonly partition: Partition;
  readonly tenant: Tenant;
}

/** A request to one project in one mode, which the caller may see. */
export interface ProjectRequest extends UserRequest, ProjectContext {}

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
  /** The target of the audit entry. The default is the id in the path. */
  readonly subject?: (request: A) => string;
  readonly detail?: (request: A) => AuditEntry['detail'] | Promise<AuditEntry['detail']>;
}

/** One request to a route, whose input has been read. */
export interface Action {
  readonly run: () => Promise<Answer>;
  /** Null if the audit log does not record it. */
  readonly audited: Pick<AuditEntry, 'action' | 'subject' | 'detail'> | null;
}

interface RouteOf<Access extends string, A> {
  readonly access: Access;
  /** The method and the path. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** The pattern below `/dashboard/api/`, such as `users/:id/remove`. */
  readonly path: string;
  readonly isAudited: boolean;
  readonly schemas: InputSchemas<z.ZodType, z.ZodType, z.ZodType>;
  /** Reads the input, or refuses it before anything is changed or recorded. */
  readonly prepare: (request: A, given: GivenInput) => Promise<Action>;
}

interface NeedsRole {
  readonly needs: Role;
}

interface ChecksHeaders {
  /** Refuses a request by its headers, before its body is read. */
  readonly check?: (request: IncomingMessage) => void;
}

/** A route by which a person gets a session, or looks up the session or invitation they have. */
export type PublicRoute = RouteOf<'public', PublicRequest> & ChecksHeaders;
export type UserRoute = RouteOf<'user', UserRequest> & NeedsRole;
export type ProjectRoute = RouteOf<'project', ProjectRequest> & NeedsRole;
export type Route = PublicRoute | UserRoute | ProjectRoute;

type Schemas = Readonly<Record<string, z.ZodType>>;

/** The answer of a route. A route whose name is not known to the compiler is checked only in tests. */
type AnswerTo<S extends Schemas, Name extends string> = string extends Name
  ? Answer
  : Name extends keyof S
    ? Answer<Shown<S[Name]>>
    : never;

const NO_PARAMETERS = z.object({});
/** An unknown field of a body is refused. Other schemas of bodies are strict too. */
const NO_FIELDS = z.strictObject({});

/** `below` is the path before the one in the name of each route. */
function declared<Access extends string, A, Answers extends Schemas, Facts>(access: Access, below = '') {
  return <
    const Name extends string,
    P extends z.ZodType = typeof NO_PARAMETERS,
    Q extends z.ZodType = typeof NO_PARAMETERS,
    B extends z.ZodType = typeof NO_FIELDS,
  >(
    declaredName: Name,
    declaration: Facts &
      Partial<InputSchemas<P, Q, B>> & {
        /**
         * A route without it changes nothing and reveals nothing. A GET may be audited too. A public route has none: its
         * handler writes the audit log when it knows who acts.
         */
        readonly audited?: AuditRule<With<A, P, Q, B>> | null;
        readonly handle: (request: With<A, P, Q, B>) => Promise<AnswerTo<Answers, Name>>;
      },
  ): RouteOf<Access, A> & Facts => {
    const [method, pattern] = declaredName.split(' ') as [RouteOf<Access, A>['method'], string];
    const path = below + pattern;
    const {
      audited = null,
      handle,
      params = NO_PARAMETERS,
      query = NO_PARAMETERS,
      body = NO_FIELDS,
    } = declaration;
    return {
      ...declaration,
      access,
      name: `${method} ${path}`,
      method,
      path,
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
        const { action, subject = idInPath, detail } = audited;
        return {
          run,
          audited: { action, subject: subject(asked), detail: (await detail?.(asked)) ?? {} },
        };
      },
    };
  };
}

function idInPath({ params }: { readonly params: unknown }): string {
  const { id = '' } = params as { readonly id?: string };
  return id;
}

/** Declares a route that needs no session. */
export const publicRoute = declared<'public', PublicRequest, typeof ANSWERS, ChecksHeaders>('public');

/** Declares a route for users that concerns no single project. */
export const route = declared<'user', UserRequest, typeof ANSWERS, NeedsRole>('user');

/** Declares a route of one project in one mode. */
export const projectRoute = declared<'project', ProjectRequest, typeof PROJECT_ANSWERS, NeedsRole>(
  'project',
  'p/:project/:mode/',
);

export function json<const T>(value: T, status = 200, subject?: string): Answer<T> {
  const body = JSON.stringify(value);
  return subject === undefined ? { status, body } : { status, body, subject };
}

/** Answers a list that has no further page. */
export function list<T>(data: readonly T[], status?: number, subject?: string) {
  return json({ data, next_cursor: null }, status, subject);
}

export const DONE: Done = { done: true };

/**
 * Authorizes a request and runs its route. It finds the route and the project, checks the role of the caller, and
 * writes the action into the audit log before it runs. A project that the caller may not see answers `404`, exactly
 * like one that does not exist.
 *
 * Live pages use this without HTTP, and only for routes that change and reveal nothing.
 */
import { z } from 'zod';
import type { AuditedAction } from '#src/control/audit.ts';
import { ControlRefusal } from '#src/control/refusal.ts';
import type { RefusedAction } from '#src/control/role-refusals.ts';
import { Refusal } from '#src/domain/errors.ts';
import { MODES } from '#src/domain/project.ts';
import { mayAct } from '#src/domain/role.ts';
import type { ControlStore, Project } from '#src/ports/control-store.ts';
import type { User } from '#src/ports/people-store.ts';
import { readParams } from './fields.ts';
import { hideQueriesFrom } from './hidden-queries.ts';
import type {
  Action,
  Answer,
  Caller,
  JsonBody,
  ProjectContext,
  ProjectRoute,
  Route,
  UserRequest,
  UserRoute,
} from './route.ts';
import { Router } from './router.ts';

export interface ControlRequest extends UserRequest {
  readonly method: string;
  /** The path below `/dashboard/api/`, still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The body is read only after the caller has been authorized. */
  readonly body: () => JsonBody | Promise<JsonBody>;
}

/** Runs an action and writes its begin and its outcome into the audit log. */
export type Auditor = (action: AuditedAction, act: () => Promise<Answer>) => Promise<Answer>;

export interface AuthorizerDependencies {
  /** Public routes among them are left to the server. */
  readonly routes: readonly Route[];
  readonly store: Pick<ControlStore, 'findProject'>;
  readonly auditor: Auditor;
  /** Yields to deliveries that are due. */
  readonly pause: (userId: string) => Promise<void>;
  /** Records a refusal by role in the audit log. */
  readonly onRefused: (action: RefusedAction) => Promise<void>;
}

type AuthorizedRoute = UserRoute | ProjectRoute;

/** The wildcards of every project's route. */
const PROJECT_PARAMS = z.object({ project: z.string(), mode: z.enum(MODES) });
/** A session has no API key. No key has this hash. */
const NO_KEY_HASH = '';

export class Authorizer {
  readonly #dependencies: AuthorizerDependencies;
  #router: Router<AuthorizedRoute> | null = null;

  constructor(dependencies: AuthorizerDependencies) {
    this.#dependencies = dependencies;
  }

  /** `target` is a path with its query, such as `p/default/test/overview?range=1h`. */
  async get(caller: Caller, target: string): Promise<Answer> {
    const [path = '', search = ''] = target.split(/\?(.*)/s, 2);
    const route = this.#match('GET', path)?.value;
    if (route === undefined || route.isAudited) throw new Refusal('not_found');
    const query = new URLSearchParams(search);
    return this.handle({ caller, method: 'GET', path, query, body: () => ({}), idempotencyKey: undefined });
  }

  async handle(request: ControlRequest): Promise<Answer> {
    const { role, id } = request.caller.user;
    return hideQueriesFrom(role, await this.#dispatch(request), () => this.#dependencies.pause(id));
  }

  async #dispatch({ method, path, query, body, ...request }: ControlRequest): Promise<Answer> {
    const match = this.#match(method, path);
    if (match === null) throw new Refusal('not_found');
    const { value: route, params } = match;
    const { caller } = request;
    if (route.access === 'user') {
      await this.#requireRole(caller, route, null);
      const given = { params, query, body: await body() };
      return this.#run(caller, await route.prepare(request, given), null);
    }
    const context = await this.#requireProject(caller.user, params);
    await this.#requireRole(caller, route, context);
    const given = { params, query, body: await body() };
    return this.#run(caller, await route.prepare({ ...request, ...context }, given), context);
  }

  /** The first request builds the router, because it compiles a function for every part of a path. */
  #match(method: string, path: string): ReturnType<Router<AuthorizedRoute>['match']> {
    this.#router ??= routerOf(this.#dependencies.routes);
    return this.#router.match(method, path);
  }

  async #requireRole(caller: Caller, route: AuthorizedRoute, context: ProjectContext | null): Promise<void> {
    if (isAllowed(caller.user, route)) return;
    await this.#dependencies.onRefused({ ...whoAndWhere(caller, context), route: route.name });
    throw new ControlRefusal('not_allowed', 'Your role does not allow this. Ask an admin.');
  }

  async #requireProject(user: User, given: Readonly<Record<string, string>>): Promise<ProjectContext> {
    const { project: name, mode } = readParams(PROJECT_PARAMS, given);
    const project = await this.#dependencies.store.findProject(name);
    if (project === null || !canSeeProject(user, project)) throw new Refusal('not_found');
    const partition = project.partitions[mode];
    const { id: projectId, pinnedVersion } = project;
    const tenant = { projectId, partition, mode, keyHash: NO_KEY_HASH, pinnedVersion };
    return { project, mode, partition, tenant };
  }

  async #run(caller: Caller, { run, audited }: Action, context: ProjectContext | null): Promise<Answer> {
    if (audited === null) return run();
    return this.#dependencies.auditor({ ...audited, ...whoAndWhere(caller, context) }, run);
  }
}

function routerOf(routes: readonly Route[]): Router<AuthorizedRoute> {
  const router = new Router<AuthorizedRoute>();
  for (const route of routes) {
    if (route.access !== 'public') router.add(route.method, route.path, route);
  }
  return router;
}

/** The part of an audit entry that says who acts, and in which project. */
function whoAndWhere({ user, address, peer }: Caller, context: ProjectContext | null) {
  const projectId = context?.project.id ?? null;
  return { userId: user.id, actor: user.name, address, peer, projectId, mode: context?.mode ?? null };
}

export function canSeeProject({ projects }: Pick<User, 'projects'>, { id }: Project): boolean {
  return projects === null || projects.includes(id);
}

/** A route outside a project concerns every project, so an admin of only some projects may not use it as an admin. */
function isAllowed({ role, projects }: User, { access, needs }: AuthorizedRoute): boolean {
  const isInScope = access === 'project' || needs !== 'admin' || projects === null;
  return isInScope && mayAct(role, needs);
}

/**
 * Authorizes a request and runs its route. It finds the route and the project, checks the role of the caller, and
 * writes the action into the audit log before it runs. A project that the caller may not see answers `404`, exactly
 * like one that does not exist.
 *
 * Live pages use this without HTTP, and only for routes that change and reveal nothing.
 */
import type { FastifyRequest } from 'fastify';
import type { AuditedAction } from '#src/control/audit.ts';
import type { RefusedAction } from '#src/control/role-refusals.ts';
import { Refusal } from '#src/domain/errors.ts';
import { isMode } from '#src/domain/project.ts';
import { mayAct } from '#src/domain/role.ts';
import type { ControlStore, Project } from '#src/ports/control-store.ts';
import type { User } from '#src/ports/people-store.ts';
import { AccessRefusal } from './errors.ts';
import { hideQueriesFrom } from './hidden-queries.ts';
import type { Action, Answer, Caller, JsonBody, ProjectRequest, Route, RouteRequest } from './route.ts';
import { Router } from './router.ts';

export interface ControlRequest {
  readonly caller: Caller;
  readonly method: string;
  /** The path below `/dashboard/api/`, still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The body is read only after the caller has been authorized. */
  readonly body: () => JsonBody | Promise<JsonBody>;
  readonly fastifyRequest: FastifyRequest | null;
}

/** Runs an action and writes its begin and its outcome into the audit log. */
export type Auditor = (action: AuditedAction, act: () => Promise<Answer>) => Promise<Answer>;

export interface AuthorizerDependencies extends Routes {
  readonly store: Pick<ControlStore, 'findProject'>;
  readonly auditor: Auditor;
  /** Yields to deliveries that are due. */
  readonly pause: (userId: string) => Promise<void>;
  /** Records a refusal by role in the audit log. */
  readonly onRefused: (action: RefusedAction) => Promise<void>;
}

export interface Routes {
  readonly routes: readonly Route<RouteRequest>[];
  readonly projectRoutes: readonly Route<ProjectRequest>[];
}

/** The name is the method and the pattern. */
type KnownRoute =
  | { readonly name: string; readonly isOfProject: false; readonly route: Route<RouteRequest> }
  | { readonly name: string; readonly isOfProject: true; readonly route: Route<ProjectRequest> };

type ProjectContext = Omit<ProjectRequest, keyof RouteRequest>;

/** A session has no API key. No key has this hash. */
const NO_KEY_HASH = '';

export class Authorizer {
  readonly #dependencies: AuthorizerDependencies;
  readonly #router = new Router<KnownRoute>();

  constructor(dependencies: AuthorizerDependencies) {
    this.#dependencies = dependencies;
    for (const route of dependencies.routes) {
      const { method, path } = route;
      this.#router.add(method, path, { name: `${method} ${path}`, isOfProject: false, route });
    }
    for (const route of dependencies.projectRoutes) {
      const { method } = route;
      const path = `p/:project/:mode/${route.path}`;
      this.#router.add(method, path, { name: `${method} ${path}`, isOfProject: true, route });
    }
  }

  /** `target` is a path with its query, such as `p/default/test/overview?range=1h`. */
  async get(caller: Caller, target: string): Promise<Answer> {
    const [path = '', search = ''] = target.split(/\?(.*)/s, 2);
    const known = this.#router.match('GET', path)?.value;
    if (known === undefined || known.route.isAudited) throw new Refusal('not_found');
    const query = new URLSearchParams(search);
    return this.handle({ caller, method: 'GET', path, query, body: () => ({}), fastifyRequest: null });
  }

  async handle(request: ControlRequest): Promise<Answer> {
    const { role, id } = request.caller.user;
    return hideQueriesFrom(role, await this.#dispatch(request), () => this.#dependencies.pause(id));
  }

  async #dispatch(request: ControlRequest): Promise<Answer> {
    const match = this.#router.match(request.method, request.path);
    if (match === null) throw new Refusal('not_found');
    const { value: known, params } = match;
    const { caller, query, fastifyRequest } = request;
    const base = { caller, search: query, fastifyRequest };
    if (!known.isOfProject) {
      await this.#requireRole(caller, known, null);
      const given = { params, query, body: await request.body() };
      return this.#run(caller, await known.route.prepare(base, given), null);
    }
    const context = await this.#requireProject(caller.user, params);
    await this.#requireRole(caller, known, context);
    const given = { params, query, body: await request.body() };
    return this.#run(caller, await known.route.prepare({ ...base, ...context }, given), context);
  }

  async #requireRole(
    { user, address, peer }: Caller,
    known: KnownRoute,
    context: ProjectContext | null,
  ): Promise<void> {
    if (isAllowed(user, known)) return;
    await this.#dependencies.onRefused({
      userId: user.id,
      actor: user.name,
      address,
      peer,
      projectId: context?.project.id ?? null,
      mode: context?.mode ?? null,
      route: known.name,
    });
    throw new AccessRefusal('not_allowed');
  }

  async #requireProject(user: User, params: Readonly<Record<string, string>>): Promise<ProjectContext> {
    const { project: name = '', mode = '' } = params;
    const project = await this.#dependencies.store.findProject(name);
    if (project === null || !canSeeProject(user, project) || !isMode(mode)) throw new Refusal('not_found');
    const partition = project.partitions[mode];
    const { id: projectId, pinnedVersion } = project;
    const tenant = { projectId, partition, mode, keyHash: NO_KEY_HASH, pinnedVersion };
    return { project, mode, partition, tenant };
  }

  async #run(
    { user, address, peer }: Caller,
    action: Action,
    context: ProjectContext | null,
  ): Promise<Answer> {
    if (action.audited === null) return action.run();
    const recorded: AuditedAction = {
      ...action.audited,
      userId: user.id,
      actor: user.name,
      address,
      peer,
      projectId: context?.project.id ?? null,
      mode: context?.mode ?? null,
    };
    return this.#dependencies.auditor(recorded, action.run);
  }
}

export function canSeeProject({ projects }: Pick<User, 'projects'>, { id }: Project): boolean {
  return projects === null || projects.includes(id);
}

/** A route outside a project concerns every project, so an admin of only some projects may not use it as an admin. */
function isAllowed({ role, projects }: User, { isOfProject, route: { needs } }: KnownRoute): boolean {
  const isInScope = isOfProject || needs !== 'admin' || projects === null;
  return isInScope && mayAct(role, needs);
}

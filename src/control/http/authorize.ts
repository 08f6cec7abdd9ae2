/**
 * From a person and a path to an answer: which route it is, of which project, whether they may, and into the audit
 * log before it is done. A project that somebody may not see is answered exactly as one that does not exist.
 *
 * Live pages ask here too, without HTTP: only for what changes and reveals nothing.
 */
import type { FastifyRequest } from 'fastify';
import type { AuditedAction } from '#src/control/audit.ts';
import type { RefusedAction } from '#src/control/role-refusals.ts';
import { Refusal } from '#src/domain/errors.ts';
import { mayAct } from '#src/domain/role.ts';
import type { ControlStore, Project } from '#src/ports/control-store.ts';
import type { User } from '#src/ports/people-store.ts';
import { AccessRefusal } from './errors.ts';
import { isMode } from './fields.ts';
import { hideQueriesFrom } from './hidden-queries.ts';
import type { Answer, Caller, JsonBody, ProjectRequest, Route, RouteRequest } from './route.ts';
import { Router } from './router.ts';

export interface ControlRequest {
  readonly caller: Caller;
  readonly method: string;
  /** Below `/dashboard/api/`, as it was sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Read once it is known that they may ask. */
  readonly body: () => JsonBody | Promise<JsonBody>;
  readonly fastifyRequest: FastifyRequest | null;
}

/** Carries it out; that it was begun, and what came of it, is kept in the audit log. */
export type Auditor = (act: AuditedAction, carryOut: () => Promise<Answer>) => Promise<Answer>;

export interface AuthorizerDependencies extends Routes {
  readonly store: Pick<ControlStore, 'findProject'>;
  readonly auditor: Auditor;
  /** Lets what is due go first. */
  readonly pause: (who: string) => Promise<void>;
  /** Keeps a refusal by role in the audit log. */
  readonly onRefused: (act: RefusedAction) => Promise<void>;
}

export interface Routes {
  readonly routes: readonly Route<RouteRequest>[];
  readonly projectRoutes: readonly Route<ProjectRequest>[];
}

/** `name`: method and pattern. */
type KnownRoute =
  | { readonly name: string; readonly isOfProject: false; readonly route: Route<RouteRequest> }
  | { readonly name: string; readonly isOfProject: true; readonly route: Route<ProjectRequest> };

type ProjectContext = Omit<ProjectRequest, keyof RouteRequest>;

/** A session has no key; this is no hash of any. */
const NO_KEY_HASH = '';

export class Authorizer {
  readonly #options: AuthorizerDependencies;
  readonly #router = new Router<KnownRoute>();

  constructor(options: AuthorizerDependencies) {
    this.#options = options;
    for (const route of options.routes) {
      const { method, path } = route;
      this.#router.add(method, path, { name: `${method} ${path}`, isOfProject: false, route });
    }
    for (const route of options.projectRoutes) {
      const { method } = route;
      const path = `p/:project/:mode/${route.path}`;
      this.#router.add(method, path, { name: `${method} ${path}`, isOfProject: true, route });
    }
  }

  /** `path`: with its query, such as `p/default/test/overview?range=1h`. */
  async get(caller: Caller, path: string): Promise<Answer> {
    const [place = '', search = ''] = path.split(/\?(.*)/s, 2);
    const known = this.#router.match('GET', place)?.value;
    if (known === undefined || known.route.audited !== null) throw new Refusal('not_found');
    const query = new URLSearchParams(search);
    return this.handle({ caller, method: 'GET', path: place, query, body: () => ({}), fastifyRequest: null });
  }

  async handle(question: ControlRequest): Promise<Answer> {
    const { role, id } = question.caller.user;
    return hideQueriesFrom(role, await this.#answerOf(question), () => this.#options.pause(id));
  }

  async #answerOf(question: ControlRequest): Promise<Answer> {
    const found = this.#router.match(question.method, question.path);
    if (found === null) throw new Refusal('not_found');
    const { value: known, params } = found;
    if (!known.isOfProject) {
      await this.#requireRight(question.caller, known, null);
      return this.#act(known.route, await askedOf(question, params), null);
    }
    const place = await this.#endpointRefKey(question.caller.user, params);
    await this.#requireRight(question.caller, known, place);
    return this.#act(known.route, { ...(await askedOf(question, params)), ...place }, place);
  }

  async #requireRight(
    { user, address, peer }: Caller,
    known: KnownRoute,
    place: ProjectContext | null,
  ): Promise<void> {
    if (isAllowed(user, known)) return;
    await this.#options.onRefused({
      userId: user.id,
      actor: user.name,
      address,
      peer,
      projectId: place?.project.id ?? null,
      mode: place?.mode ?? null,
      route: known.name,
    });
    throw new AccessRefusal('not_allowed');
  }

  async #endpointRefKey(user: User, params: Readonly<Record<string, string>>): Promise<ProjectContext> {
    const { project: name = '', mode = '' } = params;
    const project = await this.#options.store.findProject(name);
    if (project === null || !canSeeProject(user, project) || !isMode(mode)) throw new Refusal('not_found');
    const partition = project.partitions[mode];
    const { id: projectId, pinnedVersion } = project;
    const tenant = { projectId, partition, mode, keyHash: NO_KEY_HASH, pinnedVersion };
    return { project, mode, partition, tenant };
  }

  async #act<A extends RouteRequest>(
    { audited, handle: answer }: Route<A>,
    asked: A,
    place: ProjectContext | null,
  ): Promise<Answer> {
    if (audited === null) return answer(asked);
    const { user, address, peer } = asked.caller;
    const act: AuditedAction = {
      userId: user.id,
      actor: user.name,
      address,
      peer,
      action: audited.action,
      subject: audited.subject(asked),
      projectId: place?.project.id ?? null,
      mode: place?.mode ?? null,
      detail: (await audited.detail?.(asked)) ?? {},
    };
    return this.#options.auditor(act, () => answer(asked));
  }
}

export function canSeeProject({ projects }: Pick<User, 'projects'>, { id }: Project): boolean {
  return projects === null || projects.includes(id);
}

/** A matter of no single project concerns all of them: an admin of some alone has no say in it. */
function isAllowed({ role, projects }: User, { isOfProject, route: { needs } }: KnownRoute): boolean {
  const hasSay = isOfProject || needs !== 'admin' || projects === null;
  return hasSay && mayAct(role, needs);
}

/** The body is read only once it is known that the caller may ask. */
async function askedOf(
  { caller, query, body, fastifyRequest: request }: ControlRequest,
  params: Readonly<Record<string, string>>,
): Promise<RouteRequest> {
  return { caller, params, query, body: await body(), fastifyRequest: request };
}

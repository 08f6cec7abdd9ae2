/**
 * From a person and a path to an answer: which route it is, of which project, whether they may, and into the audit
 * log before it is done. A project that somebody may not see is answered exactly as one that does not exist.
 *
 * Live pages ask here too, without HTTP: only for what changes and reveals nothing.
 */
import type { FastifyRequest } from 'fastify';
import type { AuditedAct } from '#src/control/audit.ts';
import type { RefusedAct } from '#src/control/role-refusals.ts';
import { Refusal } from '#src/domain/errors.ts';
import { mayAct } from '#src/domain/role.ts';
import type { ControlStore, Project } from '#src/ports/control-store.ts';
import type { User } from '#src/ports/people-store.ts';
import { DoorRefusal } from './errors.ts';
import { isMode } from './fields.ts';
import { shownTo } from './hidden-queries.ts';
import type { Answer, Asked, Caller, JsonBody, ProjectAsked, Route } from './route.ts';
import { Router } from './router.ts';

export interface Question {
  readonly caller: Caller;
  readonly method: string;
  /** Below `/dashboard/api/`, as it was sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Read once it is known that they may ask. */
  readonly body: () => JsonBody | Promise<JsonBody>;
  readonly request: FastifyRequest | null;
}

/** Carries it out; that it was begun, and what came of it, is kept in the audit log. */
export type Auditor = (act: AuditedAct, carryOut: () => Promise<Answer>) => Promise<Answer>;

export interface DeskOptions extends Routes {
  readonly store: Pick<ControlStore, 'findProject'>;
  readonly auditor: Auditor;
  /** Lets what is due go first. */
  readonly pause: (who: string) => Promise<void>;
  /** Keeps a refusal by role in the audit log. */
  readonly onRefused: (act: RefusedAct) => Promise<void>;
}

export interface Routes {
  readonly routes: readonly Route<Asked>[];
  readonly projectRoutes: readonly Route<ProjectAsked>[];
}

/** `name`: method and pattern. */
type Known =
  | { readonly name: string; readonly isOfProject: false; readonly route: Route<Asked> }
  | { readonly name: string; readonly isOfProject: true; readonly route: Route<ProjectAsked> };

type Place = Omit<ProjectAsked, keyof Asked>;

/** A session has no key; this is no hash of any. */
const NO_KEY_HASH = '';

export class Desk {
  readonly #options: DeskOptions;
  readonly #router = new Router<Known>();

  constructor(options: DeskOptions) {
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
  async ask(caller: Caller, path: string): Promise<Answer> {
    const [place = '', search = ''] = path.split(/\?(.*)/s, 2);
    const known = this.#router.find('GET', place)?.value;
    if (known === undefined || known.route.audited !== null) throw new Refusal('not_found');
    const query = new URLSearchParams(search);
    return this.answer({ caller, method: 'GET', path: place, query, body: () => ({}), request: null });
  }

  async answer(question: Question): Promise<Answer> {
    const { role, id } = question.caller.user;
    return shownTo(role, await this.#answerOf(question), () => this.#options.pause(id));
  }

  async #answerOf(question: Question): Promise<Answer> {
    const found = this.#router.find(question.method, question.path);
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

  async #requireRight({ user, address, peer }: Caller, known: Known, place: Place | null): Promise<void> {
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
    throw new DoorRefusal('not_allowed');
  }

  async #endpointRefKey(user: User, params: Readonly<Record<string, string>>): Promise<Place> {
    const { project: name = '', mode = '' } = params;
    const project = await this.#options.store.findProject(name);
    if (project === null || !isInReach(user, project) || !isMode(mode)) throw new Refusal('not_found');
    const partition = project.partitions[mode];
    const { id: projectId, pinnedVersion } = project;
    const tenant = { projectId, partition, mode, keyHash: NO_KEY_HASH, pinnedVersion };
    return { project, mode, partition, tenant };
  }

  async #act<A extends Asked>({ audited, answer }: Route<A>, asked: A, place: Place | null): Promise<Answer> {
    if (audited === null) return answer(asked);
    const { user, address, peer } = asked.caller;
    const act: AuditedAct = {
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

export function isInReach({ projects }: Pick<User, 'projects'>, { id }: Project): boolean {
  return projects === null || projects.includes(id);
}

/** A matter of no single project concerns all of them: an admin of some alone has no say in it. */
function isAllowed({ role, projects }: User, { isOfProject, route: { needs } }: Known): boolean {
  const hasSay = isOfProject || needs !== 'admin' || projects === null;
  return hasSay && mayAct(role, needs);
}

/** The body is read only once it is known that the caller may ask. */
async function askedOf(
  { caller, query, body, request }: Question,
  params: Readonly<Record<string, string>>,
): Promise<Asked> {
  return { caller, params, query, body: await body(), request };
}

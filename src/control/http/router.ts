/**
 * Finds the route of a path with the router that Fastify uses for `/v1`. It is independent of the server, since live
 * pages use the same routes without HTTP, and since a path is only looked at after the session was checked.
 */
import findMyWay, { type HTTPMethod } from 'find-my-way';

export interface RouteMatch<T> {
  readonly value: T;
  /** The values of the wildcards, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** Names of projects and ids are shorter. A longer value names nothing that exists. */
const PARAM_CHARACTERS_MAX = 100;
/** The library would match an empty segment with a wildcard, and ignore a fragment. */
const EMPTY_SEGMENT_OR_FRAGMENT = /^\/|\/\/|\/$|#/;

export class Router<T> {
  readonly #router = findMyWay({ maxParamLength: PARAM_CHARACTERS_MAX });

  /** A pattern is a path such as `users/:id/remove`. Two routes with the same method and pattern throw. */
  add(method: HTTPMethod, pattern: string, value: T): void {
    this.#router.on(method, `/${pattern}`, () => undefined, value);
  }

  /** Takes the path percent-encoded and without its query. */
  match(method: string, path: string): RouteMatch<T> | null {
    if (EMPTY_SEGMENT_OR_FRAGMENT.test(path)) return null;
    const found = this.#router.find(method as HTTPMethod, `/${path}`);
    return found === null ? null : { value: found.store, params: found.params as RouteMatch<T>['params'] };
  }
}

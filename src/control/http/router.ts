/**
 * Which route a path is. A segment that is written out wins over one that stands for anything, and where that leads
 * nowhere the other is tried. It knows nothing of HTTP: a live page asks the same routes without it.
 */
export interface RouteMatch<T> {
  readonly value: T;
  /** Those of the pattern, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

interface TrieNode<T> {
  readonly fixed: Map<string, TrieNode<T>>;
  readonly wildcards: Map<string, TrieNode<T>>;
  readonly values: Map<string, T>;
}

const SEGMENTS_MAX = 8;

function newNode<T>(): TrieNode<T> {
  return { fixed: new Map(), wildcards: new Map(), values: new Map() };
}

export class Router<T> {
  readonly #root: TrieNode<T> = newNode();

  /** `pattern`: such as `users/:id/remove`. */
  add(method: string, pattern: string, value: T): void {
    let place = this.#root;
    for (const segment of pattern.split('/')) {
      const isAnything = segment.startsWith(':');
      const next = isAnything ? place.wildcards : place.fixed;
      const key = isAnything ? segment.slice(1) : segment;
      const known = next.get(key) ?? newNode<T>();
      next.set(key, known);
      place = known;
    }
    if (place.values.has(method)) throw new Error(`There are two routes ${method} ${pattern}.`);
    place.values.set(method, value);
  }

  /** `path` as it was sent, without its query. */
  match(method: string, path: string): RouteMatch<T> | null {
    const segments = decoded(path);
    return segments === null ? null : walk(this.#root, method, segments, {});
  }
}

function walk<T>(
  place: TrieNode<T>,
  method: string,
  [segment, ...rest]: readonly string[],
  params: Readonly<Record<string, string>>,
): RouteMatch<T> | null {
  if (segment === undefined) {
    const value = place.values.get(method);
    return value === undefined ? null : { value, params };
  }
  const fixed = place.fixed.get(segment);
  const found = fixed === undefined ? null : walk(fixed, method, rest, params);
  if (found !== null) return found;
  for (const [name, next] of place.wildcards) {
    const further = walk(next, method, rest, { ...params, [name]: segment });
    if (further !== null) return further;
  }
  return null;
}

function decoded(path: string): readonly string[] | null {
  const segments = path.split('/', SEGMENTS_MAX + 1);
  if (segments.length > SEGMENTS_MAX || segments.includes('')) return null;
  try {
    return segments.map((segment) => decodeURIComponent(segment));
  } catch {
    return null;
  }
}

/**
 * Finds the route of a path. A fixed segment wins over a wildcard. If it leads to no route, the wildcard is tried. The
 * router is independent of HTTP, since live pages use the same routes without it.
 */
export interface RouteMatch<T> {
  readonly value: T;
  /** The values of the wildcards, decoded. */
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

  /** A pattern is a path such as `users/:id/remove`. */
  add(method: string, pattern: string, value: T): void {
    let node = this.#root;
    for (const segment of pattern.split('/')) {
      const isWildcard = segment.startsWith(':');
      const children = isWildcard ? node.wildcards : node.fixed;
      const key = isWildcard ? segment.slice(1) : segment;
      const child = children.get(key) ?? newNode<T>();
      children.set(key, child);
      node = child;
    }
    if (node.values.has(method)) throw new Error(`There are two routes ${method} ${pattern}.`);
    node.values.set(method, value);
  }

  /** Takes the path percent-encoded and without its query. */
  match(method: string, path: string): RouteMatch<T> | null {
    const segments = decodeSegments(path);
    return segments === null ? null : walk(this.#root, method, segments, {});
  }
}

function walk<T>(
  node: TrieNode<T>,
  method: string,
  [segment, ...rest]: readonly string[],
  params: Readonly<Record<string, string>>,
): RouteMatch<T> | null {
  if (segment === undefined) {
    const value = node.values.get(method);
    return value === undefined ? null : { value, params };
  }
  const fixed = node.fixed.get(segment);
  const match = fixed === undefined ? null : walk(fixed, method, rest, params);
  if (match !== null) return match;
  for (const [name, child] of node.wildcards) {
    const wildcardMatch = walk(child, method, rest, { ...params, [name]: segment });
    if (wildcardMatch !== null) return wildcardMatch;
  }
  return null;
}

function decodeSegments(path: string): readonly string[] | null {
  const segments = path.split('/', SEGMENTS_MAX + 1);
  if (segments.length > SEGMENTS_MAX || segments.includes('')) return null;
  try {
    return segments.map((segment) => decodeURIComponent(segment));
  } catch {
    return null;
  }
}

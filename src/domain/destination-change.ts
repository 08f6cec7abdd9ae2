/**
 * A change of destination sends stored headers and bodies to whoever is there. Origin and path decide who that is;
 * the query is the receiver's own matter.
 */

/** Leaves out the query, which is often a credential. A text that is no URL has neither origin nor path. */
export function originAndPath(url: string): string | null {
  const parsed = URL.parse(url);
  return parsed === null ? null : `${parsed.origin}${parsed.pathname}`;
}

export function isElsewhere(before: string, after: string): boolean {
  return originAndPath(before) !== originAndPath(after);
}

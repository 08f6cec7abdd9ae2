export const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];
export const DEFAULT_METHOD: Method = 'POST';

/** Most servers and proxies refuse longer URLs. */
export const URL_CHARACTERS_MAX = 8192;

// URL parsers drop or escape control characters silently, so the URL that is shown would not be the URL that is sent.
const UNWRITABLE = /\p{Cc}|\\|^ | $/u;
const UNWRITABLE_ANYWHERE = /\p{Cc}|\\/u;
// URL parsers also accept `https:example.com`. A stored URL must be complete.
const WRITTEN_OUT = /^https?:\/\/[^/]/i;

/**
 * Returns true when a URL may be stored as a destination. Only its form is checked here. The egress guard checks the
 * address at every connection.
 */
export function isDestination(text: string, httpAllowed: boolean): boolean {
  if (text.length > URL_CHARACTERS_MAX || !text.isWellFormed() || UNWRITABLE.test(text)) return false;
  if (!WRITTEN_OUT.test(text)) return false;
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (httpAllowed && url.protocol === 'http:');
}

/** Whether the text may be a part of a stored destination. */
export function mayBeInDestination(part: string): boolean {
  return part.length <= URL_CHARACTERS_MAX && part.isWellFormed() && !UNWRITABLE_ANYWHERE.test(part);
}

/** Returns the URL without its query, which is often a credential. Returns null when the text is not a URL. */
export function originAndPath(url: string): string | null {
  const parsed = URL.parse(url);
  return parsed === null ? null : `${parsed.origin}${parsed.pathname}`;
}

export function isOtherDestination(before: string, after: string): boolean {
  return originAndPath(before) !== originAndPath(after);
}

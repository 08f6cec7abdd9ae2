export const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];
export const DEFAULT_METHOD: Method = 'POST';

/** Longer URLs are refused by most servers and proxies on the way. */
export const URL_CHARACTERS_MAX = 8192;

// Control characters are silently dropped or escaped by URL parsers: what is shown would not be what is sent.
const UNWRITABLE = /\p{Cc}|\\|^ | $/u;
// Parsers mend `https:example.com` too: what is stored is written out.
const WRITTEN_OUT = /^https?:\/\/[^/]/i;

/**
 * Whether a URL may be stored as a destination. Only its form is judged here: addresses, literal or
 * resolved, are judged by the egress guard at every connection.
 */
export function isDestination(text: string, httpAllowed: boolean): boolean {
  if (text.length > URL_CHARACTERS_MAX || !text.isWellFormed() || UNWRITABLE.test(text)) return false;
  if (!WRITTEN_OUT.test(text)) return false;
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (httpAllowed && url.protocol === 'http:');
}

/** Leaves out the query, which is often a credential. A text that is no URL has neither origin nor path. */
export function originAndPath(url: string): string | null {
  const parsed = URL.parse(url);
  return parsed === null ? null : `${parsed.origin}${parsed.pathname}`;
}

export function isOtherDestination(before: string, after: string): boolean {
  return originAndPath(before) !== originAndPath(after);
}
